"""Counting the values of samples."""

from __future__ import annotations

from scantree.jit import compiled


@compiled
def count_values(ordered, counts):
    """For each line of a matrix of ascending values: how many are distinct, and how many occur once, into a line of `counts`."""
    last = ordered.shape[1] - 1
    for line in range(ordered.shape[0]):
        distinct = once = 0
        first = True
        for i in range(last + 1):
            ends = i == last or ordered[line, i] != ordered[line, i + 1]
            distinct += ends
            once += ends and first
            first = ends
        counts[line, 0] = distinct
        counts[line, 1] = once
