"""Rows that are missing: how far rules come, and the smallest changes that bring them."""
