"""Proofs as data, and a checker that shares no code with the engine: Python sets, nested loops,
fixpoints by running every rule again.

It reads the syntax tree and nothing else of lftj. `program.evaluate` is the naive engine by which
tests judge the real one, too.
"""
