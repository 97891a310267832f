"""Recompute from scratch after every step, and compare: the engine against the naive reference over
random histories.
"""
