"""Recursion with `min` or `max` in heads: one best value for each group, found from nothing and followed through changes."""
