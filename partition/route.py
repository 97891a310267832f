# SPDX-License-Identifier: Apache-2.0
"""The parts of a row, given its values for a rule's leading variable and, if it holds it, for the
second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.partition.split import KeyRange, Keys

_LEAST = -(2**63)


def route(
    ranges: Sequence[KeyRange], leading: Keys, second: Keys | None = None
) -> tuple[Keys, Keys]:
    """The first part of each row and the one after its last; `ranges` as `split` gives them. O(rows
    · log parts).

    A row belongs to one part, except that of a key which is cut by the second variable: a row that
    does not hold that variable belongs to all parts of the key. Rows outside all ranges belong to
    none: their first part is the one after their last.
    """
    if not ranges:
        nothing = np.zeros(len(leading), np.int64)
        return nothing, nothing
    lows = np.array([_LEAST if part.low is None else part.low for part in ranges], np.int64)
    first = np.searchsorted(lows, leading, side="left")
    after = np.searchsorted(lows, leading, side="right")
    # no range begins with this very key: it lies in the one before
    inside = first == after
    first = np.where(inside, np.maximum(after - 1, 0), first)
    if second is not None:
        first, after = _by_second(ranges, second, first, after)
    if ranges[-1].high is not None:
        after = np.where(leading >= ranges[-1].high, first, after)
    return first, after


def _by_second(
    ranges: Sequence[KeyRange], second: Keys, first: Keys, after: Keys
) -> tuple[Keys, Keys]:
    """The one part of each row among those from `first` up to `after`."""
    first = first.copy()
    several = after - first > 1
    for start in np.flatnonzero(np.bincount(first[several])).tolist():
        rows = np.flatnonzero(several & (first == start))
        pieces = ranges[start : int(after[rows[0]])]
        lows = [_LEAST if part.second_low is None else part.second_low for part in pieces]
        first[rows] += np.searchsorted(lows, second[rows], side="right") - 1
    return first, np.where(after > first, first + 1, after)
