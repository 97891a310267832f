# SPDX-License-Identifier: Apache-2.0
"""Counting the values of samples."""

from __future__ import annotations

from lftj.scantree.jit import compiled


@compiled
def count_values(ordered, counts):
    """Count, for each line of a matrix of ascending values, into a line of `counts`: the distinct
    values, those that occur once, and the pairs of equal words.
    """
    last = ordered.shape[1] - 1
    for line in range(ordered.shape[0]):
        distinct = once = pairs = alike = 0
        for i in range(last + 1):
            pairs += alike
            alike += 1
            if i == last or ordered[line, i] != ordered[line, i + 1]:
                distinct += 1
                once += alike == 1
                alike = 0
        counts[line, 0] = distinct
        counts[line, 1] = once
        counts[line, 2] = pairs
