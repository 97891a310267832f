"""A record of what the engine chose: strategy, kernel steps and rows of every rule at every commit
of many histories.

Tests of results do not notice another choice of strategy. `python -m tests.record check` does; see
`__main__`.
"""
