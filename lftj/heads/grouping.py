# SPDX-License-Identifier: Apache-2.0
"""Groups of assignments, totalled as batches of these come: each row finds the number of its group
and is added to that group's state. Where there are many groups, rows are put aside, sorted by them
and added in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.group_bounds import has_slots, with_room
from lftj.heads.group_states import GroupStates, StateLayout
from lftj.heads.grouping_kernels import place_groups
from lftj.heads.kept import GroupTotals
from lftj.heads.waiting_rows import ONCE, WaitingRows
from lftj.join.access.gathering import slots
from lftj.join.kernels.lookup_kernels import NOWHERE, hash_rows
from lftj.scantree.columns import as_matrix
from lftj.scantree.rows import sort_order
from lftj.scantree.sharing import ALONE, Threads
from lftj.storage.delta import Columns
from lftj.storage.relation import Bounds

_ROOM = 256  # groups at first
_GROWTH = 4
_HASHED = 1 << 16
"""Groups up to which rows find theirs by hashing. The states of more leave the processor's cache at
each row, and rows are sorted first.
"""
_TELLING = 1 << 12
"""Rows of a first batch that tell how many groups there are."""
_NEW = 0.5
"""Groups for each row of that batch from which on rows are sorted at once."""
_SORTED = 1 << 23
"""Rows that are sorted together, at least."""
_NONE = np.empty(0, np.int64)


class Grouping:
    """The groups of a head so far: a `lftj.join.access.gathering.Gathering`. `held` is told of the
    bytes that they take, and may raise LimitError. `threads` help in the end.
    """

    def __init__(
        self, shape: AggregateShape, held: Callable[[int], None], threads: Threads = ALONE
    ):
        self._needed, self._width, self._held = shape.needed, shape.width, held
        self._layout, self._threads = StateLayout(shape), threads
        self._waiting = WaitingRows(self._width)
        self._clear()
        self._ordered = False
        self._grow(_ROOM if self._width else 1)

    def _clear(self) -> None:
        """Have no groups."""
        self._groups = GroupStates(self._layout, np.empty((self._width, 0), np.int64), 0)
        self._table = np.empty(0, np.int32)
        self._bounds: list[Bounds] = []

    # ── gathering ─────────────────────────────────────────────────────────────────────────────────
    def add(self, found: Mapping[int, np.ndarray], many: int, times: np.ndarray | None) -> None:
        """Add so many assignments, each once or as often as `times` has it, with the columns of the
        needed variables.
        """
        if not many:
            return
        columns = [found[variable] for variable in self._needed]
        counts = ONCE if times is None or bool((times == 1).all()) else times
        if self._ordered or (not self._bounds and self._groups.count > _HASHED):
            self._wait(columns, counts)
            return
        telling = many >= _TELLING and not self._groups.count
        places = self._places(columns[: self._width], many)
        if telling and self._groups.count > _NEW * many:
            self._clear()
            self._ordered = True
            self._wait(columns, counts)
        else:
            self._groups.add(places, columns, counts)

    def _wait(self, columns: Sequence[np.ndarray], counts: np.ndarray) -> None:
        """Put rows aside until there are many."""
        self._waiting.add(columns, counts)
        taken = self._groups.words.size + self._groups.columns.size
        self._held(8 * taken + self._waiting.nbytes)
        if self._waiting.rows >= max(_SORTED, 4 * self._groups.count):
            self._sort()

    def _sort(self, threads: Threads = ALONE) -> None:
        """Add the rows that wait, in order of their groups."""
        parts = threads.together(
            lambda piece: GroupStates.of_sorted(self._layout, piece()),
            self._waiting.pieces(threads),
        )
        self._ascend()
        self._groups = self._groups.merged(GroupStates.joined(parts))

    def _ascend(self) -> None:
        """Keep the groups in ascending order from now on."""
        if not self._ordered:
            self._groups = self._groups.picked(self._order())
        self._ordered, self._bounds = True, []

    def absorb(self, other: Grouping) -> None:
        """Take the groups of another of the kind, and the rows that wait there."""
        self._waiting.absorb(other._waiting)
        groups = other._groups.groups
        if not other._groups.count:
            return
        if self._ordered or other._ordered or self._is_before(other):
            self._ascend()
            other._ascend()
            self._groups = self._groups.merged(other._groups)
        else:
            self._groups.take(other._groups, self._places(list(groups), other._groups.count))

    def _is_before(self, other: Grouping) -> bool:
        """Test for many groups before all those of another, as far as the first column tells: so it
        is where rows come in the order of their groups, and each thread takes a span of them.
        """
        mine, theirs = self._groups.groups[:1], other._groups.groups[:1]
        many = min(mine.size, theirs.size) >= _TELLING
        return many and bool(mine.max() <= theirs.min())

    def rows(self) -> tuple[Columns, np.ndarray]:
        """The group columns, and how many assignments each group has."""
        found = self.totals()
        return list(found.groups), found.counts

    def totals(self) -> GroupTotals:
        """All groups. O(n log n) for n groups, and as much for values that were put aside."""
        if self._waiting.rows:
            self._sort(self._threads)
        self._ascend()
        return self._groups.totals()

    # ── groups ────────────────────────────────────────────────────────────────────────────────────
    def _places(self, columns: Sequence[np.ndarray], many: int) -> np.ndarray:
        """The number of each row's group."""
        groups = self._groups
        if not self._width:
            groups.known[0] = 1
            return np.zeros(many, np.int64)
        keys = as_matrix(columns, self._width)
        places, done = np.empty(many, np.int64), 0
        codes = self._codes(keys) if self._is_coded(keys) else _NONE
        while done < many:
            held = self._table, groups.columns, groups.known, places
            done = int(place_groups(keys, codes, done, *held))
            if done < many:
                self._grow(_GROWTH * groups.columns.shape[1])
        return places

    def _is_coded(self, keys: np.ndarray) -> bool:
        """Test for groups, these rows' among them, that have slots of their own, and make these."""
        if not self._bounds and self._groups.count:
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
        self._fill(self._groups.columns.shape[1])
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
        self._held(8 * room * (self._width + len(self._layout.fresh) + 1))
        self._groups.make_room(room)
        if self._width and not self._bounds:
            self._fill(room)

    def _fill(self, room: int) -> None:
        """Make the table of the groups that are known, with room for so many where it is hashed."""
        known = self._groups.count
        held = np.ascontiguousarray(self._groups.groups)
        if self._bounds:
            self._table = np.full(slots(self._bounds), NOWHERE, np.int32)
            self._table[self._codes(held)] = np.arange(known)
        else:
            self._table = np.full(1 << (4 * room - 1).bit_length(), NOWHERE, np.int32)
            hash_rows(held, self._table, np.ones(known, np.int64))

    def _order(self) -> np.ndarray:
        """The numbers of the groups in ascending order."""
        if not self._width:
            return np.arange(self._groups.count)
        if self._bounds:
            return self._table[self._table != NOWHERE].astype(np.int64)
        return sort_order(list(self._groups.groups))
