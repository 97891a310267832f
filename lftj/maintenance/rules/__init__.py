"""Maintenance of relations that do not depend on themselves: delta queries, guarded groups,
extremes, initial evaluation.
"""
