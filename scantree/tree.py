# SPDX-License-Identifier: Apache-2.0
"""The scan tree: a persistent, paged, ordered map from key tuples to value columns [LFTJ-IVM
3.1.1].

A `Tree` is one immutable version. `apply` makes the next one, sharing every page that the change
does not touch, so both stay readable and a change of δ rows costs O(δ (page + log n)), never O(n).
Keys and values are int64 columns; rows travel as lists of equally long arrays.

How it is kept: rows in leaf pages, column-wise; above them index pages that hold for every child
its page, its number of rows, its least key and aggregates (`page_kernels`). Pages are never changed
once a version has them (`apply_kernels`) and are freed when the last version that reaches them is
gone (`Arena`). Its readers are those of `TreeReading`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, starmap
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.apply_kernels import apply_in_room
from lftj.scantree.arena import Arena, Words
from lftj.scantree.build_kernels import (
    build_in_room,
    fill_leaves,
    fill_packed,
    load_fill,
    raise_levels,
    take_leaves,
    words_packed,
    words_to_load,
)
from lftj.scantree.columns import Columns, as_matrix
from lftj.scantree.diff_kernels import diff
from lftj.scantree.layout import make_layout
from lftj.scantree.page_kernels import (
    FAN_CAPACITY,
    HEADER,
    LEAF_CAPACITY,
    MAX_HEIGHT,
    PAGE_FAN,
    PAGE_ROWS,
    REFERENCES,
    discard,
)
from lftj.scantree.seek_kernels import END, rank
from lftj.scantree.sharing import SPAN, Span, spans
from lftj.scantree.tree_reading import TreeReading

_NO_COLUMNS: tuple[Words, ...] = ()
_Fill = Callable[[Words, Span], None]
"""Writes a part of the rows of a span to their leaves."""


def _words(column: NDArray[np.int64]) -> Words:
    return np.ascontiguousarray(column, np.int64)


class Tree(TreeReading):
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

        Many rows are written column by column: a matrix of them would take fresh memory.
        """
        columns = [*keys, *values] if len(values) else keys
        tree = cls.empty(arena, len(keys), len(values), **options)  # type: ignore[arg-type]
        return tree._load(columns)

    def _load(self, columns: Columns) -> Tree:
        lengths = {len(column) for column in columns}
        if len(lengths) == 1 and lengths.pop() >= 2 * SPAN:
            return self.with_columns([partial(_words, column) for column in columns])
        data = as_matrix(columns, len(columns))
        with self.arena.lock:
            return self._published(*self.arena.made_in_room(build_in_room, self.layout, data))

    def packed(self) -> Tree:
        """The same rows on pages as bulk load fills them: many small changes leave these half full.
        O(n).
        """
        empty = Tree(self.arena, self, 0, 0, 0)
        return empty._load(self.columns())

    @property
    def words_packed(self) -> int:
        """The words that `packed` takes."""
        return int(words_packed(self.layout, self.count))

    def overwrite(self, row: Sequence[int]) -> None:
        """Put another row in place of the only one. For trees of which nobody else has a version,
        and without values.
        """
        assert self.count == 1
        for column, code in enumerate(row):
            self.arena.memory[self.root + HEADER + column * PAGE_ROWS] = code

    def with_packed(self, rows: Words, lows: Words, widths: Words, dropped: Words) -> Tree:
        """The version with these rows, ascending, distinct and packed, of a tree without rows.
        O(n).

        A packed row has each column's distance from the least value, both without so many `dropped`
        low bits, in a field of so many bits, the first column's the highest.
        """
        if not rows.size:
            return self

        def fill(leaves: Words, span: Span) -> None:
            fill_packed(self.arena.memory, leaves, rows[slice(*span)], dropped, lows, widths)

        return self._filled(rows.size, [fill])

    def with_columns(
        self, columns: Sequence[Callable[[], Words]], places: Words | None = None
    ) -> Tree:
        """The version with the rows at these places of columns, or with all rows, ascending and
        distinct, of a tree without rows. Columns are asked for one after the other. O(n).
        """

        def filling(number: int, column: Callable[[], Words]) -> Iterator[_Fill]:
            values, memory = column(), self.arena.memory

            def fill(leaves: Words, span: Span) -> None:
                here = slice(*span)
                if places is None:
                    fill_leaves(memory, leaves, number, values[here], np.empty(0, np.int64))
                else:
                    fill_leaves(memory, leaves, number, values, places[here])

            yield fill

        rows = len(columns[0]()) if places is None else places.size
        fills = chain.from_iterable(starmap(filling, enumerate(columns)))
        return self._filled(rows, fills)

    def _filled(self, rows: int, fills: Iterable[_Fill]) -> Tree:
        """The version with so many rows, ascending and distinct, of a tree without rows; each of
        `fills` writes a part of them, one after the other, by all threads.
        """
        arena, fill = self.arena, int(load_fill(self.layout))
        with arena.lock:
            arena.sweep()
            arena.require(int(words_to_load(self.layout, rows)))
            memory, count = arena.memory, (rows + fill - 1) // fill
            leaves = np.zeros(count, np.int64)
            pieces = spans(count, arena.threads, SPAN // fill)
            try:
                take_leaves(memory, self.layout, rows, leaves)
                for write in fills:

                    def written(piece: Span, write: _Fill = write) -> None:
                        first, last = (rows * leaf // count for leaf in piece)
                        write(leaves[slice(*piece)], (first, last))

                    arena.threads.together(written, pieces)
            except BaseException:
                for leaf in filter(None, leaves.tolist()):
                    discard(memory, leaf)
                raise
            root, height = arena.made(raise_levels, self.layout, leaves, count, 0)
            return self._published(root, height, rows)

    def _published(self, root: int, height: int, count: int) -> Tree:
        """The version that was just made. Call with the lock held."""
        if height > MAX_HEIGHT:
            discard(self.arena.memory, root)
            raise OverflowError(
                f"a tree has at most {MAX_HEIGHT} index levels; these pages are too small for "
                f"{count} rows"
            )
        return Tree(self.arena, self, int(root), int(height), int(count))

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
            made = self.arena.made_in_room(
                apply_in_room, self.layout, self.root, self.height, added, removed
            )
            return self._published(*made)

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

    # ── as an object ──────────────────────────────────────────────────────────────────────────────
    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return (
            f"<Tree {self.count} rows, {self.key_width}+{self.value_width} columns, height "
            f"{self.height}>"
        )

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
