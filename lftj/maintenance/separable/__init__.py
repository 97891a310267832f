"""Strata that fall apart into independent fixpoints by a value: recognition, and walks
over them.
"""
