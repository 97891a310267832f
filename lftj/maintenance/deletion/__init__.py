"""Rows that may have to go: over-deletion, and the ranks that confine it."""
