# SPDX-License-Identifier: Apache-2.0
"""Compiled passes of sorting by packed rows: one over rows on their way into numbers, one back.
None raises.

Rows are a matrix of columns × rows. A packed row holds its columns' distances from their least
values, the first in the highest bits.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled

DISTINCT, SORTED, TOO_WIDE = -3, -2, -1
"""Results of `pack_rows` when it packs nothing: the rows ascend strictly; they ascend; they take
more bits than a word has.
"""

KEY_BITS = 63
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)


@compiled
def state_of(rows: np.ndarray, width: int) -> int:
    """DISTINCT or SORTED by the first `width` columns, else 0. Stops at the first pair of rows out
    of order.
    """
    state = DISTINCT
    for i in range(1, rows.shape[1]):
        column = 0
        while column < width and rows[column, i] == rows[column, i - 1]:
            column += 1
        if column == width:
            state = SORTED
        elif rows[column, i] < rows[column, i - 1]:
            return 0
    return state


@compiled
def survey(rows: np.ndarray, lows: np.ndarray, widths: np.ndarray) -> int:
    """The least value of each column and the bits that its values' distances from it take: the bits
    of all together, 64 for too many.
    """
    bits = 0
    for column in range(rows.shape[0]):
        low = rows[column, 0]
        high = low
        for i in range(rows.shape[1]):
            low = min(low, rows[column, i])
            high = max(high, rows[column, i])
        lows[column] = low
        width = 0
        if low < 0 and high > low + INT64_MAX:
            width = 64
        else:
            span = high - low
            while span > 0:
                span >>= 1
                width += 1
        widths[column] = width
        bits = min(64, bits + width)
    return bits


@compiled
def pack_rows(
    rows: np.ndarray, width: int, lows: np.ndarray, widths: np.ndarray, key: np.ndarray
) -> int:
    """Pack rows that do not ascend by their first `width` columns into `key`, and say how: the
    bits, or a reason for not doing it.
    """
    state = state_of(rows, width)
    if state < 0:
        return state
    bits = survey(rows, lows, widths)
    if bits > KEY_BITS:
        return TOO_WIDE
    for i in range(key.size):
        key[i] = rows[0, i] - lows[0]
    for column in range(1, rows.shape[0]):
        low = lows[column]
        shift = widths[column]
        for i in range(key.size):
            key[i] = (key[i] << shift) | (rows[column, i] - low)
    return bits


@compiled
def unpack_rows(
    key: np.ndarray, lows: np.ndarray, widths: np.ndarray, unique: bool, rows: np.ndarray
) -> int:
    """Write the rows of ascending packed ones, with `unique` each once: how many. `key` is
    overwritten.
    """
    count = key.size
    if unique and count > 0:
        count = 1
        for i in range(1, key.size):
            if key[i] != key[count - 1]:
                key[count] = key[i]
                count += 1
    shift = 0
    for column in range(rows.shape[0] - 1, -1, -1):
        mask = INT64_MAX >> (KEY_BITS - widths[column])
        low = lows[column]
        for i in range(count):
            rows[column, i] = ((key[i] >> shift) & mask) + low
        shift += widths[column]
    return count


@compiled
def run_lengths(key: np.ndarray, lengths: np.ndarray) -> int:
    """Make equal ones of some ascending packed rows one, and write how many they were: how many are
    left. `key` is overwritten.
    """
    count = 0
    first = 0
    for i in range(1, key.size + 1):
        if i == key.size or key[i] != key[first]:
            key[count] = key[first]
            lengths[count] = i - first
            count += 1
            first = i
    return count


@compiled
def count_equal(rows: np.ndarray, lengths: np.ndarray) -> int:
    """As `run_lengths`, for the columns of a matrix of some rows."""
    count = 0
    first = 0
    for i in range(1, rows.shape[1] + 1):
        same = i < rows.shape[1]
        for column in range(rows.shape[0]):
            if same and rows[column, i] != rows[column, first]:
                same = False
        if not same:
            if count < first:
                for column in range(rows.shape[0]):
                    rows[column, count] = rows[column, first]
            lengths[count] = i - first
            count += 1
            first = i
    return count


@compiled
def sum_packed(
    rows: np.ndarray, lows: np.ndarray, widths: np.ndarray, sums: np.ndarray, seen: np.ndarray
) -> int:
    """Add the last column of each row to `sums` at the place of its packed other columns, and note
    that in `seen`: how many places.
    """
    width = rows.shape[0] - 1
    count = 0
    for i in range(rows.shape[1]):
        place = 0
        for column in range(width):
            place = (place << widths[column]) | (rows[column, i] - lows[column])
        sums[place] += rows[width, i]
        count += 1 - int(seen[place])  # interpreted, a byte would wrap
        seen[place] = 1
    return count


@compiled
def unpack_sums(
    sums: np.ndarray,
    seen: np.ndarray,
    lows: np.ndarray,
    widths: np.ndarray,
    zeros: bool,
    rows: np.ndarray,
) -> int:
    """Write the rows of the places that were seen, in ascending order, and their sums, those of 0
    only with `zeros`: how many.
    """
    width = rows.shape[0] - 1
    count = 0
    for place in range(sums.size):
        if seen[place] and (zeros or sums[place] != 0):
            packed = place
            for column in range(width - 1, -1, -1):
                rows[column, count] = (packed & (INT64_MAX >> (KEY_BITS - widths[column]))) + lows[
                    column
                ]
                packed >>= widths[column]
            rows[width, count] = sums[place]
            count += 1
    return count


@compiled
def sum_equal(rows: np.ndarray, width: int, zeros: bool) -> int:
    """Make each run of rows equal in the first `width` columns one row, its last column the sum of
    theirs: how many runs there are.

    Runs whose sum is 0 are left out unless `zeros`. Returns −1 when a sum leaves int64: a running
    total may leave the range and come back, so the high half is counted apart.
    """
    count = 0
    i = 0
    while i < rows.shape[1]:
        first = i
        total = np.int64(0)
        wraps = 0
        same = True
        while same:
            value = rows[width, i]
            if value > 0 and total > INT64_MAX - value:
                total = (total - INT64_MAX - 1) + (value - INT64_MAX - 1)
                wraps += 1
            elif value < 0 and total < INT64_MIN - value:
                total = (total + INT64_MAX + 1) + (value + INT64_MAX + 1)
                wraps -= 1
            else:
                total += value
            i += 1
            same = i < rows.shape[1]
            for column in range(width):
                if same and rows[column, i] != rows[column, first]:
                    same = False
        if wraps != 0:
            return -1
        if zeros or total != 0:
            for column in range(width):
                rows[column, count] = rows[column, first]
            rows[width, count] = total
            count += 1
    return count
