# SPDX-License-Identifier: Apache-2.0
"""States of groups by the groups' numbers: how many assignments each has, and what their columns
come to.

Sums are exact, and so may be put together in any order: integers in 128 bits, floats as two doubles
while these hold the whole sum. A value with which they would not is put aside, and added exactly in
the end. `GroupStates` are of one evaluation from nothing; a view keeps its groups as a `GroupState`
of `lftj.views.group_node`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from lftj.functions.aggregates import TOTALS
from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.ends import End, end_of
from lftj.heads.grouping_kernels import (
    add_extremes,
    add_floats,
    add_integers,
    add_missing,
    add_times,
)
from lftj.heads.integer_sum import Totals, grouped_totals
from lftj.heads.kept import Bag, GroupTotals
from lftj.heads.support import too_many
from lftj.heads.valued import missing_in
from lftj.heads.waiting_rows import ONCE
from lftj.scantree.columns import as_matrix
from lftj.scantree.frozen import record
from lftj.scantree.rows import equal_runs, locate, union
from lftj.storage.delta import Columns
from lftj.types import NULL_CODE, floats_to_codes

Total = tuple[str, int] | End
"""Totals of a column of the assignments, `integers` or `floats` and the column; or the row at an
end.
"""

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_ALL = np.zeros(1, np.int64)
"""Codes of rows that all have values."""
_SHORT = 2**31
"""Values nearer to 0 add up in an int64, 2³² of them."""


class StateLayout:
    """Words of a group's state: its number of assignments, then each total, then for each
    optional column that some aggregate takes the number of assignments with NULL there.
    """

    def __init__(self, shape: AggregateShape):
        kept: dict[Total, tuple[int, ...]] = {}
        for call in shape.calls:
            if call.function in TOTALS:
                kind = "floats" if call.types[0].name == "float" else "integers"
                kept[kind, call.args[0]] = call.optional
            elif (end := end_of(call)) is not None:
                kept[end] = call.optional
        self.optional = kept
        """The columns with whose NULL an assignment has no part in a total."""
        self.width = shape.width
        """Columns of a group."""
        self.places: dict[Total, int] = {}
        """The first word of each total."""
        words = [0]
        for call in kept:
            self.places[call] = len(words)
            words += _of_nothing(call) if isinstance(call, End) else [0, 0]
        optional = dict.fromkeys(call.optional for call in shape.calls if call.optional)
        self.missing = {columns: len(words) + place for place, columns in enumerate(optional)}
        """The word of each number of assignments with NULL."""
        words += [0] * len(optional)
        self.fresh = np.array(words, np.int64)
        """The state of a group without assignments."""


@record(slots=True)
class _Aside:
    """Values of groups that are added in the end."""

    groups: list[np.ndarray] = field(default_factory=list)
    codes: list[np.ndarray] = field(default_factory=list)
    counts: list[np.ndarray] = field(default_factory=list)

    def add(self, groups: np.ndarray, codes: np.ndarray, counts: np.ndarray) -> None:
        """Put values aside; nobody writes to the arrays afterwards."""
        self.groups.append(groups)
        self.codes.append(codes)
        self.counts.append(counts)

    def all(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All of them, of some at least."""
        groups, codes, counts = map(np.concatenate, (self.groups, self.codes, self.counts))
        return groups, codes, counts


class GroupStates:
    """Groups (`columns`, as columns × groups, with room for more than the `known[0]` there are) and
    their states (`words`).
    """

    def __init__(self, layout: StateLayout, columns: np.ndarray, known: int):
        self.layout, self.columns = layout, columns
        self.known = np.array([known])
        self.words = np.tile(layout.fresh, columns.shape[1])
        self.aside = {call: _Aside() for call in layout.places if call[0] == "floats"}

    @staticmethod
    def of_sorted(layout: StateLayout, rows: np.ndarray) -> GroupStates:
        """The groups of rows, a line for each column and one for their counts, which are sorted by
        them. O(n).
        """
        first = np.zeros(rows.shape[1], np.bool_)
        first[equal_runs(list(rows), layout.width)] = True
        columns = np.ascontiguousarray(rows[: layout.width, first])
        found = GroupStates(layout, columns, columns.shape[1])
        counts = ONCE if bool((rows[-1] == 1).all()) else rows[-1]
        found.add(np.cumsum(first) - 1, list(rows[:-1]), counts)
        return found

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.known[0])

    @property
    def groups(self) -> np.ndarray:
        """The groups there are, as columns × groups."""
        return self.columns[:, : self.count]

    @property
    def states(self) -> np.ndarray:
        """The states of the groups there are, a line for each."""
        stride = len(self.layout.fresh)
        return self.words[: self.count * stride].reshape(self.count, stride)

    def make_room(self, room: int) -> None:
        """Have room for so many groups."""
        columns = np.empty((self.layout.width, room), np.int64)
        columns[:, : self.count] = self.groups
        states = np.empty((room, len(self.layout.fresh)), np.int64)
        states[: self.count] = self.states
        states[self.count :] = self.layout.fresh
        self.columns, self.words = columns, states.reshape(-1)

    # ── adding ────────────────────────────────────────────────────────────────────────────────────
    def add(self, places: np.ndarray, columns: Sequence[np.ndarray], counts: np.ndarray) -> None:
        """Add rows to these groups, as often as `counts` has them, once where that is `ONCE`."""
        counts = np.ascontiguousarray(counts)
        times = None if counts is ONCE else counts
        if not self.layout.missing:
            self._count(places, counts)
        self._count_missing(places, columns, counts)
        for total, at in self.layout.places.items():
            if isinstance(total, End):
                self._add_end(total, at, places, columns)
            else:
                self._add(total, at, places, np.ascontiguousarray(columns[total[1]]), times)

    def take(self, other: GroupStates, places: np.ndarray) -> None:
        """Add the states of another's groups, in the order in which it has them, to these."""
        states = other.states
        self._count(places, states[:, 0].copy())
        for call, at in self.layout.places.items():
            first = states[:, at].copy()
            if isinstance(call, End):
                ends = np.ascontiguousarray(states[:, at : at + len(call.args)].T)
                held = self.words, len(self.layout.fresh)
                add_extremes(places, ends, *held, at, call.greatest, _ALL, False)
            elif call[0] == "integers":
                self._add_totals(at, places, _totals(first, states[:, at + 1]))
            else:
                for words in (first, states[:, at + 1]):
                    codes = floats_to_codes(words.copy().view(np.float64))
                    self._add(call, at, places, codes, None)
        for at in self.layout.missing.values():
            add_times(places, states[:, at].copy(), self.words, len(self.layout.fresh), at)
        self._take_aside(other, places)

    def _take_aside(self, other: GroupStates, places: np.ndarray) -> None:
        """Put aside what another has, whose groups are these here."""
        for call, aside in other.aside.items():
            for groups, codes, counts in zip(aside.groups, aside.codes, aside.counts, strict=True):
                self.aside[call].add(places[groups], codes, counts)

    def _count(self, places: np.ndarray, counts: np.ndarray) -> None:
        if not self.layout.width and counts.size == 1:
            counts = np.array([len(places) * int(counts[0])], np.int64)
            places = places[:1]
        if add_times(places, counts, self.words, len(self.layout.fresh), 0):
            raise too_many()

    def _count_missing(
        self, places: np.ndarray, columns: Sequence[np.ndarray], counts: np.ndarray
    ) -> None:
        """Count rows with NULL, and with the first columns that may have it all rows."""
        whole = True
        for optional, at in self.layout.missing.items():
            codes = missing_in([columns[column] for column in optional])
            held = self.words, len(self.layout.fresh)
            if add_missing(places, codes, counts, *held, at, whole):
                raise too_many()
            whole = False

    def _add(
        self,
        call: tuple[str, int],
        at: int,
        places: np.ndarray,
        values: np.ndarray,
        counts: np.ndarray | None,
    ) -> None:
        """Add a column of values, each once or as often as `counts` has it."""
        kind, words, stride = call[0], self.words, len(self.layout.fresh)
        null = call[1:] in self.layout.missing
        if null and counts is not None:
            there = values != NULL_CODE
            places, values, counts = places[there], values[there], counts[there]
        if kind == "integers" and counts is not None:
            rows = np.arange(len(values))
            self._add_totals(at, places, grouped_totals(values, counts, rows))
        elif kind == "integers":
            if not self.layout.width and _is_short(values):
                places, values = places[:1], values.sum(keepdims=True)
            add_integers(places, values, words, stride, at, null)
        elif counts is not None:
            self.aside[call].add(places.copy(), values.copy(), counts.copy())
        else:
            left = np.empty(len(values), np.int64)
            if many := int(add_floats(places, values, words, stride, at, null, left)):
                rows = left[:many]
                self.aside[call].add(places[rows], values[rows], np.ones(many, np.int64))

    def _add_end(
        self, end: End, at: int, places: np.ndarray, columns: Sequence[np.ndarray]
    ) -> None:
        """Let rows be the ends of their groups; those with NULL have no part in it."""
        rows, optional = as_matrix([columns[arg] for arg in end.args], len(end.args)), _ALL
        if optional_args := self.layout.optional[end]:
            optional = missing_in([columns[arg] for arg in optional_args])
        last = end.args[0] in optional_args and not end.greatest
        add_extremes(
            places, rows, self.words, len(self.layout.fresh), at, end.greatest, optional, last
        )

    def _add_totals(self, at: int, places: np.ndarray, totals: Totals) -> None:
        """Add totals to groups: high · 2⁶³ is (high // 2) · 2⁶⁴, and 2⁶³ where it is odd, which is
        2⁶⁴ − 2⁶³.
        """
        stride = len(self.layout.fresh)
        add_integers(places, totals.low, self.words, stride, at, False)
        odd = places[(totals.high & 1).astype(np.bool_)]
        least = np.full(len(odd), _INT64_MIN)
        add_integers(odd, least, self.words, stride, at, False)
        over = (totals.high >> 1) + (totals.high & 1)
        np.add.at(self.words, places * stride + at + 1, over)

    # ── in ascending order ────────────────────────────────────────────────────────────────────────
    def picked(self, order: np.ndarray) -> GroupStates:
        """The groups with these numbers, in this order, each once."""
        found = GroupStates(self.layout, self.columns[:, :0], len(order))
        found.columns, found.words = self.groups.take(order, axis=1), self.states[order].reshape(-1)
        place = np.full(self.count, -1)
        place[order] = np.arange(len(order))
        for call, aside in self.aside.items():
            if aside.groups:
                groups, codes, counts = aside.all()
                here = place[groups]
                among = here >= 0
                found.aside[call].add(here[among], codes[among], counts[among])
        return found

    @staticmethod
    def joined(parts: Sequence[GroupStates]) -> GroupStates:
        """The groups of some parts, one at least, each ascending and behind those before; two parts
        may share the group at which they meet.
        """
        whole = [parts[0]]
        for part in parts[1:]:
            last = whole[-1]
            if part.count and last.count and (part.groups[:, 0] == last.groups[:, -1]).all():
                last.take(part.picked(np.arange(1)), np.array([last.count - 1]))
                part = part.picked(np.arange(1, part.count))
            if part.count:
                whole.append(part)
        if len(whole) == 1:
            return whole[0]
        columns = np.concatenate([part.groups for part in whole], axis=1)
        found = GroupStates(parts[0].layout, columns[:, :0], columns.shape[1])
        found.columns = columns
        found.words = np.concatenate([part.states for part in whole]).reshape(-1)
        before = 0
        for part in whole:
            found._take_aside(part, np.arange(before, before + part.count))
            before += part.count
        return found

    def merged(self, other: GroupStates) -> GroupStates:
        """The groups of two that ascend, in ascending order."""
        for one, behind in ((self, other), (other, self)):
            if not one.count or (
                behind.count and one.groups[:, -1].tolist() <= behind.groups[:, 0].tolist()
            ):
                return GroupStates.joined([one, behind]) if one.count else behind
        groups: Columns = union(list(self.groups), list(other.groups))
        columns = np.ascontiguousarray(as_matrix(groups, self.layout.width))
        found = GroupStates(self.layout, columns, columns.shape[1])
        few, many = sorted((self, other), key=lambda part: part.count)
        found._put(many, locate(list(many.groups), list(columns))[0])
        found.take(few, locate(list(few.groups), list(columns))[0])
        return found

    def _put(self, other: GroupStates, places: np.ndarray) -> None:
        """Have the states of another's groups for these, which have no assignments yet."""
        self.states[places] = other.states
        self._take_aside(other, places)

    def totals(self) -> GroupTotals:
        """All groups, which ascend. O(n), and O(n log n) for values that were put aside."""
        states = self.states
        integers: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        floats: dict[int, Bag] = {}
        extremes: dict[End, Columns] = {}
        for call, at in self.layout.places.items():
            first = states[:, at].copy()
            if isinstance(call, End):
                extremes[call] = [states[:, at + n].copy() for n in range(len(call.args))]
            elif call[0] == "integers":
                integers[call[1]] = _totals(first, states[:, at + 1])
            else:
                floats[call[1]] = _bag(first, states[:, at + 1].copy(), self.aside[call])
        groups = self.groups if self.layout.width else np.zeros((1, self.count), np.int64)
        sizes = states[:, 0].copy()
        values = {columns: sizes - states[:, at] for columns, at in self.layout.missing.items()}
        return GroupTotals(groups, sizes, integers, floats, extremes, values)


def _of_nothing(end: End) -> list[int]:
    """The end of no rows, which every row takes the place of."""
    return [_INT64_MIN if end.greatest else _INT64_MAX] * len(end.args)


def _is_short(values: np.ndarray) -> bool:
    return bool(values.min() > -_SHORT and values.max() < _SHORT)


def _totals(low: np.ndarray, over: np.ndarray) -> Totals:
    """Totals low + over · 2⁶⁴ in canonical form."""
    return Totals((low >> 63) + 2 * over, low & _INT64_MAX)


def _bag(most: np.ndarray, rest: np.ndarray, aside: _Aside) -> Bag:
    """Bags of the groups in order."""
    groups, floats = len(most), (most.view(np.float64), rest.view(np.float64))
    first = floats_to_codes(floats[0])
    if not floats[1].any() and not aside.groups:
        return Bag(first, np.ones(groups, np.int64), np.arange(groups))
    codes = [first, floats_to_codes(floats[1])]
    if not aside.groups:
        pairs = np.stack(codes, axis=1).reshape(-1)
        return Bag(pairs, np.ones(2 * groups, np.int64), 2 * np.arange(groups))
    theirs, more, times = aside.all()
    of = np.concatenate([np.arange(groups), np.arange(groups), theirs])
    order = np.argsort(of, kind="stable")
    counts = np.concatenate([np.ones(2 * groups, np.int64), times])
    starts = np.searchsorted(of[order], np.arange(groups))
    return Bag(np.concatenate([*codes, more])[order], counts[order], starts)
