"""Commits: from a state and what a transaction proposes to the next state. Nothing here publishes
one.
"""
