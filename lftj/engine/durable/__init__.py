"""Workspaces at a path: commits in a log, checkpoints that name pages, the past that both lead to,
and what outlives them.
"""
