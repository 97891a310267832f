# SPDX-License-Identifier: Apache-2.0
"""The rows of one relation in a fixpoint where some relations keep the least or greatest value of
each group.

Where many groups are offered better values at once, most of these will be bettered again before the
end, and what follows from them was for nothing. So the best offers are taken first and the others
wait, until a later iteration in which they are among the best or are not needed any more: a coarse
form of Dijkstra's order, as in Δ-stepping [Meyer and Sanders 2003]. Where an order of the groups is
known (`group_order`), all offers to the first groups are taken, and those to the others wait by
rank. In what order offers are taken changes no result.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from lftj.heads.values import by_value
from lftj.join.rent_or_buy import NOTHING_LOST
from lftj.join.run.evaluate import Columns
from lftj.maintenance.cost.cost_model import laid_into
from lftj.maintenance.lattice.group_order import GroupOrder
from lftj.maintenance.semi_naive.packed_rows import Packed, sorted_together
from lftj.maintenance.semi_naive.row_set import RowSet
from lftj.program.monotone import Lattice
from lftj.scantree.rows import equal_runs, sort_rows
from lftj.storage.delta import Delta, no_rows, stored_width
from lftj.storage.relation import Bounds, RelationVersion
from lftj.types import Type
from lftj.types.dictionary import Dictionary

_WORD = 8
_LEAST = -(1 << 63)
_TAKEN_OFFERS = 256
"""Offers that an iteration takes, the best first: fewer are improved later, more iterations are
run.
"""
_TAKEN_SHARE = 16
"""Part of the offers that an iteration takes, where that is more."""
_OFFERED_ROWS = 1 << 20
"""Offers from which on those that say the same, or less, are left out as they come: memory against
sorting.
"""
_LOOKED_UP = 12
"""Times the time in which a row is put into a set that one is looked up in a tree, and added."""
_SET_LEAST = 50_000
"""Rows put into a set in the time in which one is begun."""
_READ = 1 << 14
"""Rows that are read at once."""


class BestRows:
    """`total` are the rows so far: without a lattice all that were added, else for each group the
    one with the best value.

    `best_first`: of many better values only the best come out of `take_fresh`, and the others
    later. `read`: rules read `total` in every iteration.

    Rows without a lattice are looked up in the tree of `total`, and added to it, until that would
    have taken as long as to put all of them into a set. From then on the set tells what is new, as
    in an evaluation from nothing, and `total` gets the new rows when it is read.
    """

    def __init__(
        self,
        total: RelationVersion,
        lattice: Lattice | None,
        dictionary: Dictionary,
        *,
        best_first: bool = False,
        read: bool = False,
    ):
        self._total, self._read = total, read
        self._best_first = self._best_only = best_first
        self._lattice = lattice
        self._dictionary = dictionary
        self._waiting: list[np.ndarray] = []
        self._size = 0  # how many wait
        self._by_rank: dict[int, list[np.ndarray]] = {}  # those whose groups are not the first
        self._ranked = 0  # how many these are
        self._groups: GroupOrder | None = None
        self._exploring = False
        self.rising = False
        """True where an iteration took a better value than the best of the one before: the best
        offers were taken too early.
        """
        self._front = _LEAST
        self._most = _OFFERED_ROWS
        self._adding = Lock()
        self._found: RowSet | None = (
            None  # what candidates say, where they were many and have no values
        )
        self._all: RowSet | None = None  # all rows and what candidates say, instead
        self._rent = NOTHING_LOST
        self._later: list[Columns | Packed] = []  # rows that `total` has yet to get
        self._came: list[Columns] | None = []  # those that it got; None where that is not known

    @property
    def total(self) -> RelationVersion:
        """All rows but those that wait."""
        if self._later:
            rows = sorted_together(self._later)
            if self._came is not None:
                self._came.append(rows)
            self._total, self._later = self._total.apply(Delta(rows, no_rows(len(rows)))), []
        return self._total

    @total.setter
    def total(self, version: RelationVersion) -> None:
        self._total, self._later, self._came = version, [], None

    @property
    def came(self) -> Columns | None:
        """The rows that came, in ascending order, of a relation without a lattice; None where
        compiled code found some.
        """
        if self._came is None or self._lattice is not None:
            return None
        width = stored_width(self.total.schema.arity)
        if len(self._came) == 1:
            return self._came[0]
        return sorted_together(self._came) if self._came else no_rows(width)

    def add(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Add candidates: column i of a row is `rows[picks[i]]`. They are copied and looked at when
        fresh rows are taken.

        O(m), or O(log m) amortized for each where many have values. Memory is taken for about twice
        as many as are distinct.
        """
        if not rows.shape[1]:
            return
        with self._adding:  # threads of one iteration add to what they find together
            kept = self._all or self._found
            if kept is not None:
                kept.add(rows, picks)
                return
            self._wait(rows[picks])
            if self._size > self._most:
                self._compact()

    def _compact(self) -> None:
        """Leave out candidates that others make needless. Where most were, each that comes later is
        looked up at once.
        """
        waited, rows = self._size, self._taken()
        if self._lattice is None and 2 * len(rows[0]) < waited:
            self._found = _set_for([(int(column.min()), int(column.max())) for column in rows])
            self._found.add(np.array(rows), np.arange(len(rows)))
        else:
            self._wait(np.array(rows))
            self._most = max(_OFFERED_ROWS, 2 * self._size)

    def _wait(self, rows: np.ndarray) -> None:
        self._waiting.append(rows)
        self._size += rows.shape[1]

    def _hold(self, rows: np.ndarray) -> None:
        if self._exploring:
            self._by_rank.setdefault(0, []).append(rows)
            self._ranked += rows.shape[1]
        else:
            self._wait(rows)

    def add_columns(self, columns: Columns) -> None:
        """Add candidates whose columns are these."""
        self.add(np.array(columns, np.int64), np.arange(len(columns)))

    @property
    def offered(self) -> int:
        """Number of candidates that wait."""
        if self._all is not None:
            return self._all.fresh
        return self._ranked + (self._size if self._found is None else self._found.count)

    def explore(self) -> None:
        """Take only the first offers that groups get. Further ones wait for an order."""
        self._exploring = True

    def arrange(self, groups: GroupOrder | None) -> None:
        """Take offers by the ranks of their groups; without an order as before `explore`."""
        self._groups, self._exploring = groups, False
        for rows in self._by_rank.pop(0, []):
            self._wait(rows)
        self._ranked = 0

    @property
    def rank(self) -> int | None:
        """The least rank of groups with offers; None where there are none, or groups have no order.
        O(m log n) for m offers since the last call.
        """
        if self._groups is None:
            return None
        for rows in [each for each in self._waiting if each.shape[1]]:
            ranks = self._groups.of([*rows])
            order = np.argsort(ranks, kind="stable")
            ranks, rows = ranks[order], rows[:, order]
            starts = np.flatnonzero(np.diff(ranks, prepend=ranks[:1] - 1))
            for rank, piece in zip(ranks[starts], np.split(rows, starts[1:], axis=1), strict=True):
                self._by_rank.setdefault(int(rank), []).append(piece)
        self._ranked += self._size
        self._forget()
        return min(self._by_rank, default=None)

    def choose(self, rank: int) -> None:
        """Let `take_fresh` take the groups of one rank. Of those on cycles the best come first."""
        if self._groups is not None:
            for rows in self._by_rank.pop(rank, []):
                self._wait(rows)
            self._ranked -= self._size
            self._best_only = self._best_first and rank == self._groups.last

    @property
    def bytes(self) -> int:
        """Bytes of the candidates that wait, and of a set."""
        kept = 0 if self._all is None else self._all.count
        return (self.offered * stored_width(self._total.schema.arity) + kept) * _WORD

    def take_offers(self) -> np.ndarray:
        """The candidates that wait, as a matrix of columns × rows, to be looked at elsewhere."""
        kept = self._all or self._found
        waiting = self._waiting if kept is None else [np.array(kept.take_fresh(ordered=True))]
        self._forget()
        self._all = None  # the set does not learn what is found elsewhere
        width = stored_width(self._total.schema.arity)
        return np.concatenate([np.empty((width, 0), np.int64), *waiting], axis=1)

    def take_fresh(self, ordered: bool = True) -> Columns:
        """The rows that are new or better since the last call, in ascending order. O(m log n) for m
        candidates.
        """
        if self.offered == self._ranked:
            return no_rows(self._total.schema.arity)
        if self._all is not None:
            self._later.append(rows := self._all.take_fresh(ordered=True))
            return rows
        rows = self._taken()
        if self._lattice is not None:
            delta = self._better(rows, self._lattice)
        elif self._look_up_less(rows):
            self.add_columns(rows)
            return self.take_fresh()
        else:
            delta = self._new(rows)
            if not self._read:
                self._rent = self._rent.plus(laid_into(delta.inserted, self._total.count))
            if self._came is not None:
                self._came.append(delta.inserts)
        self._total = self._total.apply(delta)
        return delta.inserts

    def take_packed(self) -> Packed | None:
        """As `take_fresh`, but packed and in no order; None, and nothing is taken, where no set of
        packed rows is at hand.
        """
        packed = None if self._all is None else self._all.take_packed()
        if packed is not None and packed.words.size:
            self._later.append(packed)
        return packed

    def _look_up_less(self, rows: Columns) -> bool:
        """Change to a set of all rows once looking up, these candidates as well, and adding would
        have taken as long as it takes to make; tell whether it did.
        """
        self._rent = self._rent.plus(_LOOKED_UP * len(rows[0]))
        if not self._rent.due(max(_SET_LEAST, self._total.count)) or not self._total.count:
            return False
        self._all, self._rent = _set_of(self._total, rows), self._rent.ended()
        return True

    def laid(self, rows: int) -> int:
        """Cost of laying so many rows that were taken last into key orders."""
        once = rows if self._later else self._total.count
        return laid_into(rows, once) * len(self._total.orders())

    def _forget(self) -> None:
        self._waiting, self._size, self._most, self._found = [], 0, _OFFERED_ROWS, None

    def _taken(self) -> Columns:
        """Candidates that waited, each once and in ascending order; with a lattice the best for
        each group, by groups.
        """
        waiting, found, lattice = self._waiting, self._found, self._lattice
        self._forget()
        if found is not None:
            return found.take_fresh(ordered=True)
        rows = list(waiting[0] if len(waiting) == 1 else np.concatenate(waiting, axis=1))
        if lattice is None:
            return sort_rows(rows)
        order = self._order(lattice)
        offer = self._best([rows[place] for place in order], lattice, self._type(lattice))
        return [offer[order.index(place)] for place in range(len(rows))]

    def _new(self, rows: Columns) -> Delta:
        new = ~self._total.contains(rows)
        return Delta([column[new] for column in rows], no_rows(len(rows)))

    def _order(self, lattice: Lattice) -> tuple[int, ...]:
        """The group's columns, then the value's, then what is said with it."""
        width = stored_width(self._total.schema.arity)
        return (*lattice.group(width), lattice.column, *range(width - lattice.riding, width))

    def _type(self, lattice: Lattice) -> Type:
        return self._total.schema.columns[lattice.column][1]

    def _better(self, rows: Columns, lattice: Lattice) -> Delta:
        """The groups that are new or got a better value, and what they had; `rows` are the best
        offers, by groups.
        """
        by, order, type = lattice.group(len(rows)), self._order(lattice), self._type(lattice)
        offer = [rows[place] for place in order]
        group, best = offer[: len(by)], offer[len(by)]
        found, present, _ = self._total.tree(order).edge_rows(
            np.array(group, np.int64).reshape(len(group), len(best))
        )
        keys, _ = by_value(
            np.concatenate((best, np.where(found, present[len(by)], best))), type, self._dictionary
        )
        # less is better in both from here on
        offered, had = np.split(keys if lattice.direction < 0 else ~keys, 2)
        better = ~found | (offered < had)
        back = [order.index(place) for place in range(len(rows))]
        later = None
        if self._exploring:
            later = better & found
        elif self._best_only and (limit := _limit(offered[better])) is not None:
            later = better & (offered > limit)
        if later is not None:
            better &= ~later
            held = [column[later] for column in offer]
            self._hold(np.array([held[place] for place in back]))
        if better.any() and type.name != "str":
            best = int(offered[better].min())
            self.rising |= best < self._front
            self._front = best
        inserts = [column[better] for column in offer]
        erases = [column[better & found] for column in present]
        return Delta(
            sort_rows([inserts[place] for place in back]),
            sort_rows([erases[place] for place in back]),
        )

    def _best(self, offers: Columns, lattice: Lattice, type: Type) -> Columns:
        """The best offer for each group: its columns, the value, which is of this type, and what is
        said with it, of several the least.
        """
        width = len(offers) - lattice.riding - 1
        keys, back = by_value(offers[width], type, self._dictionary)
        sign = 0 if lattice.direction < 0 else -1
        ordered = sort_rows([*offers[:width], keys ^ sign, *offers[width + 1 :]])
        first = equal_runs(ordered, width)
        found = [column[first] for column in ordered]
        best = found[width] ^ sign
        return [*found[:width], best if back is None else back[best], *found[width + 1 :]]


def _set_for(ranges: list[Bounds]) -> RowSet:
    """A set for rows with values in these ranges."""
    lows, highs = np.array(ranges, np.int64).T.copy()
    return RowSet(len(ranges), lows, highs)


def _set_of(total: RelationVersion, candidates: Columns) -> RowSet:
    """A set of the rows of a relation, of which there are some, with room for candidates."""
    found = _set_for(
        [
            (min(low, int(column.min())), max(high, int(column.max())))
            for (low, high), column in zip(total.bounds(), candidates, strict=True)
        ]
    )
    picks = np.arange(len(candidates))
    for rows in total.blocks(_READ, picks.tolist()):
        found.add(rows, picks)
    if found.take_packed() is None:
        found.take_fresh()
    return found


def _limit(offered: np.ndarray) -> int | None:
    """The greatest of these values that is taken now; None if all are."""
    take = max(_TAKEN_OFFERS, len(offered) // _TAKEN_SHARE)
    return int(np.partition(offered, take - 1)[take - 1]) if len(offered) > take else None
