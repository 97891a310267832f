"""Heads: what turns satisfying assignments into the rows of a view, and the state each kind of head
keeps for that.
"""
