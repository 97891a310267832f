# SPDX-License-Identifier: Apache-2.0
"""Reading a scan tree: by bounds, by positions, by keys, and under an aggregate.

Readers walk by positions that pack a whole path (`seek_kernels`) or by cursors (`cursor_kernels`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.arena import Arena, Words
from lftj.scantree.columns import Columns, as_matrix
from lftj.scantree.diff_kernels import mark_differing
from lftj.scantree.monoid import COUNT, Aggregate, Monoid
from lftj.scantree.page_kernels import ENTRIES, index_column
from lftj.scantree.read_kernels import look_up, position_of, read_edges, read_numbered, read_rows
from lftj.scantree.reorder_kernels import survey_leaves
from lftj.scantree.scan import scan_column, scan_monoid
from lftj.scantree.seek_kernels import END, lower_bound, rank
from lftj.scantree.sharing import SPAN, Span, equal_spans, spans

A = TypeVar("A")

_AT_ONCE = 1 << 14
"""Rows that are made a matrix at once, in the cache, where the whole is none."""


class TreeReading:
    """The readers of one version of a tree. Nothing here changes it."""

    __slots__ = ()

    arena: Arena
    layout: NDArray[np.int64]
    root: int
    height: int
    count: int
    key_width: int
    value_width: int
    aggregates: Sequence[tuple[str, int]]

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
        O(n); the arena's threads help with many.
        """
        wanted = range(self.key_width + self.value_width) if only is None else only
        picks = np.array(wanted, np.int64)
        out, threads = np.empty((len(picks), self.count), np.int64), self.arena.threads
        parts = spans(self.count, threads) if self.count >= 2 * SPAN else ()
        if len(parts) < 2:
            if self.count:
                read_rows(self.arena.memory, self.root, self.height, 0, END, picks, out)
            return list(out)

        def read(span: Span) -> None:
            memory, root, height, (first, last) = self.arena.memory, self.root, self.height, span
            position = int(position_of(memory, root, height, first)) if first else 0
            for number in range(len(picks)):
                here = slice(number, number + 1)
                read_rows(memory, root, height, position, END, picks[here], out[here, first:last])

        threads.together(read, parts)
        return list(out)

    def differences(self, rows: Sequence[Words]) -> tuple[list[Words], list[Words]]:
        """Compare these rows, key columns, ascending and distinct, with the keys here: the rows
        that are missing here, and the keys that are not among the rows. O(n + m), without a copy of
        the tree's rows.
        """
        new, gone = np.zeros(len(rows[0]), np.bool_), np.zeros(self.count, np.bool_)
        position, number = 0 if self.root else END, 0
        for first in range(0, len(new), _AT_ONCE):
            here = slice(first, first + _AT_ONCE)
            part = as_matrix([column[here] for column in rows], len(rows))
            position, number = mark_differing(
                self.arena.memory, self.root, self.height, part, position, number, new[here], gone
            )
        gone[number:] = True
        places = np.flatnonzero(new)
        inserted = [column.take(places) for column in rows]
        return inserted, self.numbered(np.flatnonzero(gone), range(len(rows)))

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
        none. O(n), without copying; the arena's threads help with many.
        """
        if not self.count:
            return []
        picks, threads, memory = np.array(only, np.int64), self.arena.threads, self.arena.memory
        roots, height = np.array([self.root]), self.height
        tasks = len(spans(self.count, threads))
        if tasks > 1 and height:
            first = int(index_column(self.root, 0))
            roots = memory[first : first + int(memory[self.root + ENTRIES])]
            height -= 1

        def survey(span: Span) -> Words:
            found = np.empty((span[1] - span[0], 2, len(picks)), np.int64)
            for root, ends in zip(roots[slice(*span)].tolist(), found, strict=True):
                survey_leaves(memory, root, height, picks, np.zeros_like(picks), *ends)
            return found

        cuts = equal_spans(len(roots), min(len(roots), tasks))
        ends = np.concatenate(threads.together(survey, cuts))
        lows, highs = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
        return list(zip(lows.tolist(), highs.tolist(), strict=True))

    def sample(self, rows: int, *, behind: int = 0) -> list[Words]:
        """About `rows` rows at equal distances, all of them when there are no more; or those so
        many rows `behind` each of them.

        O(rows · log n).
        """
        if self.count <= rows:
            return [column[behind:] for column in self.columns()]
        numbers = np.arange(rows) * self.count // rows + behind
        return self.numbered(
            np.minimum(numbers, self.count - 1), range(self.key_width + self.value_width)
        )

    def numbered(self, numbers: Words, only: Sequence[int]) -> list[Words]:
        """The columns at the positions `only` of the rows with these numbers, from 0 and ascending.
        O(n · log) at most; the arena's threads help with many.
        """
        picks, threads = np.array(only, np.int64), self.arena.threads

        def read(span: Span) -> Words:
            out = np.empty((len(only), span[1] - span[0]), np.int64)
            some = numbers[slice(*span)]
            read_numbered(self.arena.memory, self.root, self.height, some, picks, out)
            return out

        found = threads.together(read, spans(numbers.size, threads))
        return list(found[0] if len(found) == 1 else np.concatenate(found, axis=1))

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
        self, prefixes: Columns, *, last: bool = False, alike: int | None = None
    ) -> tuple[NDArray[np.bool_], list[Words], int]:
        """Find for each key prefix the first row (or the last) that begins with it: a mask, its
        columns, and the pages opened. With `alike` the first row that is not before the prefix and
        has so many values of it.

        `prefixes` are columns, or a matrix of columns × rows, which may have no columns: the first
        row of all. O(log n) each.
        """
        prefix = as_matrix(prefixes, len(prefixes))
        found = np.zeros(prefix.shape[1], np.bool_)
        out = np.zeros((self.key_width + self.value_width, prefix.shape[1]), np.int64)
        pages = (
            read_edges(
                self.arena.memory,
                self.root,
                self.height,
                self.layout,
                prefix,
                len(prefix) if alike is None else alike,
                last,
                found,
                out,
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
