"""Rows that a commit brought or took, and the base facts behind that."""
