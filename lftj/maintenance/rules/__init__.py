"""Maintenance of relations that do not depend on themselves: delta queries, extremes,
initial evaluation.
"""
