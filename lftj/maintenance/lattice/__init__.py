"""Recursion with `min` or `max` in heads: one best value for each group, evaluated and followed."""
