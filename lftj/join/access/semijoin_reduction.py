# SPDX-License-Identifier: Apache-2.0
"""The rows of a wide relation that may match: those without a partner in a smaller relation are
left out before anything is joined.

A first evaluation that joins a wide relation of facts with small ones around it would make a key
order of all facts, to search a few of them. To test each row once, as it lies, takes a small part
of that. These are semi-joins along a tree of the body's atoms, the leaves first [Yannakakis 1981];
each asks for less than the body does, so no assignment is lost, and what is rejected by it fails no
arithmetic either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import itemgetter

import numpy as np

from lftj.join.access.atom_read import AtomRead
from lftj.join.access.filtered_read import Passes, RowTest, filtered_columns, picked
from lftj.join.access.gathering import present_values
from lftj.join.context import Context
from lftj.join.plan.cardinality import sampled
from lftj.join.shared_work import each_of, spans_of
from lftj.program.normal_form import NormalRule
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import PickedRows, TransientRelation
from lftj.tuning.aids import SEMIJOIN_REDUCTION
from lftj.types.sources import Role, Source

_PRESENT_BITS = 24
"""Bits of a range of values up to which a table tells which are present: 16 MiB."""
_SEMIJOIN_SMALLER = 2
"""Times fewer rows that a relation needs to restrict another one."""
_SEMIJOIN_PASSING = 0.75
"""Share of sampled rows that pass from which on a test is not worth its time."""
_SEMIJOIN_WORTH = 0.5
"""The same for all tests together, which have to leave much less to sort."""
_SEMIJOIN_ROWS = 1 << 15
"""Rows of a wide relation from which on semi-joins reduce it before the join."""


class SemijoinReduction:
    """The rows of a relation, read by this `name`, that pass `tests`, which reject most rows first;
    about `share` of them.
    """

    def __init__(
        self, name: str, relation: RelationVersion, tests: Iterable[RowTest], context: Context
    ):
        self.name, self._relation, self._context = name, relation, context
        sample = sampled(relation, context.tuning)
        found = [
            (np.count_nonzero(passes := test.passes(sample)) / len(passes), test, passes)
            for test in tests
        ]
        useful = sorted(
            (each for each in found if each[0] <= _SEMIJOIN_PASSING),
            key=itemgetter(0),
        )
        self.tests = [test for _, test, _ in useful]
        self.share = (
            float(np.logical_and.reduce([passes for *_, passes in useful]).mean())
            if useful
            else 1.0
        )

    @staticmethod
    def of(
        rule: NormalRule, relations: Mapping[str, RelationVersion], cost: float, context: Context
    ) -> SemijoinReduction | None:
        """The reduction of the largest wide relation, if looking for its rows pays where a plan for
        all has this `cost`; else None. O(rows of smaller ones).
        """
        reads = list(rule.reads)
        narrow = context.tuning.narrow_columns
        wide = [number for number, atom in enumerate(rule.atoms) if len(atom.args) > narrow]
        if len(rule.atoms) < 2 or not wide or rule.source in context.forced.orders:
            return None
        if SEMIJOIN_REDUCTION in context.tuning.without:
            return None
        largest = max(wide, key=lambda number: relations[reads[number]].count)
        name, relation = reads[largest], relations[reads[largest]]
        if reads.count(name) > 1 or isinstance(relation, TransientRelation):
            return None
        if relation.count < _SEMIJOIN_ROWS or cost <= relation.count:
            return None
        found = SemijoinReduction(
            name, relation, _Tests(rule, relations, context).of(largest), context
        )
        return found if found.tests and found.share <= _SEMIJOIN_WORTH else None

    @property
    def restricted_by(self) -> str:
        """The names of the relations that tests are made of."""
        return ", ".join(
            dict.fromkeys(
                "the comparisons" if test.by == self.name else test.by for test in self.tests
            )
        )

    def rows(self) -> TransientRelation:
        """All that pass. O(n) for each column."""
        relation, context = self._relation, self._context
        spans = spans_of(relation.count, len(self.tests), context)
        found = each_of(
            len(spans), lambda part, account: self._numbers(spans[part], account.spend), context
        )
        numbers = np.concatenate(found)
        context.budget.check_memory(8 * numbers.size * (1 + relation.schema.arity))
        name = Source(relation.schema.name, Role.MATCHING)
        schema = replace(relation.schema, name=name, key=None)
        return PickedRows(schema, context.resources.arena, relation, numbers)

    def _numbers(self, span: tuple[int, int], spend: Callable[[int], None]) -> np.ndarray:
        """The numbers of the rows of a span that pass; on any thread."""
        columns = sorted({column for test in self.tests for column in test.columns})
        kept: list[np.ndarray] = []
        first = span[0]
        for block in self._relation.blocks(self._context.tuning.block_rows, columns, *span):
            read = dict(zip(columns, block, strict=True))
            kept.append(first + picked(self.tests, read))
            first += block.shape[1]
            spend(block.shape[1])
        return np.concatenate(kept)


class _Tests:
    """The tests of a rule's atoms, each atom restricting one other at most."""

    def __init__(
        self, rule: NormalRule, relations: Mapping[str, RelationVersion], context: Context
    ):
        self._rule, self._relations, self._context = rule, relations, context
        self._left = set(range(len(rule.atoms)))

    def of(self, number: int) -> list[RowTest]:
        """Tests of an atom's rows: its own comparisons, and values that smaller relations have in
        rows that pass theirs.
        """
        atom, context = self._rule.atoms[number], self._context
        self._left.discard(number)
        own = AtomRead.of(self._rule, atom)
        place = own.place
        tests: list[RowTest] = []
        if own.tests:
            tests.append(RowTest.of(own, context))
        most = self._relations[atom.relation].count // _SEMIJOIN_SMALLER
        for other in sorted(self._left):
            partner = self._rule.atoms[other]
            shared = [each for each in AtomRead.of(self._rule, partner).place if each in place]
            if other in self._left and shared and self._relations[partner.relation].count <= most:
                for variable, values in self._values(other, shared):
                    if (passes := _among(values, place[variable], _PRESENT_BITS)) is not None:
                        tests.append(RowTest((place[variable],), passes, partner.relation))
        return tests

    def _values(self, number: int, variables: list[int]) -> Iterable[tuple[int, np.ndarray]]:
        """The values of these variables in the rows of an atom that pass its tests."""
        atom = self._rule.atoms[number]
        relation, tests = self._relations[atom.relation], self.of(number)
        place = AtomRead.of(self._rule, atom).place
        read = tuple(dict.fromkeys(place[variable] for variable in variables))
        found = dict(zip(read, filtered_columns(relation, read, tests, self._context), strict=True))
        return [(variable, found[place[variable]]) for variable in variables]


def _among(values: np.ndarray, column: int, widest: int) -> Passes | None:
    """Test of a column for these values; None where they lie too far apart for a table."""
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    if high - low >= 1 << widest:
        return None
    present = present_values(values, low, high - low + 1).view(np.bool_)

    def passes(columns: Mapping[int, np.ndarray]) -> np.ndarray:
        sought = columns[column]
        return present.take(sought - low, mode="clip") & (sought >= low) & (sought <= high)

    return passes
