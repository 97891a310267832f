# SPDX-License-Identifier: Apache-2.0
"""The rows of one relation during a fixpoint: is a candidate new, and which rows were new in this
iteration.

Deduplication is where closures spend their time: a dense domain gets a bitmap (per leading key, a
run of bits: Gustavson's accumulator), a sparse one a hash table of packed rows, and one too wide to
pack into 62 bits a hash table of whole rows.

Threads add at the same time: a table changes by atomic exchanges, and what each finds new it notes
for itself. Only for what moves the whole table, which is a larger one or wider ranges, all but one
wait.
"""

from __future__ import annotations

import numpy as np

from lftj.maintenance.semi_naive import row_set_kernels as kernels
from lftj.maintenance.semi_naive.packed_rows import PACKED_BITS, Packed
from lftj.maintenance.semi_naive.thread_buffers import Lane, ThreadBuffers
from lftj.maintenance.semi_naive.wide_rows import WideRows
from lftj.partition.executor import ThreadExecutor
from lftj.scantree.buffer_pool import give_back, unfilled, zeroed
from lftj.scantree.word_sort import sort_words

Columns = list[np.ndarray]

_NARROW = (1 << 32) - 1  # packed rows below this fit into slots of half a word
_DENSE_SHARE = 64
"""Bits for each row up to which a larger bitmap is."""
_LARGE_TABLE = 256 << 20
"""Bytes beyond which a hash table grows more slowly, to leave memory to others."""
_DENSE_BITS = 1 << 28
"""Bits of a bitmap that is cheaper than any hash table: 32 MiB."""


class RowSet:
    """A set of rows of `width` columns. `add` candidates; `take_fresh` gives those that were new
    since the last call.
    """

    def __init__(
        self,
        width: int,
        lows: np.ndarray,
        highs: np.ndarray,
        threads: ThreadExecutor | None = None,
    ):
        """`lows` and `highs`: the ranges expected per column; they widen as needed. `threads`: they
        may add.
        """
        self.width = width
        self._lows = lows.astype(np.int64)
        self._highs = np.maximum(highs.astype(np.int64), self._lows)
        self._shared = threads is not None and threads.workers > 1
        self._fresh = ThreadBuffers()
        self._taken: list[np.ndarray] = []  # of take_fresh, packed, one an iteration
        self._taken_count = 0
        self._wide: WideRows | None = None
        self._word: type[np.int64 | np.uint32] = np.int64  # of a slot
        self._bits: np.ndarray | None = None
        self._slots = np.empty(0, np.int64)
        self._set_up()

    @property
    def count(self) -> int:
        """Rows that were added, and were new."""
        return self._wide.count if self._wide is not None else self._taken_count + self._fresh.count

    @property
    def marked(self) -> bool:
        """Tell whether a bitmap tells which rows are there."""
        return self._bits is not None

    @property
    def fresh(self) -> int:
        """The rows that were new since rows were taken last."""
        return self._wide.fresh if self._wide is not None else self._fresh.count

    # ── adding ────────────────────────────────────────────────────────────────────────────────────
    def add(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Add candidates: column i of a row is `rows[picks[i]]`. O(n) expected."""
        first = 0
        while first < rows.shape[1]:
            with self._fresh.lane(rows.shape[1] - first, self._is_full, self._grow) as lane:
                first = self._put(rows, first, picks, lane)
            if first < rows.shape[1]:
                with self._fresh.alone():
                    self._widen(rows[:, first:], picks)
                    if self._wide is not None:
                        self._wide.add(rows[:, first:], picks)
                        return

    def _put(self, rows: np.ndarray, first: int, picks: np.ndarray, lane: Lane) -> int:
        """Add what fits the ranges; how far."""
        if self._wide is not None:
            return first
        common, shared = (rows, first, picks, self._lows, self._highs, self._shifts), self._shared
        if self._bits is not None:
            first, lane.count, _ = kernels.add_dense(
                *common, self._bits, shared, lane.words, lane.count
            )
        else:
            first, lane.count, _ = kernels.add_sparse(
                *common, self._slots, self._shift, shared, lane.words, lane.count
            )
        return first

    def take_fresh(self, ordered: bool = False) -> Columns:
        """The rows that were new since the last call, in ascending order if asked for."""
        if self._wide is not None:
            return self._wide.take_fresh(ordered)
        return self._unpack(self._take(ordered))

    def take_packed(self, ordered: bool = False) -> Packed | None:
        """As `take_fresh`, but packed; None, and nothing is taken, when rows are too
        wide for that.
        """
        if self._wide is not None:
            return None
        return Packed(self._take(ordered), self._lows, self._shifts, self._widths, ordered)

    def _take(self, ordered: bool) -> np.ndarray:
        packed = self._fresh.rows()
        if ordered:
            sort_words(packed, sum(self._widths))
        self._fresh.clear()
        self._taken.append(packed)
        self._taken_count += packed.size
        return packed

    def columns(self) -> Columns:
        """All rows, sorted."""
        if self._wide is not None:
            return self._wide.columns()
        buffer = unfilled(self.count)
        packed = np.concatenate([*self._taken, self._fresh.rows()], out=buffer)
        sort_words(packed, sum(self._widths))
        columns = self._unpack(packed)
        give_back(buffer)
        return columns

    def release(self) -> None:
        """Give back the hash table, for others to use: no more rows are added without a new one."""
        slots, self._slots = (
            self._slots,
            np.empty(0, np.int64),
        )  # let go first: an interrupt in between must not give it back twice
        give_back(slots)

    # ── how rows are kept ─────────────────────────────────────────────────────────────────────────
    def _set_up(self) -> None:
        """Shifts and an empty table for the present ranges."""
        bits = tuple(
            (int(high) - int(low)).bit_length()
            for low, high in zip(self._lows, self._highs, strict=True)
        )
        self._widths = bits
        if sum(bits) > PACKED_BITS:
            self._wide = WideRows(self.width)
            return
        self._shifts = np.array([sum(bits[column + 1 :]) for column in range(self.width)], np.int64)
        if 1 << sum(bits) <= max(_DENSE_BITS, _DENSE_SHARE * self.count):
            self._bits = np.zeros(((1 << sum(bits)) >> 6) + 1, np.int64)
            return
        self._bits = None
        most = sum(
            (int(high) - int(low)) << int(shift)
            for low, high, shift in zip(self._lows, self._highs, self._shifts, strict=True)
        )
        self._word = np.uint32 if most < _NARROW else np.int64
        self._resize(1 << 12)

    def _resize(self, slots: int) -> None:
        self.release()
        self._shift = 64 - (slots.bit_length() - 1)
        self._slots = zeroed(slots, self._word)
        for rows in (*self._taken, self._fresh.rows()):
            kernels.fill(rows, self._slots, self._shift)

    def _is_full(self, more: int) -> bool:
        """Test for a table that should be larger for so many more rows."""
        return (
            self._bits is None
            and self._wide is None
            and 5 * (self.count + more) > 3 * self._slots.size
        )

    def _grow(self, more: int) -> None:
        growth = (8 if self._slots.nbytes < _LARGE_TABLE else 4) * 8 // self._slots.itemsize
        self._resize(1 << (growth * (self.count + more)).bit_length() - 1)

    def _unpack(self, packed: np.ndarray) -> Columns:
        out = np.empty((self.width, packed.size), np.int64)
        kernels.unpack(packed, self._lows, self._shifts, out)
        return list(out)

    def _pack(self, columns: Columns) -> np.ndarray:
        shifted = (
            (column - low) << shift
            for column, low, shift in zip(columns, self._lows, self._shifts, strict=True)
        )
        return sum(shifted, np.zeros(len(columns[0]), np.int64))

    def _widen(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Pack anew with ranges that hold these rows too, and room to spare, so that this happens
        log-many times.
        """
        lows, highs = self._lows.copy(), self._highs.copy()
        kernels.bounds(rows, picks, lows, highs)
        if self._wide is not None or (
            np.array_equal(lows, self._lows) and np.array_equal(highs, self._highs)
        ):
            return  # another thread did it meanwhile
        every, fresh = self.columns(), self._unpack(self._fresh.rows())
        taken = [self._unpack(packed) for packed in self._taken]
        for column in range(self.width):
            low, high = int(lows[column]), int(highs[column])
            spare = (high - low) if high - low < 1 << 40 else 0
            lows[column] = max(low - (spare if low < self._lows[column] else 0), -(1 << 63))
            highs[column] = min(high + (spare if high > self._highs[column] else 0), (1 << 63) - 1)
        self._lows, self._highs = (
            lows,
            highs,
        )  # new arrays: packed rows that were taken keep those before
        self.release()
        self._taken, self._taken_count = [], 0
        self._fresh.clear()
        self._set_up()
        if self._wide is not None:
            for columns in taken:
                self._wide.add(np.array(columns), np.arange(self.width))
            self._wide.take_fresh()
            self._wide.add(np.array(fresh), np.arange(self.width))
            return
        self.add(np.array(every), np.arange(self.width))
        self._fresh.clear()
        self._taken = [self._pack(columns) for columns in taken]
        self._taken_count = sum(packed.size for packed in self._taken)
        self._fresh.note(self._pack(fresh))
