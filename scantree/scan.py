# SPDX-License-Identifier: Apache-2.0
"""Scans: a₁ ⊕ … ⊕ aₘ over the rows of a range, in O(log n) combinations [LFTJ-IVM 3.1.1].

A range is a few whole subtrees, whose aggregates are known, and a part of at most two leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.arena import Arena
from lftj.scantree.monoid import Aggregate, Monoid
from lftj.scantree.page_kernels import ENTRIES, LEVEL, SLOT_BITS, index_column, leaf_column
from lftj.scantree.scan_kernels import scan_range
from lftj.scantree.seek_kernels import END

A = TypeVar("A")


class Scanned(Protocol):
    """The attributes of a tree that a scan reads."""

    arena: Arena
    layout: NDArray[np.int64]
    root: int
    height: int
    key_width: int
    value_width: int
    aggregates: Sequence[tuple[str, int]]


def scan_column(tree: Scanned, aggregate: Aggregate, first: int, last: int) -> int | None:
    """An aggregate that the tree keeps, over the rows at positions [first, last), some. O(page +
    fan · log n).
    """
    kept = (aggregate.operator, aggregate.column)
    if kept not in tree.aggregates:
        raise ValueError(
            f"this tree keeps no {kept[0]} of column {kept[1]}; build it with aggregates=[{kept}]"
        )
    if first >= last:
        return 0 if aggregate.operator == "sum" else None
    number = tree.aggregates.index(kept)
    operator = int(tree.layout[-2 * (len(tree.aggregates) - number)])
    return int(
        scan_range(
            tree.arena.memory,
            tree.layout,
            tree.root,
            tree.height,
            first,
            last,
            aggregate.column,
            number,
            operator,
        )
    )


def scan_monoid(tree: Scanned, monoid: Monoid[A], first: int, last: int) -> A:
    """A monoid's aggregate of the rows at positions [first, last). Combines what is new since the
    last scan, and O(page + fan · log n).
    """
    if first >= last:
        return monoid.zero
    stop = None if last == END else last
    return _Folder(tree, monoid).part(tree.root, tree.height, first, stop)


class _Folder(Generic[A]):
    """One scan of one tree: reads pages, folds them, and keeps what it made of whole ones."""

    def __init__(self, tree: Scanned, monoid: Monoid[A]) -> None:
        self.memory = tree.arena.memory
        self.width = tree.key_width + tree.value_width
        self.monoid = monoid
        self.cache = monoid.cache(tree.arena)

    def _words(self, base: int, first: int, last: int) -> list[int]:
        return self.memory[base + first : base + last].tolist()

    def _rows(self, leaf: int, first: int, last: int) -> A:
        bases = [leaf_column(leaf, column) for column in range(self.width)]
        if self.monoid.lift_rows is not None:
            return self.monoid.lift_rows(
                [self.memory[base + first : base + last] for base in bases]
            )
        columns = [self._words(base, first, last) for base in bases]
        return self.monoid.fold([self.monoid.lift(row) for row in zip(*columns, strict=True)])

    def whole(self, page: int) -> A:
        """The aggregate of a subtree, from the cache when its page was seen before."""
        kept = self.cache.get(page)
        if kept is not None:
            return kept[1]
        entries = int(self.memory[page + ENTRIES])
        if self.memory[page + LEVEL] == 0:
            aggregate = self._rows(page, 0, entries)
        else:
            aggregate = self.monoid.fold(
                [self.whole(child) for child in self._words(index_column(page, 0), 0, entries)]
            )
        self.cache.put(page, aggregate)
        return aggregate

    def part(self, page: int, level: int, low: int, high: int | None) -> A:
        """The aggregate of the rows of a subtree from `low` to before `high` (None: its end),
        positions counted from its first row.
        """
        entries = int(self.memory[page + ENTRIES])
        if low == 0 and high is None:
            return self.whole(page)
        if level == 0:
            return self._rows(page, low, entries if high is None else high)
        shift = SLOT_BITS * level
        inside = (1 << shift) - 1
        last = entries if high is None else high >> shift
        pieces = []
        for child in range(low >> shift, min(last + 1, entries)):
            start = low & inside if child == low >> shift else 0
            stop = high & inside if high is not None and child == last else None
            if stop != 0:
                below = int(self.memory[index_column(page, 0) + child])
                pieces.append(self.part(below, level - 1, start, stop))
        return self.monoid.fold(pieces)
