"""Deltas without the rows that match nothing in a relation below: a semi-join before rows are
sorted and their tree is built.

The relations below a stratum do not change while it is evaluated. So which values a column of them
has is found out once, as one byte for each value that the rows of the stratum may have there, and
each later row is tested by one load. A test is made when the rows seen so far are as many as it
costs to make, and given up when it lets most of them pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from lftj.join.access.gathering import present_values
from lftj.join.rent_or_buy import Rent
from lftj.maintenance.semi_naive.packed_rows import Packed, PackedRows, ValueTest
from lftj.maintenance.semi_naive.variants import Variant, delta_name, older_name
from lftj.program.normal_form import Ref, RelationSchema
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning import DEFAULT, Tuning
from lftj.tuning.aids import REDUCTIONS, SEMI_JOINS
from scantree import Arena

# Rows of a relation of the stratum that match a delta, found by looking through all of them.
#
# Where no key order begins with what an atom shares with the delta, a join goes through whole key
# orders by seeks, iteration after iteration. Building the order that is missing pays when there are
# many such iterations (`variant_plans`). Until then the rows are tested one after another for the
# values that the delta has, a nanosecond each, and the join reads the few that are left, in any key
# order it likes.

_ROWS_A_STEP = 8  # rows that are looked through in the time of a kernel step

Rows = Callable[[str, bool], Packed | None]
"""The rows of a relation of the stratum as a variant reads them, all or only older ones; None where
they are not kept packed. O(rows).
"""


class Reduction(NamedTuple):
    """An atom, by the name it reads, of these older or all rows of `relation`; its column `column`
    is column `by` of the delta.
    """

    name: str
    relation: str
    older: bool
    column: int
    by: int


class Reductions:
    """The reductions of one fixpoint over these relations. `rows` gives what there is of one of
    them, `size` about how much.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        rows: Rows,
        size: Callable[[str], int],
        arena: Arena,
        tuning: Tuning = DEFAULT,
    ):
        self._tuning = tuning
        self._schemas = schemas
        self._rows = rows
        self._size = size
        self._arena = arena
        self._known: dict[int, list[Reduction]] = {}

    def reading(self, variant: Variant, delta: TransientRelation) -> Mapping[str, RelationVersion]:
        """Relations that the variant reads in this iteration in place of those of the stratum.
        O(rows looked through).
        """
        if variant.rent.bought or not isinstance(delta, PackedRows):
            return {}
        if REDUCTIONS in self._tuning.without:
            return {}
        if id(variant) not in self._known:
            self._known[id(variant)] = self._of(variant)
        found = {}
        for reduction in self._known[id(variant)]:
            if not self._worthwhile(variant, self._size(reduction.relation)):
                continue
            rows = self._rows(reduction.relation, reduction.older)
            if rows is None or rows.widths[reduction.column] > self._tuning.present_bits:
                continue
            found[reduction.name] = left = self._left(reduction, rows, delta)
            variant.rent = variant.rent.plus(rows.words.size // _ROWS_A_STEP)
            if left.count > self._tuning.reduced_share * rows.words.size:
                self._known[id(variant)] = []
        variant.reduced = bool(found)
        return found

    def _worthwhile(self, variant: Variant, rows: int) -> bool:
        return variant.reduced or Rent(variant.idle * self._tuning.reduced_rows).due(rows)

    def _of(self, variant: Variant) -> list[Reduction]:
        """The atoms that share a variable with the delta, but not the first column: in each the
        first that is shared.
        """
        names = {name: (name, False) for name in self._schemas} | {
            older_name(name): (name, True) for name in self._schemas
        }
        read = [atom.relation for atom in variant.rule.atoms]
        newest = variant.rule.atoms[read.index(delta_name(variant.source))]
        found = []
        for atom in variant.rule.atoms:
            shared = [
                column
                for column, argument in enumerate(atom.args)
                if isinstance(argument, Ref) and argument in newest.args
            ]
            if (
                atom.relation in names
                and read.count(atom.relation) == 1
                and shared
                and shared[0] > 0
            ):
                by = newest.args.index(atom.args[shared[0]])
                found.append(Reduction(atom.relation, *names[atom.relation], shared[0], by))
        return found

    def _left(self, reduction: Reduction, rows: Packed, delta: PackedRows) -> PackedRows:
        """The rows that match. O(rows + delta)."""
        low, width = int(rows.lows[reduction.column]), rows.widths[reduction.column]
        present = present_values(delta.columns()[reduction.by], low, 1 << width)
        whole = PackedRows(self._schemas[reduction.relation], self._arena, rows)
        return whole.passing((ValueTest(reduction.column, present),))


class _Wish(NamedTuple):
    """A column of the delta whose values must be among those of a column of a relation below."""

    column: int
    relation: str
    among: int


class SemiJoins:
    """The tests of one fixpoint, over these relations below it. Called by one thread; tests are
    then used by any.
    """

    def __init__(self, lower: Mapping[str, RelationVersion], tuning: Tuning = DEFAULT):
        self._tuning = tuning
        self._lower = lower
        self._known: dict[int, list[_Wish]] = {}
        self._present: dict[tuple[str, int, int, int], np.ndarray] = {}

    def prepare(self, variant: Variant, delta: TransientRelation) -> None:
        """Set the tests of a variant for this iteration."""
        variant.tests = ()
        if (
            variant.unreduced
            or SEMI_JOINS in self._tuning.without
            or delta.count < self._tuning.tested_delta
            or not isinstance(delta, PackedRows)
        ):
            return
        variant.seen += delta.count
        wishes = self._known.get(id(variant))
        if wishes is None:
            wishes = self._known[id(variant)] = self._wishes(variant)
        rent = Rent(self._tuning.tested_rows * variant.seen)
        affordable = (wish for wish in wishes if rent.due(self._lower[wish.relation].count))
        tests = (
            self._test(wish, delta)
            for wish in affordable
            if delta.packed.widths[wish.column] <= self._tuning.present_bits
        )
        variant.tests = tuple(tests)
        variant.unreduced = not wishes

    def _wishes(self, variant: Variant) -> list[_Wish]:
        """Wishes for each column of the delta: the smallest relation below that has its variable
        too.
        """
        (newest,) = (
            atom for atom in variant.rule.atoms if atom.relation == delta_name(variant.source)
        )
        wishes: list[_Wish] = []
        for column, argument in enumerate(newest.args):
            places = [
                _Wish(column, atom.relation, among)
                for atom in variant.rule.atoms
                if atom.relation in self._lower
                for among, other in enumerate(atom.args)
                if isinstance(argument, Ref) and other == argument
            ]
            wishes += sorted(places, key=lambda wish: self._lower[wish.relation].count)[:1]
        return wishes

    def _test(self, wish: _Wish, delta: PackedRows) -> ValueTest:
        low, width = int(delta.packed.lows[wish.column]), delta.packed.widths[wish.column]
        known = (wish.relation, wish.among, low, width)
        if known not in self._present:
            (values,) = self._lower[wish.relation].columns((wish.among,))
            self._present[known] = present_values(values, low, 1 << width)
        return ValueTest(wish.column, self._present[known])


def account(variant: Variant, size: int, left: int, tuning: Tuning) -> None:
    """Note how many rows of a delta of so many were left."""
    variant.unreduced = variant.unreduced or bool(
        variant.tests and left > tuning.tested_passing * size
    )
