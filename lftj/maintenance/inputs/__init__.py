"""Inputs of maintenance: versions of relations during a commit, changed values, affected strata,
and the record of work.
"""
