# SPDX-License-Identifier: Apache-2.0
"""Compiled passes over sorted rows. Every kernel takes whole columns and returns positions, marks
or status codes; none raises.

Kernels that compare rows of two sides take a matrix (columns × rows, one column contiguous), so
that one compiled form serves every width; kernels that can work a column at a time take one column
and refine what the columns before it left open.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled, inlined

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)


@compiled
def _bound(column: np.ndarray, low: int, high: int, value: int, upper: bool) -> int:
    """First position in [low, high) whose value is ≥ `value` (> when `upper`): gallops from `low`,
    then halves.
    """
    step = 1
    start = low
    while start < high and (column[start] < value or (upper and column[start] == value)):
        low = start + 1
        start += step
        step *= 2
    high = min(start, high)
    while low < high:
        middle = (low + high) >> 1
        if column[middle] < value or (upper and column[middle] == value):
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def refine_ranges(
    column: np.ndarray, values: np.ndarray, low: np.ndarray, high: np.ndarray
) -> None:
    """Narrow each range [low[i], high[i]) of rows to those that have `values[i]` in this column, on
    which each range is sorted.

    An emptied range stands where the value would go. O(log of the range) for each value, and of its
    distance from the one before where that lies below in the same range.
    """
    begin, end, first = -1, -1, 0
    for i in range(values.shape[0]):
        if low[i] != begin or high[i] != end or values[i] < values[i - 1]:
            begin, end = low[i], high[i]
            first = begin
        first = _bound(column, first, end, values[i], False)
        high[i] = _bound(column, first, end, values[i], True)
        low[i] = first


@compiled
def locate_ascending(
    column: np.ndarray, values: np.ndarray, low: np.ndarray, high: np.ndarray
) -> None:
    """As `refine_ranges` with all ranges the whole column and `values` ascending: each search
    starts where the last one ended.
    """
    at = 0
    rows = column.shape[0]
    for i in range(values.shape[0]):
        if i > 0 and values[i] == values[i - 1]:
            low[i], high[i] = low[i - 1], high[i - 1]
            continue
        at = _bound(column, at, rows, values[i], False)
        low[i] = at
        high[i] = _bound(column, at, rows, values[i], True)


@compiled
def _compare(a: np.ndarray, i: int, b: np.ndarray, j: int) -> int:
    """Row i of `a` against row j of `b`: negative, zero or positive."""
    for c in range(a.shape[0]):
        if a[c, i] != b[c, j]:
            return -1 if a[c, i] < b[c, j] else 1
    return 0


@compiled
def mark_common(a: np.ndarray, b: np.ndarray, in_a: np.ndarray, in_b: np.ndarray) -> None:
    """Set `in_a[i]` and `in_b[j]` for every row i of `a` that is row j of `b`; both sorted and
    distinct. O(n + m).
    """
    i = 0
    j = 0
    while i < a.shape[1] and j < b.shape[1]:
        order = _compare(a, i, b, j)
        if order == 0:
            in_a[i] = True
            in_b[j] = True
        i += order <= 0
        j += order >= 0


@inlined
def _next(a: np.ndarray, i: int, b: np.ndarray, j: int) -> int:
    """Whose row comes next, where any is left: negative, that of `a`; positive, that of `b`; zero,
    that of both.
    """
    if i == a.shape[1]:
        return 1
    return _compare(a, i, b, j) if j < b.shape[1] else -1


@compiled
def merge_distinct(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    """Write the sorted union of two sorted distinct sides to `out`; returns its number of rows. O(n
    + m).
    """
    i = 0
    j = 0
    size = 0
    while i < a.shape[1] or j < b.shape[1]:
        order = _next(a, i, b, j)
        for c in range(out.shape[0]):
            out[c, size] = a[c, i] if order <= 0 else b[c, j]
        i += order <= 0
        j += order >= 0
        size += 1
    return size


@compiled
def sums_wrap(left, right, total):
    """Test for overflow: `total`, made by int64 arithmetic, is not left + right."""
    return (left ^ total) & (right ^ total) < 0


@compiled
def run_sums(values: np.ndarray, starts: np.ndarray, sums: np.ndarray) -> int:
    """Sum each run of `values`; run r is [starts[r], starts[r + 1]). Returns -1, or the first run
    whose sum leaves int64.

    A running total may leave the range and come back, so the high half is counted apart.
    """
    for run in range(starts.shape[0]):
        end = starts[run + 1] if run + 1 < starts.shape[0] else values.shape[0]
        total = np.int64(0)
        wraps = 0
        for i in range(starts[run], end):
            value = values[i]
            if value > 0 and total > INT64_MAX - value:
                total = (total - INT64_MAX - 1) + (value - INT64_MAX - 1)
                wraps += 1
            elif value < 0 and total < INT64_MIN - value:
                total = (total + INT64_MAX + 1) + (value + INT64_MAX + 1)
                wraps -= 1
            else:
                total += value
        if wraps != 0:
            return run
        sums[run] = total
    return -1
