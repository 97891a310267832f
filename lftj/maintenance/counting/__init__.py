"""Elastic counting: iteration and proof count of every row, bootstrapped and updated."""
