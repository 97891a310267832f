# SPDX-License-Identifier: Apache-2.0
"""The rows of one relation during a bootstrap that counts: which are new in this iteration, and how
many proofs each has in it.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from lftj.maintenance.semi_naive.proof_table_kernels import add_proofs, rehash
from lftj.scantree.rows import sort_order, sort_rows
from lftj.storage.delta import Columns

_FIRST_ROOM = 1 << 10  # rows
_LOAD = 2  # slots for each row that there is room for, at least


class ProofTable:
    """Rows of `width` columns in the order in which they were found. `add` candidates, `take_fresh`
    for those that were new.
    """

    def __init__(self, width: int):
        self.width = width
        self.count = 0
        self._lock = Lock()
        self._fresh = 0
        self._starts: list[int] = []
        self._entries = np.empty(_FIRST_ROOM * (width + 1), np.int64)
        self._slots = np.zeros(_LOAD * _FIRST_ROOM, np.int64)

    def add(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Add candidates of this iteration: column i of a row is `rows[picks[i]]`, and the last
        line is the number of proofs. O(n).

        Any thread may; they wait for one another.
        """
        with self._lock:
            self._make_room(self.count + rows.shape[1])
            self.count = int(
                add_proofs(
                    rows, picks, self._slots, self._shift, self._entries, self.count, self._fresh
                )
            )

    def take_fresh(self, ordered: bool = False) -> Columns:
        """The rows that were new in this iteration, in ascending order if asked for; begins the
        next one.
        """
        rows = self._table()[self._fresh : self.count, :-1]
        self._starts.append(self._fresh)
        self._fresh = self.count
        columns = [np.ascontiguousarray(column) for column in rows.T]
        return sort_rows(columns) if ordered else columns

    @property
    def fresh(self) -> int:
        """Rows that are new since they were taken last."""
        return self.count - self._fresh

    def rows(self) -> Columns:
        """All rows in the order in which they were found."""
        return [np.ascontiguousarray(column) for column in self._table()[: self.count, :-1].T]

    def columns(self) -> tuple[Columns, np.ndarray, np.ndarray]:
        """All rows in ascending order, the iteration of each, and its number of proofs. Call after
        `take_fresh`. O(n log n).
        """
        *rows, proofs = (np.ascontiguousarray(column) for column in self._table()[: self.count].T)
        sizes = np.diff(self._starts, append=self._fresh)
        iterations = np.repeat(np.arange(len(sizes)), sizes)
        order = sort_order(rows)
        return [column.take(order) for column in rows], iterations.take(order), proofs.take(order)

    # ── room ──────────────────────────────────────────────────────────────────────────────────────
    @property
    def _shift(self) -> int:
        return 64 - (self._slots.size.bit_length() - 1)

    def _table(self) -> np.ndarray:
        return self._entries.reshape(-1, self.width + 1)

    def _make_room(self, rows: int) -> None:
        words = rows * (self.width + 1)
        if words > self._entries.size:
            grown = np.empty(
                max(words + self.width, 2 * self._entries.size)
                // (self.width + 1)
                * (self.width + 1),
                np.int64,
            )
            used = self.count * (self.width + 1)
            grown[:used] = self._entries[:used]
            self._entries = grown
        if _LOAD * rows > self._slots.size:
            self._slots = np.zeros(1 << (_LOAD * rows).bit_length(), np.int64)
            rehash(self._entries, self.width, self.count, self._slots, self._shift)
