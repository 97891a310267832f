"""Rewrites from checked rules to conjunctive ones, each a change of the program."""
