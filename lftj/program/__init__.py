"""Compilation from the syntax tree to strata of conjunctive rules: checks, rewriting,
stratification.
"""
