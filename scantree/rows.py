# SPDX-License-Identifier: Apache-2.0
"""Sets of rows kept as columns: sorting, counting duplicates, and set operations on sorted distinct
rows.

Rows are a list of int64 arrays of one length, one per column; order is lexicographic from the first
column. *Sorted distinct* rows ascend strictly. Results may share memory with the arguments, so
treat both as read-only.

A list of no columns cannot say how many rows it has. Functions with a `counts` array take the
number of rows from it; the others accept no columns only where the answer does not depend on that
number, and raise `ValueError` elsewhere. Callers keep a nullary relation as one constant column, or
as a flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lftj.scantree.columns import Lines, as_matrix
from lftj.scantree.packing_kernels import (
    DISTINCT,
    SORTED,
    TOO_WIDE,
    pack_rows,
    state_of,
    sum_equal,
    unpack_rows,
)
from lftj.scantree.place_sort import places_in_order
from lftj.scantree.rows_kernels import locate_ascending, mark_common, merge_distinct, refine_ranges
from lftj.scantree.rows_kernels import run_sums as _sum_runs
from lftj.scantree.sharing import ALONE, Span, Threads, spans
from lftj.scantree.summing import summed
from lftj.scantree.word_sort import sort_words

Columns = Sequence[np.ndarray]

_GALLOP = 8
"""A side this many times shorter than the other is searched for in it instead of merged with it."""

_LARGE = 1 << 17
"""Words of rows that are not kept as columns and as a matrix both."""

_AT_ONCE = 1 << 16
"""Rows that are made a matrix at once where the whole is not kept."""


# ── sorting ───────────────────────────────────────────────────────────────────────────────────────
def _take(columns: Columns, positions: np.ndarray) -> list[np.ndarray]:
    if type(columns) is Lines:
        return Lines(columns.matrix.take(positions, axis=1))
    return [column.take(positions) for column in columns]


def _order_state(columns: Columns) -> int:
    """DISTINCT or SORTED, 0 for rows out of order. Stops at the first pair of these.

    Some rows after the others, so that many which are no matrix become one in the cache.
    """
    if not columns:
        return DISTINCT
    width, rows = len(columns), len(columns[0])
    if rows <= _AT_ONCE or type(columns) is Lines:
        return int(state_of(as_matrix(columns, width), width))
    state = DISTINCT
    for first in range(0, rows, _AT_ONCE):
        some = [column[first : first + _AT_ONCE + 1] for column in columns]
        found = int(state_of(as_matrix(some, width), width))
        if found == 0:
            return 0
        state = max(state, found)
    return state


def _are_distinct(columns: Columns) -> bool:
    """Test for many rows, no matrix yet, that ascend strictly: fresh memory for a matrix takes
    longer than to see that none is needed.
    """
    return type(columns) is not Lines and _order_state(columns) == DISTINCT


def is_sorted(columns: Columns) -> bool:
    """True when no row is less than the one before it. O(n), less when an early one is."""
    return _order_state(columns) != 0


def sort_order(columns: Columns) -> np.ndarray:
    """The positions of the rows in ascending order; equal rows keep their order. O(n log n)."""
    if not columns:
        raise ValueError("rows without columns have no number to permute")
    rows = len(columns[0])
    return np.arange(rows, dtype=np.int64) if is_sorted(columns) else places_in_order(columns)


def take_rows(data: np.ndarray, places: np.ndarray, threads: Threads = ALONE) -> np.ndarray:
    """The rows of a matrix of columns × rows at these places, in their order."""
    parts = spans(places.size, threads)
    if len(parts) == 1:
        return data.take(places, axis=1)
    found = np.empty((len(data), places.size), data.dtype)

    def take(span: Span) -> None:
        here = slice(*span)
        for column, into in zip(data, found, strict=True):
            # places are within; a check of all before would need a copy
            column.take(places[here], out=into[here], mode="clip")

    threads.together(take, parts)
    return found


def _sorted_matrix(
    data: np.ndarray,
    width: int,
    *,
    unique: bool = False,
    own: bool = False,
    threads: Threads = ALONE,
) -> tuple[np.ndarray, int]:
    """A matrix of columns × rows in ascending order of its first `width` columns, and DISTINCT or
    SORTED when it is so already. `unique`: each row once, and all columns are of the order. `own`:
    the matrix may be overwritten.
    """
    rows = data.shape[1]
    key, bounds = np.empty(rows, np.int64), np.empty((2, len(data)), np.int64)
    state = int(pack_rows(data, width, bounds[0], bounds[1], key))
    if state in (DISTINCT, SORTED):
        if state == SORTED and unique:
            data = data.take(equal_runs(list(data), width), axis=1)
        return data, state
    if state == TOO_WIDE:
        if len(data) == 1:
            ordered = np.sort(data)
        else:
            ordered = take_rows(data, places_in_order(data[:width], threads), threads)
        return (ordered.take(equal_runs(list(ordered), width), axis=1) if unique else ordered), 0
    sort_words(key, state, int(bounds[1, width:].sum()), threads)
    ordered = data if own else np.empty_like(data)  # fresh memory may take longer than to sort
    count = unpack_rows(key, bounds[0], bounds[1], unique, ordered)
    return (ordered if count == rows else ordered[:, :count]), 0


def sort_rows(columns: Columns) -> list[np.ndarray]:
    """The distinct rows in ascending order.

    O(n) when already sorted; O(n log n) otherwise, and fastest when the columns' ranges take at
    most 63 bits together.
    """
    if not columns or len(columns[0]) < 2:
        return list(columns)
    if len(columns) * len(columns[0]) > _LARGE and _are_distinct(columns):
        return list(columns)
    given = as_matrix(columns, len(columns))
    own = given.size > _LARGE and not np.may_share_memory(given, columns[0])
    ordered, state = _sorted_matrix(given, len(columns), unique=True, own=own)
    if ordered is not given or state == 0:
        return Lines(ordered)
    return list(columns) if given.size > _LARGE else Lines(given, columns)


def distinct_values(values: np.ndarray) -> np.ndarray:
    """The distinct values of a column in ascending order; it may be the column itself. Costs as
    `sort_rows`.
    """
    return sort_rows([values])[0]


def sorted_matrix(data: np.ndarray) -> np.ndarray:
    """As `sort_rows` of the lines of a matrix of columns × rows, each row once, as a matrix; the
    given one when it is sorted already.
    """
    return data if data.shape[1] < 2 else _sorted_matrix(data, len(data), unique=True)[0]


def sorted_by(data: np.ndarray, width: int, threads: Threads = ALONE) -> np.ndarray:
    """The rows of a matrix of columns × rows in ascending order of their first `width` columns;
    those equal there in any order. `threads` help with many.
    """
    return _sorted_matrix(data, width, threads=threads)[0] if width and data.shape[1] > 1 else data


def sort_and_count(columns: Columns, counts: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The distinct rows in ascending order, and for each the sum of the counts of its occurrences.

    Counts may be negative (changes); a row whose sum is 0 stays. `OverflowError` when a sum leaves
    int64. Rows may have no columns.
    """
    if len(counts) < 2:
        return list(columns), counts
    if not columns:
        return [], sum_runs(counts, np.zeros(1, dtype=np.int64))
    if len(columns) * len(columns[0]) > _LARGE and _are_distinct(columns):
        return list(columns), counts
    data = as_matrix([*columns, counts], len(columns) + 1)
    if (found := summed(data, zeros=True)) is not None:
        return list(found[:-1]), found[-1]
    ordered, state = _sorted_matrix(data, len(columns))
    if state == DISTINCT:
        return columns if type(columns) is Lines else list(columns), counts
    *rows, sums = _summed(ordered, zeros=True)
    return rows, sums


def counted_together(
    a: Columns, a_counts: np.ndarray, b: Columns, b_counts: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """As `sort_and_count`, of two sides that are sorted and distinct. A mere copy of the larger
    side when the other is much smaller.
    """
    few, many = ((a, a_counts), (b, b_counts)) if len(a_counts) <= len(b_counts) else (
        (b, b_counts), (a, a_counts),
    )  # fmt: skip
    (rows, counts), (others, sums) = few, many
    if rows and len(counts) * _GALLOP <= len(sums):
        places, found = locate(rows, others)
        here, new = places[found], np.flatnonzero(~found)
        total = sums[here] + counts[found]
        if not (((total ^ sums[here]) & (total ^ counts[found])) < 0).any():
            sums = sums.copy()
            sums[here] = total
            if not len(new):
                return others if type(others) is Lines else list(others), sums
            at = places[new]
            both = zip((*others, sums), (*rows, counts), strict=True)
            *columns, sums = [np.insert(column, at, values[new]) for column, values in both]
            return columns, sums
    columns = [np.concatenate(pair) for pair in zip(a, b, strict=True)]
    return sort_and_count(columns, np.concatenate([a_counts, b_counts]))


def net_rows(columns: Columns, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `sort_and_count` without the rows whose sum is 0, as a matrix of columns × rows. There has
    to be a column.
    """
    data = as_matrix([*columns, counts], len(columns) + 1)
    rows = summed(data, zeros=False)
    if rows is None:
        rows = _summed(_sorted_matrix(data, len(columns))[0], zeros=False)
    return np.ascontiguousarray(rows[:-1]), rows[-1]


def _summed(ordered: np.ndarray, *, zeros: bool) -> np.ndarray:
    """Rows and counts (the last row of a matrix, which is overwritten) with each run of equal rows
    made one.
    """
    if (runs := sum_equal(ordered, len(ordered) - 1, zeros)) < 0:
        raise OverflowError("the counts of equal rows add up to a number outside 64 bits")
    return ordered[:, :runs]


def sort_with(columns: Columns, payload: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Rows in ascending order and the payload of each; the payload of equal rows in any order. O(n
    log n).

    One more sorted column when rows and payload pack into 63 bits together; else two passes of
    random reads more.
    """
    *ordered, payload = _sorted_matrix(
        as_matrix([*columns, payload], len(columns) + 1), len(columns)
    )[0]
    return ordered, payload


def sum_runs(counts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The sum of each run of counts, run r being [starts[r], starts[r + 1]). `OverflowError` when
    one leaves int64.
    """
    sums = np.empty(len(starts), dtype=np.int64)
    if (run := _sum_runs(counts, starts, sums)) >= 0:
        raise OverflowError(f"the counts of run {run} add up to a number outside 64 bits")
    return sums


def equal_runs(columns: Columns, width: int) -> np.ndarray:
    """Find the start of each run of equal first `width` columns, in rows sorted at least on those.
    O(n · width).
    """
    if not columns:
        raise ValueError("rows without columns have no number to divide into runs")
    rows = len(columns[0])
    fresh = np.zeros(rows, dtype=bool)
    fresh[:1] = True
    for column in columns[:width]:
        fresh[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(fresh)


# ── sets of sorted distinct rows ──────────────────────────────────────────────────────────────────
def _matrix(columns: Columns) -> np.ndarray:
    return as_matrix(columns, len(columns))


def _same_width(a: Columns, b: Columns) -> None:
    if not a or len(a) != len(b):
        raise ValueError(f"rows of {len(a)} and {len(b)} columns cannot be compared")


def locate(rows: Columns, among: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Find the position of each of `rows` (sorted) in `among` (sorted distinct), and test whether
    it is there. O(m log n) for m rows.

    The position is that of the row, or the one at which it would be inserted.
    """
    low, high = locate_ranges(rows, among)
    return low, high > low


def locate_ranges(rows: Columns, among: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Find the range of positions of each of `rows` (sorted) in `among` (sorted, repeated or not);
    it is empty for a row that is not there. O(m log n) for m rows.
    """
    _same_width(rows, among)
    low = np.empty(len(rows[0]), dtype=np.int64)
    high = np.empty_like(low)
    locate_ascending(among[0], rows[0], low, high)
    for column, values in zip(among[1:], rows[1:], strict=True):
        refine_ranges(column, values, low, high)
    return low, high


def contains(a: Columns, b: Columns) -> np.ndarray:
    """Mark the rows of `a` that are in `b`. O(n + m), or O(m log n) on top of the mask when one
    side is much smaller.
    """
    _same_width(a, b)
    size, other = len(a[0]), len(b[0])
    if size * _GALLOP > other and other * _GALLOP > size:
        return _in_both(a, b)[0]
    if size * _GALLOP <= other:
        return locate(a, b)[1]
    marks = np.zeros(size, dtype=bool)
    positions, found = locate(b, a)
    marks[positions[found]] = True
    return marks


def _in_both(a: Columns, b: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Mark the rows of `a` that are in `b`, and the reverse. O(n + m).

    Some rows after the others, so that columns that are no matrix become one in the cache: fresh
    memory for a matrix of many rows took longer than to compare them.
    """
    in_a, in_b = np.zeros(len(a[0]), dtype=bool), np.zeros(len(b[0]), dtype=bool)
    heads = a[0][_AT_ONCE::_AT_ONCE]
    if not len(heads):
        mark_common(_matrix(a), _matrix(b), in_a, in_b)
        return in_a, in_b
    cuts = [[0, *np.searchsorted(side[0], heads).tolist(), len(side[0])] for side in (a, b)]
    for mine, theirs in zip(pairwise(cuts[0]), pairwise(cuts[1]), strict=True):
        here, there = slice(*mine), slice(*theirs)
        one, other = ([column[part] for column in side] for side, part in ((a, here), (b, there)))
        mark_common(_matrix(one), _matrix(other), in_a[here], in_b[there])
    return in_a, in_b


def difference(a: Columns, b: Columns) -> list[np.ndarray]:
    """The rows of `a` that are not in `b`. Costs as `contains`."""
    return _without(a, contains(a, b))


def differences(a: Columns, b: Columns) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The rows of `a` that are not in `b`, and those of `b` that are not in `a`. O(n + m)."""
    _same_width(a, b)
    in_a, in_b = _in_both(a, b)
    return _without(a, in_a), _without(b, in_b)


def _without(a: Columns, common: np.ndarray) -> list[np.ndarray]:
    return _take(a, np.flatnonzero(~common)) if common.any() else a if type(a) is Lines else list(a)


def intersection(a: Columns, b: Columns) -> list[np.ndarray]:
    """The rows in both. Costs as `contains`, on the smaller side."""
    _same_width(a, b)
    few, many = (a, b) if len(a[0]) <= len(b[0]) else (b, a)
    return _take(few, np.flatnonzero(contains(few, many)))


def union(a: Columns, b: Columns) -> list[np.ndarray]:
    """The rows in either, each once. O(n + m), and a mere copy of the larger side when the other is
    much smaller.
    """
    _same_width(a, b)
    few, many = (a, b) if len(a[0]) <= len(b[0]) else (b, a)
    if len(few[0]) == 0:
        return many if type(many) is Lines else list(many)
    if len(few[0]) * _GALLOP <= len(many[0]):
        positions, found = locate(few, many)
        new = np.flatnonzero(~found)
        return [
            np.insert(column, positions[new], values[new])
            for column, values in zip(many, few, strict=True)
        ]
    out = np.empty((len(a), len(few[0]) + len(many[0])), dtype=np.int64)
    size = merge_distinct(_matrix(few), _matrix(many), out)
    return Lines(out[:, :size])
