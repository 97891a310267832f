# SPDX-License-Identifier: Apache-2.0
"""Counts of many rows that are in no order, added up: where their values are few, and where all
count the same.

Few values have a place each to add up at, and no row is sorted. Rows that count the same are sorted
without their counts: how often each is there tells its sum.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.packing_kernels import (
    INT64_MAX,
    TOO_WIDE,
    count_equal,
    pack_rows,
    run_lengths,
    state_of,
    sum_packed,
    survey,
    unpack_rows,
    unpack_sums,
)
from lftj.scantree.place_sort import places_in_order
from lftj.scantree.word_sort import sort_words

_MANY = 1 << 12
"""Rows from which on sorting them takes longer than looking at what values they have."""

_SAMPLE = 512
_PLACES = 22
"""Bits of the places that sums are added up at: 32 MiB."""


def summed(data: np.ndarray, *, zeros: bool) -> np.ndarray | None:
    """The distinct rows of a matrix in ascending order, its last row being the sum of each one's
    counts; sums of 0 only with `zeros`.

    None where rows are few or in order already, where neither way is open, and where a sum might
    leave int64. O(n · bits of a row) at most.
    """
    if not _many_out_of_order(data):
        return None
    found = _in_place(data, zeros)
    return _alike(data) if found is None else found


def summed_in_place(data: np.ndarray, *, zeros: bool) -> np.ndarray | None:
    """As `summed`; None also where rows have too many different values. O(n + places)."""
    return _in_place(data, zeros) if _many_out_of_order(data) else None


def _many_out_of_order(data: np.ndarray) -> bool:
    return data.shape[1] >= _MANY and state_of(data, len(data) - 1) == 0


def _in_place(data: np.ndarray, zeros: bool) -> np.ndarray | None:
    width, rows = len(data) - 1, data.shape[1]
    bounds = np.empty((2, width), np.int64)
    most_bits = min(_PLACES, rows.bit_length())
    # those in front mostly tell already that there are too many
    if int(survey(np.ascontiguousarray(data[:-1, :_SAMPLE]), bounds[0], bounds[1])) > most_bits:
        return None
    bits = int(survey(data[:-1], bounds[0], bounds[1]))
    if bits > most_bits:
        return None
    least, most = int(data[-1].min()), int(data[-1].max())
    if max(most, -least) * rows > INT64_MAX:
        return None
    sums, seen = np.zeros(1 << bits, np.int64), np.zeros(1 << bits, np.uint8)
    found = np.empty((width + 1, int(sum_packed(data, bounds[0], bounds[1], sums, seen))), np.int64)
    count = int(unpack_sums(sums, seen, bounds[0], bounds[1], zeros, found))
    return found[:, :count]


def _alike(data: np.ndarray) -> np.ndarray | None:
    """Sum equal rows whose counts are all the same; None where counts differ. O(n · bits of a
    row).
    """
    width, rows = len(data) - 1, data.shape[1]
    count, least, most = int(data[-1, 0]), int(data[-1].min()), int(data[-1].max())
    if not least == count == most != 0 or abs(count) * rows > INT64_MAX:
        return None
    words, bounds = np.empty(rows, np.int64), np.empty((2, width), np.int64)
    bits = int(pack_rows(data[:-1], width, bounds[0], bounds[1], words))
    times = np.empty(rows, np.int64)
    if bits == TOO_WIDE:
        found = np.empty_like(data)
        data[:-1].take(places_in_order(data[:-1]), axis=1, out=found[:-1], mode="clip")
        distinct = int(count_equal(found[:-1], times))
        np.multiply(times[:distinct], count, out=found[-1, :distinct])
        return found[:, :distinct]
    sort_words(words, bits)
    distinct = int(run_lengths(words, times))
    found = np.empty((width + 1, distinct), np.int64)
    unpack_rows(words[:distinct], bounds[0], bounds[1], False, found[:-1])
    np.multiply(times[:distinct], count, out=found[-1])
    return found
