"""The rows of one relation during a fixpoint: is a candidate new, and which rows were new in this round.

Deduplication is where closures spend their time: a dense domain gets a bitmap (per leading key, a run of bits: Gustavson's accumulator), a
sparse one a hash table of packed rows, and one too wide to pack into 62 bits a hash table of whole rows.
"""

from __future__ import annotations

import numpy as np

from lftj.recursion import row_set_kernels as kernels
from lftj.recursion.packed_rows import Packed
from lftj.recursion.spare_tables import give_back, unfilled, zeroed
from lftj.recursion.wide_rows import WideRows
from partition.executor import ThreadExecutor

Columns = list[np.ndarray]

_DENSE_BITS = 1 << 28  # 32 MiB of bitmap are cheaper than any hash table
_DENSE_SHARE = 64  # beyond that, a bitmap at most this many times the rows
_PACKED_BITS = 62
_NARROW = (1 << 32) - 1  # packed rows below this fit into slots of half a word
_NO_ROOM = 1 << 10
_MANY = 1 << 20  # rows that are worth starting threads to sort them
_SAMPLE = 1000
_LARGE_TABLE = 2 << 20  # bytes beyond which a table grows more slowly: fewer caches hold it


def _in_range(packed: np.ndarray, pivots: np.ndarray, part: int) -> np.ndarray:
    """Which rows lie behind pivot number `part` − 1 and up to pivot number `part`."""
    inside = np.ones(packed.size, np.bool_)
    if part > 0:
        inside &= packed > pivots[part - 1]
    if part < pivots.size:
        inside &= packed <= pivots[part]
    return inside


class RowSet:
    """A set of rows of `width` columns. `add` candidates; `take_fresh` gives those that were new since the last call."""

    def __init__(self, width: int, lows: np.ndarray, highs: np.ndarray):
        """`lows` and `highs`: the ranges expected per column; they widen as needed."""
        self.width = width
        self.count = 0
        self._lows = lows.astype(np.int64)
        self._highs = np.maximum(highs.astype(np.int64), self._lows)
        self._fresh = np.empty(_NO_ROOM, np.int64)
        self._fresh_count = 0
        self._taken: list[np.ndarray] = []  # what take_fresh gave out, packed, one array a round
        self._wide: WideRows | None = None
        self._word: type[np.int64 | np.uint32] = np.int64  # of a slot
        self._bits: np.ndarray | None = None
        self._slots = np.empty(0, np.int64)
        self._set_up()

    # ── adding ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def add(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Add candidates: column i of a row is `rows[picks[i]]`. O(n) expected."""
        if self._wide is not None:
            self._wide.add(rows, picks)
            self.count = self._wide.count
            return
        first = 0
        while first < rows.shape[1]:
            self._make_room(rows.shape[1] - first)
            common = (rows, first, picks, self._lows, self._highs, self._shifts)
            if self._bits is not None:
                first, fresh, _ = kernels.add_dense(*common, self._bits, self._fresh, self._fresh_count)
            else:
                first, fresh, _ = kernels.add_sparse(*common, self._slots, self._shift, self._fresh, self._fresh_count)
            self.count += fresh - self._fresh_count
            self._fresh_count = fresh
            if first < rows.shape[1]:
                self._widen(rows[:, first:], picks)
                if self._wide is not None:
                    self.add(rows[:, first:], picks)
                    return

    def take_fresh(self, ordered: bool = False) -> Columns:
        """The rows that were new since the last call, in ascending order if asked for."""
        if self._wide is not None:
            return self._wide.take_fresh(ordered)
        return self._unpack(self._take(ordered))

    def take_packed(self, ordered: bool = False) -> Packed | None:
        """As `take_fresh`, but packed; None, and nothing is taken, when rows are too wide for that."""
        if self._wide is not None:
            return None
        return Packed(self._take(ordered), self._lows, self._shifts, self._widths, ordered)

    def packed(self, but: int) -> Packed | None:
        """What all calls of `take_…` gave out, but for so many of the last; None as `take_packed`. O(rows)."""
        if self._wide is not None:
            return None
        words = np.concatenate([*self._taken[: len(self._taken) - but], self._fresh[:0]])
        return Packed(words, self._lows, self._shifts, self._widths, False)

    def _take(self, ordered: bool) -> np.ndarray:
        packed = self._fresh[: self._fresh_count].copy()
        if ordered:
            packed.sort()
        self._fresh_count = 0
        self._taken.append(packed)
        return packed

    def columns(self, threads: ThreadExecutor | None = None) -> Columns:
        """All rows, sorted; many of them by these threads."""
        if self._wide is not None:
            return self._wide.columns()
        buffer = unfilled(sum(taken.size for taken in self._taken) + self._fresh_count)
        packed = np.concatenate([*self._taken, self._fresh[: self._fresh_count]], out=buffer)
        if threads is None or threads.workers == 1 or packed.size < _MANY:
            packed.sort()
            columns = self._unpack(packed)
        else:
            columns = self._sorted_on(threads, packed)
        give_back(buffer)
        return columns

    def _sorted_on(self, threads: ThreadExecutor, packed: np.ndarray) -> Columns:
        """The columns of packed rows, each thread sorting and unpacking those of one range."""
        pivots = np.quantile(packed[:: packed.size // _SAMPLE], np.arange(1, threads.workers) / threads.workers).astype(np.int64)
        parts = list(threads.map(lambda part: np.sort(packed[_in_range(packed, pivots, part)]), range(threads.workers)))
        ends = np.cumsum([0, *(part.size for part in parts)])
        out = np.empty((self.width, packed.size), np.int64)

        def unpack(part: int) -> None:
            kernels.unpack(parts[part], self._lows, self._shifts, out[:, ends[part] : ends[part + 1]])

        list(threads.map(unpack, range(threads.workers)))
        return list(out)

    def release(self) -> None:
        """Give back the hash table, for others to use: no more rows are added without a new one."""
        slots, self._slots = self._slots, np.empty(0, np.int64)  # let go first: an interrupt in between must not give it back twice
        give_back(slots)

    # ── how rows are kept ─────────────────────────────────────────────────────────────────────────────────────────────
    def _set_up(self) -> None:
        """Shifts and an empty table for the present ranges."""
        bits = tuple((int(high) - int(low)).bit_length() for low, high in zip(self._lows, self._highs, strict=True))
        self._widths = bits
        if sum(bits) > _PACKED_BITS:
            self._wide = WideRows(self.width)
            return
        self._shifts = np.array([sum(bits[column + 1 :]) for column in range(self.width)], np.int64)
        if 1 << sum(bits) <= max(_DENSE_BITS, _DENSE_SHARE * self.count):
            self._bits = np.zeros(((1 << sum(bits)) >> 6) + 1, np.int64)
            return
        self._bits = None
        most = sum((int(high) - int(low)) << int(shift) for low, high, shift in zip(self._lows, self._highs, self._shifts, strict=True))
        self._word = np.uint32 if most < _NARROW else np.int64
        self._resize(1 << 12)

    def _resize(self, slots: int) -> None:
        self.release()
        self._shift = 64 - (slots.bit_length() - 1)
        self._slots = zeroed(slots, self._word)
        for rows in (*self._taken, self._fresh[: self._fresh_count]):
            kernels.fill(rows, self._slots, self._shift)

    def _make_room(self, more: int) -> None:
        needed = self._fresh_count + more
        if needed > self._fresh.size:
            grown = np.empty(max(needed, 2 * self._fresh.size), np.int64)
            grown[: self._fresh_count] = self._fresh[: self._fresh_count]
            self._fresh = grown
        if self._bits is None and 5 * (self.count + more) > 3 * self._slots.size:
            growth = (8 if self._slots.nbytes < _LARGE_TABLE else 4) * 8 // self._slots.itemsize
            self._resize(1 << (growth * (self.count + more)).bit_length() - 1)

    def _unpack(self, packed: np.ndarray) -> Columns:
        out = np.empty((self.width, packed.size), np.int64)
        kernels.unpack(packed, self._lows, self._shifts, out)
        return list(out)

    def _pack(self, columns: Columns) -> np.ndarray:
        shifted = ((column - low) << shift for column, low, shift in zip(columns, self._lows, self._shifts, strict=True))
        return sum(shifted, np.zeros(len(columns[0]), np.int64))

    def _widen(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Pack anew with ranges that hold these rows too, and room to spare, so that this happens log-many times."""
        every, fresh = self.columns(), self._unpack(self._fresh[: self._fresh_count])
        taken = [self._unpack(packed) for packed in self._taken]
        lows, highs = self._lows.copy(), self._highs.copy()
        kernels.bounds(rows, picks, lows, highs)
        for column in range(self.width):
            low, high = int(lows[column]), int(highs[column])
            spare = (high - low) if high - low < 1 << 40 else 0
            lows[column] = max(low - (spare if low < self._lows[column] else 0), -(1 << 63))
            highs[column] = min(high + (spare if high > self._highs[column] else 0), (1 << 63) - 1)
        self._lows, self._highs = lows, highs  # new arrays: packed rows that were taken keep those before
        self.release()
        self._taken, self._fresh_count = [], 0
        self._set_up()
        if self._wide is not None:
            for columns in taken:
                self._wide.add(np.array(columns), np.arange(self.width))
            self._wide.take_fresh()
            self._wide.add(np.array(fresh), np.arange(self.width))
            return
        self.count = 0
        self.add(np.array(every), np.arange(self.width))
        self._taken = [self._pack(columns) for columns in taken]
        self._fresh_count = len(fresh[0])
        self._fresh[: self._fresh_count] = self._pack(fresh)
