"""Maintenance: what a commit does to views.

`commit` goes through the strata; `ladder` lists the ways to follow a recursive one, in the order in
which they are asked.
"""
