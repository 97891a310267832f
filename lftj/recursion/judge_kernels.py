"""What becomes of many rows that are due in an iteration, by where they stand [Elastic, Algorithm 3]."""

from __future__ import annotations

from lftj.recursion.settle_kernels import FOUND, HALF, LOST, LOWER, NOTHING, RECOUNTED
from scantree.jit import compiled

NEVER = (1 << 63) - 1
"""The iteration of a row that is not there."""


@compiled
def judge_rows(present, words, counts, iteration, kinds, stood):
    """Which of the due rows are FOUND in this iteration, RECOUNTED or LOST, and where each stood: into `kinds` and `stood`.

    `words` become the rows' new standings. The least number of proofs that a row is left with, and the greatest.
    """
    least = most = 0
    for i in range(counts.size):
        word = words[i]
        stood[i] = word >> HALF if present[i] else NEVER
        kinds[i] = NOTHING
        if stood[i] < iteration:
            continue
        here = stood[i] == iteration
        count = counts[i] + (word & LOWER if here else 0)
        least, most = min(least, count), max(most, count)
        if here:
            kinds[i] = RECOUNTED if count > 0 else LOST
        elif count > 0:
            kinds[i] = FOUND
        words[i] = (iteration << HALF) | count
    return least, most
