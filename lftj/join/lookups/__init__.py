"""Joins in which each row of one relation finds at most one row in every other: rows looked up, nothing searched."""
