# SPDX-License-Identifier: Apache-2.0
"""Rows of a relation, found by the values of some of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from lftj.join.kernels.lookup_kernels import (
    NOWHERE,
    find_hashed,
    find_placed,
    find_runs,
    hash_rows,
    keep_runs,
    keep_same,
    mark_runs,
    place_rows,
)
from lftj.scantree.rows_kernels import refine_ranges

Key = Sequence[np.ndarray]
"""The columns by whose values rows are found."""
_TABLE_PLACES = 8
"""Places for each row up to which a look-up table by place is worth its memory."""
_TABLE_LEAST = 1 << 16
"""Places that such a table may have in any case."""


class Buffers(NamedTuple):
    """Room for what look-ups of a block of rows find: which of them were found, where, and ends of
    what is still to be searched.
    """

    kept: np.ndarray
    found: np.ndarray
    ends: np.ndarray

    @staticmethod
    def of(rows: int) -> Buffers:
        """Room for so many."""
        return Buffers(*np.empty((3, rows), np.int64))


class RowTable(Protocol):
    """The numbers of rows by their key."""

    times: np.ndarray | None
    """Number of rows with the key of each row that `find` gives; None: no two rows have the
    same.
    """
    nbytes: int
    """Bytes it takes."""

    def find(self, key: Key, buffers: Buffers) -> int:
        """Find rows with these key columns: those that have a partner here, the first partner of
        each, and their number.
        """
        ...


def row_table(key: Key) -> RowTable:
    """A table of rows with this key, of one column at least. O(n) for each column.

    Rows are placed by one column where its values lie close together and tell them apart, or are
    all there is to the key; rows in the order of their keys are found by halving; others by
    hashing.
    """
    rows, alone = len(key[0]), len(key) == 1
    most, first = max(_TABLE_PLACES * rows, _TABLE_LEAST), _span(key[0])
    for number, column in enumerate(key):
        low, places = _span(column) if number else first
        if places <= most and (alone or places >= rows):  # else some value repeats
            placed = _PlacedRows(key, number, low, places)
            if placed.times is None or alone:
                return placed
    if not alone and first[1] <= most and (again := _repeated(key)) is not None:
        return _SortedRows(key, again)
    return _HashedRows(key)


def _span(values: np.ndarray) -> tuple[int, int]:
    """The least value, and how many there are from it up to the greatest."""
    low = int(values.min()) if len(values) else 0
    return low, int(values.max()) - low + 1 if len(values) else 0


def _repeated(key: Key) -> np.ndarray | None:
    """Mark each row but the first that has the key of the one before; None where rows are not in
    the order of their keys.
    """
    same = np.ones(len(key[0]) - 1, np.bool_)
    for column in key:
        if bool((same & (column[1:] < column[:-1])).any()):
            return None
        same &= column[1:] == column[:-1]
    return same


class _PlacedRows:
    """The place of a row is its value in one column, counted from `low`; other columns are compared
    then.
    """

    def __init__(self, key: Key, number: int, low: int, places: int):
        values = np.ascontiguousarray(key[number])
        self._number, self._others = (
            number,
            [(other, column) for other, column in enumerate(key) if other != number],
        )
        self._low, self._table = low, np.full(places, NOWHERE, np.int32)
        times = np.ones(len(values), np.int64)
        self.times = times if place_rows(values, self._low, self._table, times) else None
        self.nbytes = self._table.nbytes + times.nbytes

    def find(self, key: Key, buffers: Buffers) -> int:
        """See `RowTable`."""
        kept, found, _ = buffers
        many = int(find_placed(key[self._number], self._low, self._table, kept, found))
        for number, column in self._others:
            many = int(keep_same(key[number], column, kept, found, many))
        return many


class _SortedRows:
    """Rows with a value in the first column follow each other, in the order of the other columns.
    `again`: as `_repeated` tells.
    """

    def __init__(self, key: Key, again: np.ndarray):
        self._others = key[1:]
        self._low = int(key[0][0])
        self._runs = np.empty(int(key[0][-1]) - self._low + 2, np.int32)
        mark_runs(key[0], self._low, self._runs)
        self.times = None
        if again.any():
            first = np.flatnonzero(np.concatenate(([True], ~again)))
            self.times = np.ones(len(key[0]), np.int64)
            self.times[first] = np.diff(first, append=len(key[0]))
        self.nbytes = self._runs.nbytes + (0 if self.times is None else self.times.nbytes)

    def find(self, key: Key, buffers: Buffers) -> int:
        """See `RowTable`."""
        kept, found, ends = buffers
        many = int(find_runs(key[0], self._low, self._runs, kept, found, ends))
        for sought, column in zip(key[1:], self._others, strict=True):
            refine_ranges(column, sought.take(kept[:many]), found[:many], ends[:many])
            many = int(keep_runs(kept, found, ends, many))
        return many


class _HashedRows:
    """The slot of a row is told by all columns."""

    def __init__(self, key: Key):
        rows = len(key[0])
        self._keys = np.array(key, np.int64)
        self._table = np.full(1 << (2 * rows).bit_length(), NOWHERE, np.int32)
        times = np.ones(rows, np.int64)
        self.times = times if hash_rows(self._keys, self._table, times) else None
        self.nbytes = self._table.nbytes + times.nbytes

    def find(self, key: Key, buffers: Buffers) -> int:
        """See `RowTable`."""
        sought = key[0].reshape(1, -1) if len(key) == 1 else np.array(key, np.int64)
        return int(find_hashed(sought, self._keys, self._table, buffers.kept, buffers.found))
