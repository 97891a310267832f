"""Totals by the numbers of their slots: a list that is only ever added to, of which the first may lie in a tree.

A total is any Python object. One that is a tuple of integers, each of so many words at most, can be put into a tree, a row for each word
that is not 0: so totals are stored as pages are, and read where someone looks at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scantree import Arena, Tree, after_prefix

_WORD = 64
_MASK = (1 << _WORD) - 1
_ONE_BY_ONE = 50  # slots that are looked up take as long as so many that are read one after another

Widths = Sequence[int]
"""Words of each number of a total."""


class Slots:
    """Totals 0, 1, 2, …"""

    def __init__(self, tree: Tree | None = None, count: int = 0, widths: Widths = ()) -> None:
        """The first `count` lie in a tree that `in_tree` made."""
        self._tree, self._first, self._in_tree = tree, count, count
        self._widths = widths
        self._added: list[Any] = []

    def __len__(self) -> int:
        return self._first + len(self._added)

    def extend(self, totals: Iterable[Any]) -> None:
        """Add totals."""
        self._added.extend(totals)

    def take(self, places: np.ndarray) -> list[Any]:
        """The totals in some slots. O(places), and O(log n) for each that is read from a tree."""
        early = places[places < self._first]
        if not len(early):
            return [self._added[place - self._first] for place in places.tolist()]
        read = self._read(np.unique(early))
        return [read[place] if place < self._first else self._added[place - self._first] for place in places.tolist()]

    def in_tree(self, arena: Arena, widths: Widths) -> tuple[Tree, int]:
        """A tree with all totals, and how many these are. O(totals since the last call). Raises OverflowError for one that is too large."""
        count = len(self)
        tree = Tree.empty(arena, 2, 1) if self._tree is None else self._tree
        rows = _rows(self._added[self._in_tree - self._first : count - self._first], self._in_tree, widths)
        if len(rows[0]):
            tree = tree.apply(rows, [column[:0] for column in rows[:2]]) if tree.count else Tree.build(arena, rows[:2], rows[2:])
        self._tree, self._in_tree = tree, count
        return tree, count

    def _read(self, places: np.ndarray) -> dict[int, tuple[int, ...]]:
        tree = self._tree
        assert tree is not None
        if _ONE_BY_ONE * len(places) > self._first:
            slots, *rest = tree.columns()
            bounds = np.searchsorted(slots, [places, places + 1]).T.tolist()
            pieces = [[column[first:last] for column in rest] for first, last in bounds]
        else:
            pieces = [tree.range([place], after_prefix([place]))[1:] for place in places.tolist()]
        return {place: _total(numbers, words, self._widths) for place, (numbers, words) in zip(places.tolist(), pieces, strict=True)}


def _rows(totals: Sequence[tuple[int, ...]], first: int, widths: Widths) -> list[np.ndarray]:
    """Columns slot, number and word of all words that are not 0, sorted. Behind the words of a number comes 1 where it is below 0."""
    slots, numbers, words = [], [], []
    base = 0
    for position, width in enumerate(widths):
        for slot, total in enumerate(totals, first):
            value = total[position]
            if not value:
                continue
            found = np.frombuffer(abs(value).to_bytes(8 * width, "little"), "<i8")
            used = np.flatnonzero(found)
            sign = np.ones(int(value < 0), np.int64)
            numbers.append(np.append(base + used, sign * (base + width)))
            words.append(np.append(found[used], sign))
            slots.append(np.full(len(used) + len(sign), slot))
        base += width + 1
    if not slots:
        return [np.empty(0, np.int64)] * 3
    columns = [np.concatenate(pieces) for pieces in (slots, numbers, words)]
    order = np.lexsort(columns[1::-1])
    return [column[order] for column in columns]


def _total(numbers: np.ndarray, words: np.ndarray, widths: Widths) -> tuple[int, ...]:
    """The total with these words."""
    known = dict(zip(numbers.tolist(), words.tolist(), strict=True))
    total: list[int] = []
    base = 0
    for width in widths:
        value = sum((known.get(base + word, 0) & _MASK) << _WORD * word for word in range(width)) if known else 0
        total.append(-value if base + width in known else value)
        base += width + 1
    return tuple(total)
