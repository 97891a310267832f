"""Planted bugs, a patch each in `patches`, and whether the suite finds them: `python -m
tests.mutants`.

A patch begins with lines of its own: what the *kind* of bug is, and the *tests* that look for it,
files or folders; where need be, the *environment* that they run in. The bugs are of kinds that such
engines have; the suite has to find each, by tests that look for the kind. When the code that a
patch changes is written anew, the bug is planted anew, at the place that took over.
"""
