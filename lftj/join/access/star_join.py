# SPDX-License-Identifier: Apache-2.0
"""Evaluating a body by look-ups: blocks of facts, one atom after the other, column by column."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lftj.join.access.atom_read import passing
from lftj.join.access.computed_columns import Computation, reads
from lftj.join.access.filtered_read import RowTest, filtered_columns
from lftj.join.access.gathering import (
    Gathering,
    Held,
    Making,
    added_up,
    gathering,
    together,
)
from lftj.join.access.lookup_tables import Buffers, row_table
from lftj.join.access.star_shape import Key, Lookup, Star
from lftj.join.context import Context
from lftj.join.kernels.lookup_kernels import keep_absent
from lftj.join.shared_work import Account, each_of, spans_of
from lftj.program.normal_form import NormalRule
from lftj.storage.delta import Columns
from lftj.storage.relation import Bounds, RelationVersion

_COUNTED = (1 << 63) - 1

Relations = Mapping[str, RelationVersion]
Variables = dict[int, np.ndarray]


class UnfitError(Exception):
    """Several rows have the key by which one was to be found (`repeated`), there may be more
    assignments than a word counts, or arithmetic fails.
    """

    def __init__(self, repeated: Key | None = None):
        super().__init__()
        self.repeated = repeated


class _Dimension:
    """The rows of an atom that pass its own tests, ready to be looked up."""

    def __init__(self, lookup: Lookup, relation: RelationVersion, context: Context):
        read, variables = lookup.read, (*lookup.key, *lookup.takes)
        only = tuple(dict.fromkeys(read.place[variable] for variable in variables))
        tests = [RowTest.of(read, context)] if read.tests else []
        found = filtered_columns(relation, only, tests, context)
        columns = {variable: found[only.index(read.place[variable])] for variable in variables}
        self.lookup = lookup
        self.table = row_table([columns[variable] for variable in lookup.key])
        self.taken = {variable: columns[variable] for variable in lookup.takes}
        if lookup.takes and self.table.times is not None:
            raise UnfitError(None if tests else lookup.of)


class _Lane(NamedTuple):
    """The facts numbered [first, last), room for what they find, and what was found: of one thread
    at a time.
    """

    span: tuple[int, int]
    buffers: Buffers
    absent: np.ndarray
    keys: list[Computation]
    computations: list[Computation]
    found: Gathering


class StarEvaluation:
    """The values of `needed` in all satisfying assignments, in the order of the facts, and how many
    assignments each row stands for, gathered in what `make` gives, by default what suits the
    values. Without `count` every row counts once.

    O(rows of the body's relations · atoms). Raises UnfitError where the body is to be searched
    after all; where arithmetic fails in a row, the search tells whether it matters.
    """

    def __init__(
        self,
        star: Star,
        rule: NormalRule,
        needed: tuple[int, ...],
        relations: Relations,
        context: Context,
        *,
        count: bool,
        make: Making[Any] | None,
    ):
        self._star, self._rule, self._needed, self._relations = star, rule, needed, relations
        self._context, self._count, self._make = context, count, make
        self._dimensions = [
            _Dimension(lookup, relations[lookup.read.relation], context) for lookup in star.lookups
        ]
        context.budget.check_memory(sum(dimension.table.nbytes for dimension in self._dimensions))
        most = [
            int(dimension.table.times.max())
            for dimension in self._dimensions
            if dimension.table.times is not None
        ]
        if relations[star.facts.relation].count * math.prod(most) > _COUNTED:
            raise UnfitError
        self._wanted = self._wanted_after()
        self._facts = relations[star.facts.relation]
        made = dict.fromkeys(variable for each in star.keys for variable in reads(each))
        self._given = tuple(dict.fromkeys([*self._wanted[0], *made]))
        self._read = star.facts.columns(self._given)

    def _wanted_after(self) -> list[tuple[int, ...]]:
        """The variables that are asked for from each look-up on, and behind the last one."""
        compared = [
            side for _, *sides in self._star.tests for side in sides if isinstance(side, int)
        ]
        read = [variable for computed in self._star.computed for variable in reads(computed)]
        wanted = [tuple(dict.fromkeys([*self._needed, *compared, *read]))]
        for lookup in reversed(self._star.lookups):
            wanted.append(tuple(dict.fromkeys([*wanted[-1], *lookup.key])))
        return wanted[::-1]

    def rows(self) -> tuple[Columns, np.ndarray]:
        """The values of all that is found, and how many assignments each row stands for: where each
        fact is found as it is, the columns of the relation.
        """
        facts, context, bounds = self._facts, self._context, self._bounds
        if not self._star.copies or bounds is None or added_up(bounds, facts.count):
            return self.found().rows()
        context.budget.spend(facts.count)
        context.budget.check_memory(8 * facts.count * (1 + len(self._needed)))
        columns = [self._star.facts.place[variable] for variable in self._needed]
        return facts.columns(columns), np.ones(facts.count, np.int64)

    def found(self) -> Gathering:
        """All that is found, by several threads where there are many facts."""
        bounds, context = self._bounds, self._context
        spans = spans_of(self._facts.count, 1 + len(self._dimensions), context)
        least = self._facts.count // len(spans)
        if bounds is not None and not added_up(bounds, least):
            bounds = None  # or some spans, which may be a row longer, would be gathered otherwise
        return together(
            each_of(
                len(spans), lambda part, own: self._span(spans[part], bounds, own), self._context
            )
        )

    def _span(
        self, span: tuple[int, int], bounds: list[Bounds] | None, account: Account
    ) -> Gathering:
        """Gather all that the facts of one span find; on any thread."""
        lane = self._lane(bounds, span, account.hold)
        self._look_up(lane, account.spend)
        return lane.found

    def _lane(self, bounds: list[Bounds] | None, span: tuple[int, int], held: Held) -> _Lane:
        first, last = span
        block = min(self._context.tuning.block_rows, last - first)
        keys, computations = (
            [Computation(each, self._rule, self._context, last - first) for each in some]
            for some in (self._star.keys, self._star.computed)
        )
        found = (
            self._make(held)
            if self._make is not None
            else gathering(self._needed, bounds, last - first, count=self._count, held=held)
        )
        return _Lane(span, Buffers.of(block), np.empty(block, np.int64), keys, computations, found)

    def _look_up(self, lane: _Lane, spend: Callable[[int], None]) -> None:
        """Look up the partners of the facts of one span; on any thread."""
        for block in self._facts.blocks(
            self._context.tuning.block_rows, self._read or (0,), *lane.span
        ):
            columns = dict(zip(self._read, block, strict=False))
            lane.found.add(*self._found_by(lane, columns, block.shape[1]))
            steps = 1 + len(self._dimensions) + len(lane.keys) + len(lane.computations)
            spend(block.shape[1] * steps)

    @cached_property
    def _bounds(self) -> list[Bounds] | None:
        """Two values of each needed variable that all of its values lie between; None where some
        are computed, or there are none.
        """
        place = self._star.facts.place
        taken = {
            variable: values
            for dimension in self._dimensions
            for variable, values in dimension.taken.items()
        }
        known = all(variable in place or len(taken.get(variable, ())) for variable in self._needed)
        if self._make is not None or not (known and self._needed and self._facts.count):
            return None
        facts = [variable for variable in self._needed if variable in place]
        bounds = dict(
            zip(facts, self._facts.extremes([place[variable] for variable in facts]), strict=True)
        )
        bounds |= {
            variable: (int(values.min()), int(values.max()))
            for variable, values in taken.items()
            if variable in self._needed
        }
        return [bounds[variable] for variable in self._needed]

    def _found_by(
        self, lane: _Lane, columns: Mapping[int, np.ndarray], rows: int
    ) -> tuple[Variables, int, np.ndarray | None]:
        """Look up the partners of so many facts with these columns: the needed values, the number
        of rows found, and their proofs if not one each.
        """
        facts, times = self._star.facts, None
        found = {
            variable: columns[facts.place[variable]]
            for variable in self._given
            if variable in facts.place
        }
        if facts.tests:
            found, rows, _ = _where(passing(facts.tests, columns, self._context), found, None)
        for key in lane.keys:
            if (values := key.run(found, rows)) is None:
                raise UnfitError
            assert key.target is not None
            found[key.target] = values
        for dimension, wanted in zip(self._dimensions, self._wanted[1:], strict=True):
            found, rows, times = self._looked_up(lane, dimension, wanted, found, rows, times)
        if self._star.tests:
            passes = passing(self._star.tests, found, self._context)
            found, rows, times = _where(passes, found, times)
        for computation in lane.computations:
            if (values := computation.run(found, rows)) is None:
                raise UnfitError
            if computation.target is not None:
                found[computation.target] = values
            else:
                found, rows, times = _where(values, found, times)
        return found, rows, times

    def _looked_up(
        self,
        lane: _Lane,
        dimension: _Dimension,
        wanted: tuple[int, ...],
        found: Variables,
        rows: int,
        times: np.ndarray | None,
    ) -> tuple[Variables, int, np.ndarray | None]:
        """The rows that find one, with what is wanted behind that."""
        lookup, (kept, places, _), alike = dimension.lookup, lane.buffers, dimension.table.times
        many = (
            dimension.table.find([found[variable] for variable in lookup.key], lane.buffers)
            if rows
            else 0
        )
        if lookup.negated:
            many, kept = int(keep_absent(kept, many, rows, lane.absent)), lane.absent
        here = {variable: found[variable] for variable in wanted if variable in found}
        if many < rows:
            here = _taken(here, kept[:many])
            times = None if times is None else times.take(kept[:many])
        for variable in lookup.takes:
            if variable in wanted:
                here[variable] = dimension.taken[variable].take(places[:many])
        if self._count and not lookup.negated and alike is not None:
            more = alike.take(places[:many])
            times = more if times is None else times * more
        return here, many, times


def _where(
    passes: np.ndarray, found: Variables, times: np.ndarray | None
) -> tuple[Variables, int, np.ndarray | None]:
    """The rows that pass, or their number where no more is asked for."""
    if not found and times is None:
        return found, int(np.count_nonzero(passes)), None
    kept = np.flatnonzero(passes)
    return _taken(found, kept), len(kept), None if times is None else times.take(kept)


def _taken(columns: Variables, which: np.ndarray) -> Variables:
    return {variable: column.take(which) for variable, column in columns.items()}
