"""Rows of a relation, found by the values of some of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lftj.join.kernels.lookup_kernels import NOWHERE, find_hashed, find_placed, hash_rows, place_rows

_SPARSE = 8  # places a row, up to which a table by place is worth its memory
_SMALL = 1 << 16
"""Places that a table may have in any case."""


class Buffers(NamedTuple):
    """Room for what look-ups of a block of rows find: which of them were found, and where."""

    kept: np.ndarray
    found: np.ndarray

    @staticmethod
    def of(rows: int) -> Buffers:
        """Room for so many."""
        return Buffers(np.empty(rows, np.int64), np.empty(rows, np.int64))


class RowTable:
    """The numbers of rows by key columns. O(n) to make; `distinct`: no two rows have the same key;
    `most`: that many have one at most."""

    def __init__(self, key: Sequence[np.ndarray]):
        rows = len(key[0])
        self._times = np.ones(rows, np.int64)
        self._low, span = 0, 0
        if rows and len(key) == 1:
            self._low = int(key[0].min())
            span = int(key[0].max()) - self._low + 1
        self._placed = len(key) == 1 and span <= max(_SPARSE * rows, _SMALL)
        if self._placed:
            self._table = np.full(span, NOWHERE, np.int32)
            again = place_rows(np.ascontiguousarray(key[0]), self._low, self._table, self._times)
        else:
            self._keys = np.array(key, np.int64)
            self._table = np.full(1 << (2 * rows).bit_length(), NOWHERE, np.int32)
            again = hash_rows(self._keys, self._table, self._times)
        self.distinct = again == 0
        self.most = 1 if self.distinct else int(self._times.max())

    @property
    def nbytes(self) -> int:
        """Bytes it takes."""
        return self._table.nbytes + self._times.nbytes

    def find(self, key: Sequence[np.ndarray], buffers: Buffers) -> int:
        """Which of the rows with these key columns find one here, and which; how many they are."""
        if self._placed:
            return int(find_placed(key[0], self._low, self._table, *buffers))
        sought = key[0].reshape(1, -1) if len(key) == 1 else np.array(key, np.int64)
        return int(find_hashed(sought, self._keys, self._table, *buffers))

    def times(self, rows: np.ndarray) -> np.ndarray:
        """How many rows have the key of each of these, which `find` gave."""
        return self._times.take(rows)
