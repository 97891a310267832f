# SPDX-License-Identifier: Apache-2.0
"""Kernel that marks the regions outside coarser ones."""

from __future__ import annotations

from lftj.scantree.jit import compiled


@compiled
def compare_picked(fine, row, picks, coarse, other):
    """−1, 0, 1 as the columns `picks` of row `row` of `fine` are before, equal to or after row
    `other` of `coarse` (columns × rows).
    """
    for column in range(picks.size):
        value = fine[picks[column], row]
        if value != coarse[column, other]:
            return -1 if value < coarse[column, other] else 1
    return 0


@compiled
def mark_outside(fine, picks, coarse, outside):
    """Clear outside[i] where the columns `picks` of row i of `fine` are a row of `coarse`, which is
    sorted. O(log n) each.
    """
    for row in range(fine.shape[1]):
        low = 0
        high = coarse.shape[1]
        while low < high:
            middle = (low + high) >> 1
            if compare_picked(fine, row, picks, coarse, middle) > 0:
                low = middle + 1
            else:
                high = middle
        if low < coarse.shape[1] and compare_picked(fine, row, picks, coarse, low) == 0:
            outside[row] = False
