# SPDX-License-Identifier: Apache-2.0
"""Heads that project: how many assignments support each head row [LFTJ-IVM 2.2].

*State kept:* per head row its support count η. *INSERT* of an assignment adds 1 to the η of its
head row, *ERASE* takes 1 away; the row enters the view when η leaves 0 and is erased when η returns
to it. A head that keeps all variables needs no counts: η is always 1. Partitions merge by adding
counts. An aggregate's group lives and dies by its η in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.errors import ValueRangeError
from lftj.scantree.rows import counted_together, sort_and_count, sum_runs


def support_counts(
    columns: Sequence[np.ndarray], counts: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """The distinct rows in ascending order and how many assignments support each; signed counts
    give signed changes, zeros included.

    Rows may have no columns. O(n log n), O(n) when sorted. ValueRangeError when a count leaves
    int64.
    """
    try:
        return sort_and_count(columns, counts)
    except OverflowError:
        raise too_many() from None


def supports_together(
    pieces: Sequence[tuple[Sequence[np.ndarray], np.ndarray]],
) -> tuple[list[np.ndarray], np.ndarray]:
    """As `support_counts` of pieces, one at least, each of which has its rows in order, once."""
    (columns, counts), *others = pieces
    try:
        for rows, more in others:
            columns, counts = counted_together(columns, counts, rows, more)
    except OverflowError:
        raise too_many() from None
    return list(columns), counts


def group_sizes(counts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Number of assignments behind each run of rows; run r is [starts[r], starts[r + 1]).
    ValueRangeError as above.
    """
    try:
        return sum_runs(counts, starts)
    except OverflowError:
        raise too_many() from None


def too_many() -> ValueRangeError:
    """The error of a support count that leaves int64."""
    hint = "the rule multiplies unrelated atoms: join them, or project each first"
    return ValueRangeError("a head row is derived in 2⁶³ ways or more", hint=hint)
