# SPDX-License-Identifier: Apache-2.0
"""Semi-naïve evaluation of a recursive stratum from nothing [Elastic, Algorithm 2, without its
counts].

Iterations are run (`fixpoint`), in which a candidate's way is: kernel → row set (is it new?) → next
iteration's delta.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

import numpy as np

from lftj.join.run.evaluate import Columns
from lftj.join.strategy import Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import ROW_ALONE, ROW_MARKED
from lftj.maintenance.semi_naive.chosen_rows import ChosenRows
from lftj.maintenance.semi_naive.closure import Closure, iteration_0
from lftj.maintenance.semi_naive.fixpoint import Fixpoint
from lftj.maintenance.semi_naive.packed_rows import Iteration, PackedRows, noted
from lftj.maintenance.semi_naive.prepared_rules import PreparedRules
from lftj.maintenance.semi_naive.row_set import RowSet
from lftj.maintenance.semi_naive.variant_plans import account
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import stored_width
from lftj.storage.relation import Bounds, RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types import Type

# The ranges of values of each type in relations, by which row sets are laid out.


def ranges_of_types(
    relations: Iterable[RelationVersion], types: Collection[Type]
) -> dict[Type, Bounds]:
    """Two codes for each of these types that all codes of it lie between. O(columns), once the
    relations know their bounds.
    """
    found: dict[Type, Bounds] = {}
    for relation in relations:
        columns = relation.schema.columns
        if not any(type in types for _, type in columns):
            continue
        for (_, type), (low, high) in zip(columns, relation.bounds(), strict=False):
            if type in types:
                known = found.get(type, (low, high))
                found[type] = (min(known[0], low), max(known[1], high))
    return found


class Iterations(Strategy[dict[str, Columns]]):
    """Iterations over all rows, for whatever rules: the way that always closes a stratum."""

    name = "iterations"
    needed = True
    change: Closure

    def run(self) -> dict[str, Columns] | Exhausted:
        """The rows of all relations; Exhausted where `after_iteration` ended the iterations."""
        closure = self.change
        fixpoint = _Rows(
            closure.schemas, closure.rules, closure.relations, closure.context, closure.prepared
        )
        fixpoint.trail = closure.trail
        try:
            if not fixpoint.run_iterations(closure.after_iteration):
                return Exhausted(Why.LONG_CHAIN, None)
            return {name: fixpoint.found(name) for name in fixpoint.schemas}
        finally:
            fixpoint.release()


class _Rows(Fixpoint[RowSet | ChosenRows[RowSet]]):
    """Finds rows alone."""

    trail: list[Iteration] | None = None

    def _next_iteration(self) -> None:
        super()._next_iteration()
        if self.trail is not None:
            self.trail.append(
                {name: noted(rows) for name, rows in self.deltas.items() if rows.count}
            )

    def first(self, schema: RelationSchema, seeds: list[NormalRule]) -> RowSet | ChosenRows[RowSet]:
        """The rows of iteration 0, in a set for the values that are to be expected."""
        ranges = self._ranges
        lows, highs = np.array(
            [ranges.get(type, (0, 0)) for _, type in schema.columns] or [(0, 0)], np.int64
        ).T.copy()
        found = RowSet(
            stored_width(schema.arity),
            lows,
            highs,
            self.context.resources.threads,
        )
        if self.prepared is None:
            rows = iteration_0(schema, seeds, self.lower, self.context)
            found.add(np.array(rows, np.int64), np.arange(len(rows)))
        else:
            self._add_seeds(self.prepared, found, schema.name)
        return (
            ChosenRows(found, schema, self.context.resources.dictionary) if schema.choice else found
        )

    @cached_property
    def _ranges(self) -> dict[Type, Bounds]:
        """The ranges of the values to be expected, by type."""
        types = {type for schema in self.schemas.values() for _, type in schema.columns}
        return ranges_of_types(self.lower.values(), types)

    def _add_seeds(self, prepared: PreparedRules, found: RowSet, name: str) -> None:
        """The rows of iteration 0, as they come."""
        base = base_name(name)
        if base in self.lower and self.lower[base].count:
            rows = np.array(self.lower[base].columns(), np.int64)
            found.add(rows, np.arange(len(rows)))
        for seed in prepared.seeds:
            if seed.rule.relation == name:
                plan = prepared.seed(seed, self.lower, self.context)
                before, rows = self.context.budget.work, 0
                for piece in plan.pieces(self.lower, self.context):
                    rows += piece.shape[1]
                    found.add(*self.candidates(piece, seed))
                account(seed, 0, self.context.budget.work - before, rows)
                self.context.budget.found += rows

    def found(self, name: str) -> Columns:
        """All rows of a relation, sorted."""
        rows = self.rows[name]
        found = rows.candidates if isinstance(rows, ChosenRows) else rows
        price = ROW_MARKED if found.marked else ROW_ALONE
        self.context.budget.laid += price * found.count
        if name in self.totals:
            return self.total(name).columns()
        return rows.columns()

    def release(self) -> None:
        """Give back what others can use; no more iterations are run."""
        for rows in self.rows.values():
            (rows.candidates if isinstance(rows, ChosenRows) else rows).release()

    def fresh(self, name: str, schema: RelationSchema) -> TransientRelation:
        """Rows that need not be unpacked before they are sorted."""
        rows = self.rows[name]
        packed = rows.take_packed(self.ordered(name)) if isinstance(rows, RowSet) else None
        return (
            super().fresh(name, schema)
            if packed is None
            else PackedRows(schema, self.context.resources.arena, packed)
        )
