# SPDX-License-Identifier: Apache-2.0
"""Merging the intervals of each context."""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled
from lftj.scantree.word_sort_kernels import sort_digits


@compiled
def merge_touching(fresh, low, high, row):
    """Merge intervals that overlap or adjoin. Intervals are ordered by context, then `low`;
    fresh[i] marks the first of a context.

    Writes the result over the front of `low` and `high`, into `row` where the context of each is to
    be read; returns how many.
    """
    size = 0
    for i in range(low.size):
        # low − 1 cannot wrap where it is looked at: it is greater than the interval's least value
        # before it
        if size > 0 and not fresh[i] and (low[i] <= high[size - 1] or low[i] - 1 == high[size - 1]):
            high[size - 1] = max(high[size - 1], high[i])
        else:
            low[size] = low[i]
            high[size] = high[i]
            row[size] = i
            size += 1
    return size


@compiled
def least_kept_gap(low, high, first, last, room):
    """(gap, ties): keeping all gaps of the intervals [first, last) above `gap` and `ties` equal to
    it leaves `room` intervals.
    """
    gaps = np.empty(last - first - 1, np.int64)
    for i in range(first + 1, last):  # halves, which are not negative: the whole might not fit
        gaps[i - first - 1] = (low[i] >> 1) - (high[i - 1] >> 1)
    sort_digits(gaps, np.empty(gaps.size, np.int64), 0, 8, 8)
    if room == 1:
        return gaps[gaps.size - 1], 0
    gap = gaps[gaps.size - room + 1]
    ties = 0
    for i in range(gaps.size - room + 1, gaps.size):
        if gaps[i] == gap:
            ties += 1
    return gap, ties


@compiled
def merge_gaps(fresh, low, high, row, size, room):
    """Merge the first `size` intervals, disjoint, of each context over its smallest gaps until at
    most `room` are left; returns how many.

    `fresh` counts by `row`, as `merge_touching` leaves them.
    """
    out = 0
    first = 0
    while first < size:
        last = first + 1
        while last < size and not fresh[row[last]]:
            last += 1
        gap = np.int64(-1)
        ties = 0
        if last - first > room:
            gap, ties = least_kept_gap(low, high, first, last, room)
        for i in range(first, last):
            width = (low[i] >> 1) - (high[i - 1] >> 1) if i > first else np.int64(0)
            if i > first and width == gap and ties > 0:
                ties -= 1
                width += 1
            if i > first and width <= gap:
                high[out - 1] = high[i]
            else:
                low[out] = low[i]
                high[out] = high[i]
                row[out] = row[i]
                out += 1
        first = last
    return out
