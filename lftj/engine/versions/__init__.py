"""Committed versions as values: the state of one, the past ones that a process holds, what branches
have in common, and rows on the way out.
"""
