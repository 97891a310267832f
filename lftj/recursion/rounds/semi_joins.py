"""Deltas without the rows that match nothing in a relation below: a semi-join before rows are sorted and their tree is built.

The relations below a stratum do not change while it is evaluated. So which values a column of them has is found out once, as one byte for
each value that the rows of the stratum may have there, and each later row is tested by one load. A test is made when the rows seen so far
are as many as it costs to make, and given up when it lets most of them pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lftj.join.present_values import WIDEST, present_values
from lftj.program.normal_form import Ref
from lftj.recursion.rounds.packed_rows import PackedRows, ValueTest
from lftj.recursion.rounds.variants import Variant, delta_name
from lftj.storage.loose_rows import LooseRows
from lftj.storage.relation import RelationVersion

_FEW = 256  # rows that are joined faster than tested
_ROWS_FOR_ONE = 4  # rows of a relation whose values are noted in the time that joining one row of the delta takes
_PASSING = 0.75  # share of the rows that pass from which on testing them is not worth its time


class _Wish(NamedTuple):
    """A column of the delta whose values must be among those of a column of a relation below."""

    column: int
    relation: str
    among: int


class SemiJoins:
    """The tests of one fixpoint, over these relations below it. Called by one thread; tests are then used by any."""

    def __init__(self, lower: Mapping[str, RelationVersion]):
        self._lower = lower
        self._known: dict[int, list[_Wish]] = {}
        self._present: dict[tuple[str, int, int, int], np.ndarray] = {}

    def prepare(self, variant: Variant, delta: LooseRows) -> None:
        """Set the tests of a variant for this round."""
        variant.tests = ()
        if variant.unreduced or delta.count < _FEW or not isinstance(delta, PackedRows):
            return
        variant.seen += delta.count
        wishes = self._known.get(id(variant))
        if wishes is None:
            wishes = self._known[id(variant)] = self._wishes(variant)
        affordable = (wish for wish in wishes if self._lower[wish.relation].count <= _ROWS_FOR_ONE * variant.seen)
        tests = (self._test(wish, delta) for wish in affordable if delta.packed.widths[wish.column] <= WIDEST)
        variant.tests = tuple(tests)
        variant.unreduced = not wishes

    def _wishes(self, variant: Variant) -> list[_Wish]:
        """For each column of the delta the smallest relation below that has its variable too."""
        (newest,) = (atom for atom in variant.rule.atoms if atom.relation == delta_name(variant.source))
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


def account(variant: Variant, size: int, left: int) -> None:
    """Note how many rows of a delta of so many were left."""
    variant.unreduced = variant.unreduced or bool(variant.tests and left > _PASSING * size)
