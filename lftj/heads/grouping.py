"""Groups of assignments, totalled as batches of these come, so that no assignment is kept or
sorted.

Sums are exact, and so may be put together in any order: integers in 128 bits, floats as two doubles
while these hold the whole sum. A value with which they would not is put aside, and added exactly in
the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.group_bounds import has_slots, with_room
from lftj.heads.grouping_kernels import (
    add_extremes,
    add_floats,
    add_integers,
    add_times,
    place_coded,
    place_groups,
)
from lftj.heads.integer_sum import Totals, grouped_totals
from lftj.heads.kept import Bag, GroupTotals
from lftj.heads.support import too_many
from lftj.join.access.gathering import slots
from lftj.join.kernels.lookup_kernels import NOWHERE, hash_rows
from lftj.storage.delta import Columns
from lftj.storage.relation import Bounds
from lftj.types import floats_to_codes
from scantree.columns import as_matrix
from scantree.rows import equal_runs, locate, sort_order, sorted_by, union

Call = tuple[str, int]
"""Totals of a column of the assignments: `integers`, `floats`, `min` or `max`, and the column."""

_ROOM = 256  # groups at first
_GROWTH = 4
_HASHED = 1 << 16
"""Groups up to which rows find theirs by hashing. The states of more leave the processor's cache at
each row, and rows are sorted first.
"""
_SORTED = 1 << 22
"""Rows that are sorted together, at least."""
_ONCE = np.ones(1, np.int64)
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_INITIALLY = {"min": _INT64_MAX, "max": _INT64_MIN}
_SHORT = 2**31
"""Values nearer to 0 add up in an int64, 2³² of them."""


def _kept_of(shape: AggregateShape) -> list[Call]:
    """List the columns that totals are kept of, and which totals."""
    kept: dict[Call, None] = {}
    for call in shape.calls:
        if call.function in ("sum", "mean"):
            kind = "floats" if call.types[0].name == "float" else "integers"
            kept[kind, call.args[0]] = None
        elif call.function != "count":
            kept[call.function, call.args[0]] = None
    return list(kept)


@dataclass(slots=True)
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


class Grouping:
    """The groups of a head so far: a `lftj.join.access.gathering.Gathering`. `held` is told of the
    bytes that they take, and may raise LimitError.
    """

    def __init__(self, shape: AggregateShape, held: Callable[[int], None]):
        self._needed, self._width, self._held = shape.needed, shape.width, held
        self._kept = {call: 1 + place for call, place in _places(_kept_of(shape)).items()}
        self._stride = 1 + sum(_words(call) for call in self._kept)
        self._fresh = np.zeros(self._stride, np.int64)
        for call, place in self._kept.items():
            self._fresh[place] = _INITIALLY.get(call[0], 0)
        self._known = np.zeros(1, np.int64)
        self._columns = np.empty((self._width, 0), np.int64)
        self._states = np.empty(0, np.int64)
        self._table = np.empty(0, np.int32)
        self._aside = {call: _Aside() for call in self._kept if call[0] == "floats"}
        self._bounds: list[Bounds] = []
        self._waiting: list[np.ndarray] = []
        self._ordered = False
        self._grow(_ROOM if self._width else 1)

    # ── gathering ─────────────────────────────────────────────────────────────────────────────────
    def add(self, found: Mapping[int, np.ndarray], many: int, times: np.ndarray | None) -> None:
        """Add so many assignments, each once or as often as `times` has it, with the columns of the
        needed variables.
        """
        if not many:
            return
        columns = [found[variable] for variable in self._needed]
        counts = _ONCE if times is None or bool((times == 1).all()) else times
        if self._ordered or (not self._bounds and self._known[0] > _HASHED):
            self._wait(columns, np.broadcast_to(counts, many))
        else:
            self._add_rows(self._places(columns[: self._width], many), columns, counts)

    def _add_rows(
        self, places: np.ndarray, columns: Sequence[np.ndarray], counts: np.ndarray
    ) -> None:
        """Add rows to these groups, as often as `counts` has them, once where that is one word."""
        counts = np.ascontiguousarray(counts)
        self._count(places, counts)
        times = None if counts is _ONCE else counts
        for call, at in self._kept.items():
            self._add(call, at, places, np.ascontiguousarray(columns[call[1]]), times)

    def _wait(self, columns: Sequence[np.ndarray], counts: np.ndarray) -> None:
        """Put rows aside until there are many."""
        self._waiting.append(np.array([*columns, counts]))
        waiting = sum(rows.shape[1] for rows in self._waiting)
        self._held(8 * (self._states.size + self._columns.size + waiting * (1 + len(columns))))
        if waiting >= max(_SORTED, 4 * int(self._known[0])):
            self._sort()

    def _sort(self) -> None:
        """Add the rows that wait, in order of their groups."""
        rows = sorted_by(np.concatenate(self._waiting, axis=1), self._width)
        self._waiting = []
        first = np.zeros(rows.shape[1], np.bool_)
        first[equal_runs(list(rows), self._width)] = True
        places = self._in_order([line[first] for line in rows[: self._width]])
        counts = _ONCE if bool((rows[-1] == 1).all()) else rows[-1]
        self._add_rows(places.take(np.cumsum(first) - 1), list(rows[:-1]), counts)

    def _in_order(self, more: Columns) -> np.ndarray:
        """Keep the groups in ascending order from now on, with these, which ascend, among them; the
        place of each of these.
        """
        before, known, order = copy(self), int(self._known[0]), self._order()
        mine = [column.take(order) for column in self._columns[:, :known]]
        self._columns = np.ascontiguousarray(as_matrix(union(mine, more), self._width))
        self._known = np.array([self._columns.shape[1]])
        self._states = np.tile(self._fresh, self._columns.shape[1])
        self._aside = {call: _Aside() for call in self._aside}
        self._ordered, self._bounds = True, []
        places, groups = np.empty(known, np.int64), list(self._columns)
        places[order] = locate(mine, groups)[0]
        self._take(before, places)
        return locate(more, groups)[0]

    def absorb(self, other: Grouping) -> None:
        """Take the groups of another of the kind."""
        for each in (self, other):
            if each._waiting:
                each._sort()
        if not other._known[0]:
            return
        groups = other._columns[:, : int(other._known[0])]
        if self._ordered:
            order = sort_order(list(groups))
            places = np.empty(len(order), np.int64)
            places[order] = self._in_order(list(groups.take(order, axis=1)))
        else:
            places = self._places(list(groups), int(other._known[0]))
        self._take(other, places)

    def _take(self, other: Grouping, places: np.ndarray) -> None:
        """Add the states of another's groups, in the order in which it has them, to these."""
        states = other._matrix()
        self._count(places, states[:, 0].copy())
        for call, at in self._kept.items():
            first = states[:, at].copy()
            if call[0] == "integers":
                self._add_totals(at, places, _totals(first, states[:, at + 1]))
            elif call[0] == "floats":
                for words in (first, states[:, at + 1]):
                    codes = floats_to_codes(words.copy().view(np.float64))
                    self._add(call, at, places, codes, None)
                aside, theirs = self._aside[call], other._aside[call]
                for groups, codes, counts in zip(
                    theirs.groups, theirs.codes, theirs.counts, strict=True
                ):
                    aside.add(places[groups], codes, counts)
            else:
                self._add(call, at, places, first, None)

    def rows(self) -> tuple[Columns, np.ndarray]:
        """The group columns, and how many assignments each group has."""
        found = self.totals()
        return list(found.groups), found.counts

    def _count(self, places: np.ndarray, counts: np.ndarray) -> None:
        if not self._width and counts.size == 1:
            counts = np.array([len(places) * int(counts[0])], np.int64)
            places = places[:1]
        if add_times(places, counts, self._states, self._stride, 0):
            raise too_many()

    def _add(
        self,
        call: Call,
        at: int,
        places: np.ndarray,
        values: np.ndarray,
        counts: np.ndarray | None,
    ) -> None:
        """Add a column of values, each once or as often as `counts` has it."""
        kind, states, stride = call[0], self._states, self._stride
        if kind in _INITIALLY:
            add_extremes(places, values, states, stride, at, kind == "max")
        elif kind == "integers" and counts is not None:
            rows = np.arange(len(values))
            self._add_totals(at, places, grouped_totals(values, counts, rows))
        elif kind == "integers":
            if not self._width and _is_short(values):
                places, values = places[:1], values.sum(keepdims=True)
            add_integers(places, values, states, stride, at)
        elif counts is not None:
            self._aside[call].add(places.copy(), values.copy(), counts.copy())
        else:
            left = np.empty(len(values), np.int64)
            if many := int(add_floats(places, values, states, stride, at, left)):
                rows = left[:many]
                self._aside[call].add(places[rows], values[rows], np.ones(many, np.int64))

    def _add_totals(self, at: int, places: np.ndarray, totals: Totals) -> None:
        """Add totals to groups: high · 2⁶³ is (high // 2) · 2⁶⁴, and 2⁶³ where it is odd, which is
        2⁶⁴ − 2⁶³.
        """
        add_integers(places, totals.low, self._states, self._stride, at)
        odd = places[(totals.high & 1).astype(np.bool_)]
        least = np.full(len(odd), _INT64_MIN)
        add_integers(odd, least, self._states, self._stride, at)
        over = (totals.high >> 1) + (totals.high & 1)
        np.add.at(self._states, places * self._stride + at + 1, over)

    # ── groups ────────────────────────────────────────────────────────────────────────────────────
    def _places(self, columns: Sequence[np.ndarray], many: int) -> np.ndarray:
        """The number of each row's group."""
        if not self._width:
            self._known[0] = 1
            return np.zeros(many, np.int64)
        keys = as_matrix(columns, self._width)
        places, done = np.empty(many, np.int64), 0
        codes = self._codes(keys) if self._is_coded(keys) else None
        while done < many:
            held = self._table, self._columns, self._known, places
            if codes is not None:
                done = int(place_coded(codes, keys, done, *held))
            else:
                done = int(place_groups(keys, done, *held))
            if done < many:
                self._grow(_GROWTH * self._columns.shape[1])
        return places

    def _is_coded(self, keys: np.ndarray) -> bool:
        """Test for groups, these rows' among them, that have slots of their own, and make these."""
        if not self._bounds and self._known[0]:
            return False
        bounds = list(zip(keys.min(axis=1).tolist(), keys.max(axis=1).tolist(), strict=True))
        if self._bounds:
            bounds = [
                (min(low, least), max(high, most))
                for (low, high), (least, most) in zip(self._bounds, bounds, strict=True)
            ]
        if self._bounds and bounds == self._bounds:
            return True
        self._bounds = with_room(bounds, self._bounds) if has_slots(bounds) else []
        self._fill(self._columns.shape[1])
        return bool(self._bounds)

    def _codes(self, keys: np.ndarray) -> np.ndarray:
        """Number of each combination of values within the bounds."""
        codes = np.zeros(keys.shape[1], np.int64)
        for (low, high), line in zip(self._bounds, keys, strict=True):
            codes *= high - low + 1
            codes += line
            codes -= low
        return codes

    def _grow(self, room: int) -> None:
        """Make room for so many groups."""
        known = int(self._known[0])
        self._held(8 * room * (self._width + self._stride + 1))
        columns = np.empty((self._width, room), np.int64)
        columns[:, :known] = self._columns[:, :known]
        states = np.empty((room, self._stride), np.int64)
        states[:known] = self._matrix()
        states[known:] = self._fresh
        self._columns, self._states = columns, states.reshape(-1)
        if self._width and not self._bounds:
            self._fill(room)

    def _fill(self, room: int) -> None:
        """Make the table of the groups that are known, with room for so many where it is hashed."""
        known = int(self._known[0])
        held = np.ascontiguousarray(self._columns[:, :known])
        if self._bounds:
            self._table = np.full(slots(self._bounds), NOWHERE, np.int32)
            self._table[self._codes(held)] = np.arange(known)
        else:
            self._table = np.full(1 << (4 * room - 1).bit_length(), NOWHERE, np.int32)
            hash_rows(held, self._table, np.ones(known, np.int64))

    def _matrix(self) -> np.ndarray:
        """The states of the groups that are known, a line for each."""
        known = int(self._known[0])
        return self._states[: known * self._stride].reshape(known, self._stride)

    # ── in the end ────────────────────────────────────────────────────────────────────────────────
    def _order(self) -> np.ndarray:
        """The numbers of the groups in ascending order."""
        known = int(self._known[0])
        if self._ordered or not self._width:
            return np.arange(known)
        if self._bounds:
            return self._table[self._table != NOWHERE].astype(np.int64)
        return sort_order(list(self._columns[:, :known]))

    def totals(self) -> GroupTotals:
        """All groups. O(n log n) for n groups, and as much for values that were put aside."""
        if self._waiting:
            self._sort()
        known, states = int(self._known[0]), self._matrix()
        groups = self._columns[:, :known] if self._width else np.zeros((1, known), np.int64)
        order = self._order()
        place = np.empty_like(order)
        place[order] = np.arange(known)
        integers: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        floats: dict[int, Bag] = {}
        extremes: dict[Call, np.ndarray] = {}
        for call, at in self._kept.items():
            first = states[:, at].take(order)
            if call[0] == "integers":
                integers[call[1]] = _totals(first, states[:, at + 1].take(order))
            elif call[0] == "floats":
                second = states[:, at + 1].take(order)
                floats[call[1]] = _bag(first, second, self._aside[call], place)
            else:
                extremes[call] = first
        return GroupTotals(
            groups.take(order, axis=1), states[:, 0].take(order), integers, floats, extremes
        )


def _words(call: Call) -> int:
    return 1 if call[0] in _INITIALLY else 2


def _places(calls: Sequence[Call]) -> dict[Call, int]:
    """The first word of each."""
    found: dict[Call, int] = {}
    at = 0
    for call in calls:
        found[call] = at
        at += _words(call)
    return found


def _is_short(values: np.ndarray) -> bool:
    return bool(values.min() > -_SHORT and values.max() < _SHORT)


def _totals(low: np.ndarray, over: np.ndarray) -> Totals:
    """Totals low + over · 2⁶⁴ in canonical form."""
    return Totals((low >> 63) + 2 * over, low & _INT64_MAX)


def _bag(most: np.ndarray, rest: np.ndarray, aside: _Aside, place: np.ndarray) -> Bag:
    """Bags of the groups in order. `place`: where each group is in that."""
    groups, floats = len(most), (most.view(np.float64), rest.view(np.float64))
    codes = [floats_to_codes(words) for words in floats]
    if not floats[1].any() and not aside.groups:
        return Bag(codes[0], np.ones(groups, np.int64), np.arange(groups))
    if not aside.groups:
        pairs = np.stack(codes, axis=1).reshape(-1)
        return Bag(pairs, np.ones(2 * groups, np.int64), 2 * np.arange(groups))
    of = np.concatenate([np.arange(groups), np.arange(groups), place[np.concatenate(aside.groups)]])
    order = np.argsort(of, kind="stable")
    counts = np.concatenate([np.ones(2 * groups, np.int64), *aside.counts])
    starts = np.searchsorted(of[order], np.arange(groups))
    return Bag(np.concatenate([*codes, *aside.codes])[order], counts[order], starts)
