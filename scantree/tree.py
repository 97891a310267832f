"""The scan tree: a persistent, paged, ordered map from key tuples to value columns [LFTJ-IVM
3.1.1].

A `Tree` is one immutable version. `apply` makes the next one, sharing every page that the change
does not touch, so both stay readable and a change of δ rows costs O(δ (page + log n)), never O(n).
Keys and values are int64 columns; rows travel as lists of equally long arrays.

How it is kept: rows in leaf pages, column-wise; above them index pages that hold for every child
its page, its number of rows, its least key and aggregates (`page_kernels`). Pages are never changed
once a version has them (`apply_kernels`) and are freed when the last version that reaches them is
gone (`Arena`). Readers walk by positions that pack a whole path (`seek_kernels`) or by cursors
(`cursor_kernels`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from scantree.apply_kernels import apply as apply_changes
from scantree.arena import Arena, Words
from scantree.build_kernels import build, build_packed
from scantree.columns import Columns, as_matrix
from scantree.diff_kernels import diff
from scantree.layout import load_fill, make_layout, words_to_change, words_to_load
from scantree.monoid import COUNT, Aggregate, Monoid
from scantree.page_kernels import (
    FAN_CAPACITY,
    LEAF_CAPACITY,
    MAX_HEIGHT,
    PAGE_FAN,
    PAGE_ROWS,
    REFERENCES,
    WORDS_IN_USE,
    discard,
)
from scantree.read_kernels import look_up, position_of, read_edges, read_evenly, read_rows
from scantree.reorder_kernels import survey_leaves
from scantree.scan import scan_column, scan_monoid
from scantree.seek_kernels import END, lower_bound, rank

_NO_COLUMNS: tuple[Words, ...] = ()
A = TypeVar("A")


class Tree:
    """One version of an ordered map. Make it with `Tree.build` or `Tree.empty`; change it with
    `apply`.

    `aggregates`: (operator, column) pairs, operator `sum`, `min` or `max`; index pages keep ⊕ over
    the rows below each child for them.
    """

    __slots__ = (
        "__weakref__",
        "_bury",
        "aggregates",
        "arena",
        "count",
        "height",
        "key_width",
        "layout",
        "root",
        "value_width",
    )

    def __init__(self, arena: Arena, like: Tree | None, root: int, height: int, count: int) -> None:
        """For this module: use `build`, `empty` or `apply`. Takes over no reference: adds its own
        to `root`.
        """
        self.arena = arena
        self.height = height
        self.count = count
        if like is not None:
            self.layout, self.key_width, self.value_width = (
                like.layout,
                like.key_width,
                like.value_width,
            )
            self.aggregates = like.aggregates
        if root:
            arena.memory[root + REFERENCES] += 1
        self.root = root
        if root:  # last: from here on the reference is given back when the tree goes
            self._bury = partial(arena.bury, root)

    # Nothing here runs in the interpreter, which would take the chance to handle a Ctrl-C and lose
    # it: finalizers do not raise. There is nothing to call, and nothing happens, where a tree is
    # empty or making it failed.
    __del__ = property(attrgetter("_bury"))

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
        """A tree without rows. Small `leaf_capacity` (≥ 4) and `fan` (≥ 4) make deep trees of few
        rows, for tests.
        """
        layout = make_layout(key_width, value_width, tuple(aggregates), leaf_capacity, fan)
        tree = cls(arena, None, 0, 0, 0)
        tree.key_width = key_width
        tree.value_width = value_width
        tree.aggregates = (
            tuple((operator, column) for operator, column in aggregates) if aggregates else ()
        )
        tree.layout = layout
        return tree

    @classmethod
    def build(
        cls, arena: Arena, keys: Columns, values: Columns = _NO_COLUMNS, **options: object
    ) -> Tree:
        """A tree of rows whose keys are sorted and distinct (not checked). O(n). `options` as in
        `empty`.
        """
        data = as_matrix([*keys, *values] if len(values) else keys, len(keys) + len(values))
        return cls.empty(arena, len(keys), len(values), **options)._load(data)  # type: ignore[arg-type]

    def _load(self, data: NDArray[np.int64]) -> Tree:
        with self.arena.lock:
            self.arena.sweep()
            self.arena.require(words_to_load(self.layout, data.shape[1]))
            root, height = self.arena.made(build, self.layout, data, load_fill(self.layout))
            return self._published(root, height, data.shape[1])

    def with_packed(self, rows: Words, lows: Words, widths: Words, dropped: Words) -> Tree:
        """The version with these rows, ascending, distinct and packed, of a tree without rows.
        O(n).

        A packed row has each column's distance from the least value, both without so many `dropped`
        low bits, in a field of so many bits, the first column's the highest.
        """
        if not rows.size:
            return self
        with self.arena.lock:
            self.arena.sweep()
            self.arena.require(words_to_load(self.layout, rows.size))
            root, height = self.arena.made(
                build_packed, self.layout, rows, dropped, lows, widths, load_fill(self.layout)
            )
            return self._published(root, height, rows.size)

    def _published(self, root: int, height: int, count: int) -> Tree:
        """The version that was just made. Call with the lock held."""
        if height > MAX_HEIGHT:
            discard(self.arena.memory, root)
            raise OverflowError(
                f"a tree has at most {MAX_HEIGHT} index levels; these pages are too small for "
                f"{count} rows"
            )
        return Tree(self.arena, self, root, height, int(count))

    def apply(self, inserts: Columns = _NO_COLUMNS, erases: Columns = _NO_COLUMNS) -> Tree:
        """The next version: `erases` (key columns) gone, `inserts` (key and value columns) there.
        Both sorted and distinct (not checked).

        Inserting a present key overwrites its values; erasing an absent one does nothing; a key in
        both ends up inserted. O(δ (page + log n)) for δ changes.
        """
        added, removed = (
            as_matrix(inserts, self.key_width + self.value_width),
            as_matrix(erases, self.key_width),
        )
        if added.shape[1] + removed.shape[1] == 0:
            return self
        if self.root == 0:
            return self._load(added)
        with self.arena.lock:
            self.arena.sweep()
            memory = self.arena.memory
            self.arena.require(
                words_to_change(
                    self.layout,
                    self.height,
                    added.shape[1],
                    removed.shape[1],
                    int(memory[WORDS_IN_USE]),
                )
            )
            root, height = self.arena.made(
                apply_changes, self.layout, self.root, self.height, added, removed
            )
            return self._published(root, height, rank(memory, root, height, END))

    def without_values(self) -> Tree:
        """The keys alone, as a tree that shares every page with this one. O(1).

        Whatever is read or changed goes by the key columns; pages that a change makes have no room
        for values, the others keep theirs. ValueError for a tree with aggregates.
        """
        if not self.value_width:
            return self
        if self.aggregates:
            raise ValueError(f"{self!r} keeps aggregates, which its keys alone would not have")
        capacity, fan = int(self.layout[LEAF_CAPACITY]), int(self.layout[FAN_CAPACITY])
        like = Tree.empty(self.arena, self.key_width, leaf_capacity=capacity, fan=fan)
        with self.arena.lock:
            return Tree(self.arena, like, self.root, self.height, self.count)

    def version(self, root: int, height: int) -> Tree:
        """The version of this tree that a kernel made, at this root (0: without rows). Call with
        the arena's lock held.
        """
        return Tree(
            self.arena,
            self,
            root,
            height,
            int(rank(self.arena.memory, root, height, END)) if root else 0,
        )

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return (
            f"<Tree {self.count} rows, {self.key_width}+{self.value_width} columns, height "
            f"{self.height}>"
        )

    def _position(self, bound: Sequence[int] | None, otherwise: int) -> int:
        if self.root == 0:
            return END
        if bound is None:
            return otherwise
        key = np.array(bound, np.int64).reshape(-1, 1)
        return int(lower_bound(self.arena.memory, self.root, self.height, self.layout, key, 0))

    def ends_before(self, key: Sequence[int]) -> bool:
        """Check that all rows come before this key, or prefix of one. O(log n)."""
        return self._position(key, END) == END

    def positions(
        self, low: Sequence[int] | None, high: Sequence[int] | None
    ) -> tuple[int, int, int]:
        """Positions of the first row >= low and the first >= high, and the number of
        rows between.
        """
        first, last = self._position(low, 0), self._position(high, END)
        memory = self.arena.memory
        rows = (
            rank(memory, self.root, self.height, last) - rank(memory, self.root, self.height, first)
            if first < last
            else 0
        )
        return first, last, int(rows)

    def range(
        self,
        low: Sequence[int] | None = None,
        high: Sequence[int] | None = None,
        *,
        only: Sequence[int] | None = None,
    ) -> list[Words]:
        """Key and value columns of the rows with low <= key < high, or those at the positions
        `only`. O(log n + rows).

        Bounds may be prefixes of a key, None is open.
        """
        first, last, rows = self.positions(low, high)
        picks = (
            np.arange(self.key_width + self.value_width)
            if only is None
            else np.array(only, np.int64)
        )
        out = np.empty((len(picks), rows), np.int64)
        if rows:
            read_rows(self.arena.memory, self.root, self.height, first, last, picks, out)
        return list(out)

    def columns(self, only: Sequence[int] | None = None) -> list[Words]:
        """All rows, as key columns then value columns, or the columns at the positions `only`.
        O(n).
        """
        return self.range(only=only)

    def blocks(
        self, rows: int, only: Sequence[int], first: int = 0, last: int | None = None
    ) -> Iterator[NDArray[np.int64]]:
        """The rows numbered [first, last), by default all, in order and so many at a time: matrices
        of the columns at the positions `only`, each in the place of the one before. O(n).
        """
        left = (self.count if last is None else last) - first
        picks, position = np.array(only, np.int64), 0
        if first and left:
            position = int(position_of(self.arena.memory, self.root, self.height, first))
        room = np.empty(len(picks) * min(rows, left), np.int64)
        while left:
            block = room[: len(picks) * min(rows, left)].reshape(len(picks), min(rows, left))
            position = int(
                read_rows(self.arena.memory, self.root, self.height, position, END, picks, block)
            )
            left -= block.shape[1]
            yield block

    def extremes(self, only: Sequence[int]) -> list[tuple[int, int]]:
        """The least and the greatest value in each of the columns at these positions; no rows have
        none. O(n), without copying.
        """
        if not self.count:
            return []
        picks = np.array(only, np.int64)
        lows, highs = np.empty((2, len(picks)), np.int64)
        survey_leaves(
            self.arena.memory, self.root, self.height, picks, np.zeros_like(picks), lows, highs
        )
        return list(zip(lows.tolist(), highs.tolist(), strict=True))

    def sample(self, rows: int, *, behind: int = 0) -> list[Words]:
        """About `rows` rows at equal distances, all of them when there are no more; or those so
        many rows `behind` each of them.

        O(rows · log n).
        """
        if self.count <= rows:
            return [column[behind:] for column in self.columns()]
        out = np.empty((self.key_width + self.value_width, rows), np.int64)
        read_evenly(self.arena.memory, self.root, self.height, self.count, behind, out)
        return list(out)

    def seek_lub(self, key: Sequence[int]) -> tuple[int, ...] | None:
        """The first row (key and values) whose key is >= `key`, or None. O(log n)."""
        position = self._position(key, 0)
        if position == END:
            return None
        out = np.empty((self.key_width + self.value_width, 1), np.int64)
        read_rows(
            self.arena.memory,
            self.root,
            self.height,
            position,
            position + 1,
            np.arange(len(out)),
            out,
        )
        return tuple(out[:, 0].tolist())

    def edge_rows(
        self, prefixes: Columns, *, last: bool = False
    ) -> tuple[NDArray[np.bool_], list[Words], int]:
        """Find for each key prefix the first row (or the last) that begins with it: a mask, its
        columns, and the pages opened.

        `prefixes` are columns, or a matrix of columns × rows, which may have no columns: the first
        row of all. O(log n) each.
        """
        prefix = as_matrix(prefixes, len(prefixes))
        found = np.zeros(prefix.shape[1], np.bool_)
        out = np.zeros((self.key_width + self.value_width, prefix.shape[1]), np.int64)
        pages = (
            read_edges(
                self.arena.memory, self.root, self.height, self.layout, prefix, last, found, out
            )
            if self.root
            else 0
        )
        return found, list(out), int(pages)

    def lookup(self, keys: Columns) -> tuple[NDArray[np.bool_], list[Words]]:
        """Look up key tuples: a mask of those that are there, and their values (0 for the others).
        O(log n) each, in any order.
        """
        key = as_matrix(keys, self.key_width)
        found = np.zeros(key.shape[1], np.bool_)
        values = np.zeros((self.value_width, key.shape[1]), np.int64)
        look_up(self.arena.memory, self.root, self.height, self.layout, key, found, values)
        return found, list(values)

    def contains(self, keys: Columns) -> NDArray[np.bool_]:
        """Mark the key tuples that are there."""
        return self.lookup(keys)[0]

    @overload
    def scan(
        self, what: Monoid[A], low: Sequence[int] | None = None, high: Sequence[int] | None = None
    ) -> A: ...
    @overload
    def scan(
        self, what: Aggregate, low: Sequence[int] | None = None, high: Sequence[int] | None = None
    ) -> int | None: ...
    def scan(
        self,
        what: Monoid[A] | Aggregate,
        low: Sequence[int] | None = None,
        high: Sequence[int] | None = None,
    ) -> A | int | None:
        """a₁ ⊕ … ⊕ aₘ over the rows with low <= key < high, in order. O(log n) pages.

        An `Aggregate` must be one that the tree keeps, or `COUNT`; least and greatest of no rows
        are None. A `Monoid` is asked once for each new page and after that only for the two ends of
        the range.
        """
        first, last, rows = self.positions(low, high)
        if isinstance(what, Monoid):
            return scan_monoid(self, what, first, last)
        return rows if what == COUNT else scan_column(self, what, first, last)

    # ── comparing versions ────────────────────────────────────────────────────────────────────────
    def diff(self, old: Tree) -> tuple[list[Words], list[Words]]:
        """Rows that this version has and `old` has not, and the reverse: (inserted, erased), keys
        and values in order of keys.

        A key whose values changed is on both sides. O(δ (page + log n)) when one came from the
        other, O(n + m) for unrelated trees.
        """
        return self.diff_pages(old)[:2]

    def diff_pages(self, old: Tree) -> tuple[list[Words], list[Words], int]:
        """`diff`, and the number of pages that it opened."""
        if self.arena is not old.arena or (self.key_width, self.value_width) != (
            old.key_width,
            old.value_width,
        ):
            raise ValueError(
                f"{self!r} and {old!r} cannot be compared: other columns or another arena"
            )
        memory = self.arena.memory
        inserted, added, erased, removed, pages = diff(
            memory, self.layout, self.root, self.height, old.root, old.height
        )
        return list(inserted[:, :added]), list(erased[:, :removed]), int(pages)
