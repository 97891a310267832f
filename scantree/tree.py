"""The scan tree: a persistent, paged, ordered map from key tuples to value columns [LFTJ-IVM 3.1.1].

A `Tree` is one immutable version. `apply` makes the next one, sharing every page that the change does not touch, so both stay readable and a
change of δ rows costs O(δ (page + log n)), never O(n). Keys and values are int64 columns; rows travel as lists of equally long arrays.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scantree.apply_kernels import apply as apply_changes
from scantree.arena import Arena, Words
from scantree.build_kernels import build
from scantree.page_kernels import HEADER, MAX, MIN, PAGE_FAN, PAGE_ROWS, REFERENCES, SUM
from scantree.read_kernels import look_up, read_ranks, read_rows
from scantree.seek_kernels import END, lower_bound, rank

Columns = Sequence[NDArray[np.int64]]

_OPERATORS = {"sum": SUM, "min": MIN, "max": MAX}
_FILL = 0.9  # of a leaf at bulk load: the first changes after a load then find room
_NO_COLUMNS: tuple[Words, ...] = ()


def _matrix(columns: Columns, width: int) -> NDArray[np.int64]:
    """`columns` as one array of shape width × n, without a copy when they already are one."""
    if isinstance(columns, np.ndarray) and columns.ndim == 2 and columns.dtype == np.int64 and columns.flags.c_contiguous:
        data = columns
    elif len(columns) == 0:
        data = np.empty((width, 0), np.int64)
    else:
        data = np.ascontiguousarray(np.vstack([np.asarray(column, np.int64) for column in columns]))
    if data.shape[0] != width:
        raise ValueError(f"{width} columns expected, {data.shape[0]} given")
    return data


class Tree:
    """One version of an ordered map. Make it with `Tree.build` or `Tree.empty`; change it with `apply`.

    `aggregates`: (operator, column) pairs, operator `sum`, `min` or `max`; index pages keep ⊕ over the rows below each child for them.
    """

    __slots__ = ("__weakref__", "aggregates", "arena", "count", "height", "key_width", "layout", "root", "value_width")

    def __init__(self, arena: Arena, like: Tree | None, root: int, height: int, count: int) -> None:
        """For this module: use `build`, `empty` or `apply`. Takes over no reference: adds its own to `root`."""
        self.arena = arena
        self.root = root
        self.height = height
        self.count = count
        if like is not None:
            self.layout, self.key_width, self.value_width = like.layout, like.key_width, like.value_width
            self.aggregates = like.aggregates
        if root:
            arena.memory[root + REFERENCES] += 1
            weakref.finalize(self, arena.bury, root).atexit = False

    @classmethod
    def empty(
        cls,
        arena: Arena,
        key_width: int,
        value_width: int = 0,
        *,
        aggregates: Sequence[tuple[str, int]] = (),
        leaf_capacity: int = PAGE_ROWS,
        fan: int = PAGE_FAN,
    ) -> Tree:
        """A tree without rows. Small `leaf_capacity` (≥ 4) and `fan` (≥ 4) make deep trees of few rows, for tests."""
        if key_width < 1:
            raise ValueError("a tree needs a key column; keep a relation without columns as one constant column")
        if not (4 <= leaf_capacity <= PAGE_ROWS and 4 <= fan <= PAGE_FAN):
            raise ValueError(f"leaf_capacity must be 4 … {PAGE_ROWS} and fan 4 … {PAGE_FAN}")
        tree = cls(arena, None, 0, 0, 0)
        tree.key_width = key_width
        tree.value_width = value_width
        tree.aggregates = tuple(aggregates)
        words = [key_width, key_width + value_width, leaf_capacity, fan, len(aggregates)]
        for operator, column in aggregates:
            if not 0 <= column < key_width + value_width:
                raise ValueError(f"no column {column} to aggregate")
            words += [_OPERATORS[operator], column]
        tree.layout = np.array(words, np.int64)
        return tree

    @classmethod
    def build(cls, arena: Arena, keys: Columns, values: Columns = _NO_COLUMNS, **options: object) -> Tree:
        """A tree of rows whose keys are sorted and distinct (not checked). O(n). `options` as in `empty`."""
        data = _matrix([*keys, *values] if len(values) else keys, len(keys) + len(values))
        return cls.empty(arena, len(keys), len(values), **options)._load(data)  # type: ignore[arg-type]

    def _load(self, data: NDArray[np.int64]) -> Tree:
        fill = max(1, int(int(self.layout[2]) * _FILL))
        with self.arena.lock:
            self.arena.sweep()
            self.arena.require(2 * self._page_words() * (data.shape[1] // fill + 2))
            root, height = build(self.arena.memory, self.layout, data, fill)
            return Tree(self.arena, self, int(root), int(height), data.shape[1])

    def _page_words(self) -> int:
        leaf = (self.key_width + self.value_width) * PAGE_ROWS
        return 2 * HEADER + leaf + (2 + self.key_width + len(self.aggregates)) * PAGE_FAN

    def apply(self, inserts: Columns = _NO_COLUMNS, erases: Columns = _NO_COLUMNS) -> Tree:
        """The next version: `erases` (key columns) gone, `inserts` (key and value columns) there. Both sorted and distinct (not checked).

        Inserting a present key overwrites its values; erasing an absent one does nothing; a key in both ends up inserted.
        O(δ (page + log n)) for δ changes.
        """
        added = _matrix(inserts, self.key_width + self.value_width)
        removed = _matrix(erases, self.key_width)
        changes = added.shape[1] + removed.shape[1]
        if changes == 0:
            return self
        if self.root == 0:
            return self._load(added)
        with self.arena.lock:
            self.arena.sweep()
            per_change = 2 + added.shape[1] // max(1, int(self.layout[2])) // changes
            self.arena.require((changes * per_change + 4) * (self.height + 2) * self._page_words())
            memory = self.arena.memory
            root, height = apply_changes(memory, self.layout, self.root, self.height, added, removed)
            count = int(rank(memory, root, height, END))
            return Tree(self.arena, self, int(root), int(height), count)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<Tree {self.count} rows, {self.key_width}+{self.value_width} columns, height {self.height}>"

    def _position(self, bound: Sequence[int] | None, otherwise: int) -> int:
        if self.root == 0:
            return END
        if bound is None:
            return otherwise
        key = np.array(bound, np.int64).reshape(-1, 1)
        return int(lower_bound(self.arena.memory, self.root, self.height, self.layout, key, 0))

    def _positions(self, low: Sequence[int] | None, high: Sequence[int] | None) -> tuple[int, int, int]:
        """Positions of the first row >= low and the first >= high, and the number of rows between."""
        first, last = self._position(low, 0), self._position(high, END)
        memory = self.arena.memory
        rows = rank(memory, self.root, self.height, last) - rank(memory, self.root, self.height, first) if first < last else 0
        return first, last, int(rows)

    def range(self, low: Sequence[int] | None = None, high: Sequence[int] | None = None) -> list[Words]:
        """Key and value columns of the rows with low <= key < high; bounds may be prefixes of a key, None is open. O(log n + rows)."""
        first, last, rows = self._positions(low, high)
        out = np.empty((self.key_width + self.value_width, rows), np.int64)
        if rows:
            read_rows(self.arena.memory, self.root, self.height, first, last, out)
        return list(out)

    def columns(self) -> list[Words]:
        """All rows, as key columns then value columns. O(n)."""
        return self.range()

    def sample(self, rows: int) -> list[Words]:
        """About `rows` rows at equal distances, all of them when there are no more. O(rows · log n)."""
        if self.count <= rows:
            return self.columns()
        out = np.empty((self.key_width + self.value_width, rows), np.int64)
        read_ranks(self.arena.memory, self.root, self.height, np.arange(rows) * self.count // rows, out)
        return list(out)

    def count_range(self, low: Sequence[int] | None = None, high: Sequence[int] | None = None) -> int:
        """Number of rows with low <= key < high. O(log n)."""
        return self._positions(low, high)[2]

    def seek_lub(self, key: Sequence[int]) -> tuple[int, ...] | None:
        """The first row (key and values) whose key is >= `key`, or None. O(log n)."""
        position = self._position(key, 0)
        if position == END:
            return None
        out = np.empty((self.key_width + self.value_width, 1), np.int64)
        read_rows(self.arena.memory, self.root, self.height, position, position + 1, out)
        return tuple(out[:, 0].tolist())

    def lookup(self, keys: Columns) -> tuple[NDArray[np.bool_], list[Words]]:
        """For each key tuple: whether it is there, and its values (0 where it is not). O(log n) each, in any order."""
        key = _matrix(keys, self.key_width)
        found = np.zeros(key.shape[1], np.bool_)
        values = np.zeros((self.value_width, key.shape[1]), np.int64)
        look_up(self.arena.memory, self.root, self.height, self.layout, key, found, values)
        return found, list(values)

    def contains(self, keys: Columns) -> NDArray[np.bool_]:
        """For each key tuple, whether it is there."""
        return self.lookup(keys)[0]
