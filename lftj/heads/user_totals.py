# SPDX-License-Identifier: Apache-2.0
"""The kept state of a user's aggregate with an inverse: a total per group, any Python object
[LFTJ-IVM 2.3].

A tree holds for each group the number of a slot, and the slots, a list that is only ever added to,
hold the totals. So versions share the list, and what a failed commit added is never seen. When most
slots are of the past, the next change starts a new list: O(1) a change on average.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np

from lftj.frames.out import to_values
from lftj.heads.aggregate_shape import CallShape
from lftj.heads.kept import Advance, GroupChange
from lftj.heads.user import UserAggregate
from lftj.scantree import Arena, Tree, after_prefix
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import distinct_values
from lftj.types.dictionary import Dictionary

# Totals by the numbers of their slots: a list that is only ever added to, of which the first may
# lie in a tree.
#
# A total is any Python object. One that is a tuple of integers, each of so many words at most, can
# be put into a tree, a row for each word that is not 0: so totals are stored as pages are, and read
# where someone looks at them.

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
        read = self._read(distinct_values(early))
        return [
            read[place] if place < self._first else self._added[place - self._first]
            for place in places.tolist()
        ]

    def in_tree(self, arena: Arena, widths: Widths) -> tuple[Tree, int]:
        """A tree with all totals, and how many these are. O(totals since the last call). Raises
        OverflowError for one that is too large.
        """
        count = len(self)
        tree = Tree.empty(arena, 2, 1) if self._tree is None else self._tree
        rows = _rows(
            self._added[self._in_tree - self._first : count - self._first], self._in_tree, widths
        )
        if len(rows[0]):
            tree = (
                tree.apply(rows, [column[:0] for column in rows[:2]])
                if tree.count
                else Tree.build(arena, rows[:2], rows[2:])
            )
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
        return {
            place: _total(numbers, words, self._widths)
            for place, (numbers, words) in zip(places.tolist(), pieces, strict=True)
        }


def _rows(totals: Sequence[tuple[int, ...]], first: int, widths: Widths) -> list[np.ndarray]:
    """Columns slot, number and word of all words that are not 0, sorted. Behind the words of a
    number comes 1 where it is below 0.
    """
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
        value = (
            sum((known.get(base + word, 0) & _MASK) << _WORD * word for word in range(width))
            if known
            else 0
        )
        total.append(-value if base + width in known else value)
        base += width + 1
    return tuple(total)


_FEW_SLOTS = 1024
_FEW = 16
"""Rows that are sooner lifted one by one than made of whole columns."""


@frozen(slots=True)
class UserTotals:
    """Totals of one call of `aggregate`: a tree from group to slot."""

    call: CallShape
    aggregate: UserAggregate
    dictionary: Dictionary
    tree: Tree
    slots: Slots = field(default_factory=Slots)

    @staticmethod
    def empty(
        arena: Arena, call: CallShape, aggregate: UserAggregate, dictionary: Dictionary, width: int
    ) -> UserTotals:
        """No groups; `width` is the number of group columns, at least 1."""
        return UserTotals(call, aggregate, dictionary, Tree.empty(arena, width, 1))

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes of the groups and slots; what the totals themselves take is the user's to know."""
        return {
            f"totals of {self.aggregate.name}": 8 * len(self.tree) * (self.tree.key_width + 1)
            + 8 * len(self.slots)
        }

    def advanced(self, change: GroupChange) -> Advance:
        """Combines each group's total with the inverse of what went and with what came."""
        state = self._compacted() if len(self.slots) > max(_FEW_SLOTS, 2 * len(self.tree)) else self
        found, (places,) = state.tree.lookup(change.groups)
        slots, aggregate = state.slots, self.aggregate
        known = iter(slots.take(places[found]))
        totals = [next(known) if there else aggregate.zero for there in found.tolist()]
        self._combine(totals, change)
        alive = change.sizes > 0
        fresh = np.arange(len(slots), len(slots) + len(totals))
        slots.extend(totals)
        change.work.count(state.tree, 2 * len(totals))
        tree = state.tree.apply([*change.groups[:, alive], fresh[alive]], change.groups[:, ~alive])
        advanced = UserTotals(self.call, aggregate, self.dictionary, tree, slots)
        return Advance(advanced, [], lambda call: self._published(totals, change))

    def _combine(self, totals: list[Any], change: GroupChange) -> None:
        """Brings totals forward, in each group erases first."""
        aggregate, columns = self.aggregate, [change.column(arg) for arg in self.call.args]
        if len(change.net) > _FEW:
            moves = aggregate.runs(columns, change.net, change.starts)
            if moves is not None:
                totals[:] = map(aggregate.combine, totals, moves)
                return
        args = [
            to_values(type, column, self.dictionary)
            for column, type in zip(columns, self.call.types, strict=True)
        ]
        rows = list(zip(*args, strict=True)) if args else [()] * len(change.net)
        groups = np.searchsorted(change.starts, np.arange(len(rows)), side="right") - 1
        for row in np.lexsort((change.net > 0, groups)).tolist():
            group = int(groups[row])
            try:
                moved = aggregate.repeated(aggregate.lift(*rows[row]), int(change.net[row]))
                totals[group] = aggregate.combine(totals[group], moved)
            except Exception as problem:
                raise aggregate.error_of(problem, change.name(group))  # noqa: B904 — it knows its cause

    def _published(self, totals: list[Any], change: GroupChange) -> np.ndarray:
        alive = np.flatnonzero(change.sizes).tolist()
        return self.aggregate.published(
            ((group, partial(totals.__getitem__, group)) for group in alive),
            len(totals), self.call.result, self.dictionary, change.name,
        )  # fmt: skip

    def _compacted(self) -> UserTotals:
        """The same totals in a new list without those of the past. O(groups)."""
        *groups, places = self.tree.columns()
        slots = Slots()
        slots.extend(self.slots.take(places))
        tree = (
            Tree.build(self.tree.arena, groups, [np.arange(len(slots))])
            if len(slots)
            else self.tree
        )
        return UserTotals(self.call, self.aggregate, self.dictionary, tree, slots)
