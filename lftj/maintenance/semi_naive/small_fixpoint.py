"""A fixpoint of few rows in few iterations, which the parts that a change touches mostly are
[Elastic, Algorithm 2, without its counts].

For many rows it pays to keep them in hash tables, to test them before they are joined, and to ask
for threads (`fixpoint`). For some thousand, setting that up takes longer than the joins: here the
rows are one sorted matrix, and an iteration is a run of each rule, a sort and a merge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns
from lftj.join.run.prepared import PreparedPlan
from lftj.join.strategy import Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import ITERATION
from lftj.maintenance.semi_naive import variant_plans
from lftj.maintenance.semi_naive.closure import Closure
from lftj.maintenance.semi_naive.packed_rows import Iteration
from lftj.maintenance.semi_naive.prepared_rules import PreparedRules
from lftj.maintenance.semi_naive.variant_plans import VariantPlans
from lftj.maintenance.semi_naive.variants import Variant, delta_name, recursive_atoms
from lftj.program.normal_form import RelationSchema
from lftj.scantree.columns import Lines
from lftj.scantree.rows import sorted_matrix
from lftj.scantree.rows_kernels import merge_news
from lftj.storage.database import base_name
from lftj.storage.delta import stored_width
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation

Below = Mapping[str, RelationVersion]


class SmallFixpoint(Strategy[dict[str, Columns]]):
    """Iterations over sorted matrices, where few rows are expected of rules that stay prepared."""

    name = "small fixpoint"
    gate = "one leg"
    change: Closure

    def applies(self) -> bool:
        """Tell whether few rows are expected, and no rule joins rows of the stratum with each
        other.
        """
        closure = self.change
        return closure.prepared is not None and not any(
            len(recursive_atoms(rule, closure.schemas)) > 1 for rule in closure.prepared.rules
        )

    def run(self) -> dict[str, Columns] | Exhausted:
        """The rows of all relations, sorted; Exhausted where there turn out to be many, or many
        iterations.
        """
        closure = self.change
        assert closure.prepared is not None
        iterations = _SmallFixpoint(
            closure.schemas, closure.prepared, closure.relations, closure.context
        )
        if not iterations.run(closure.trail):
            return Exhausted(Why.PASS, None)
        return {name: Lines(rows) for name, rows in iterations.rows.items()}


class _SmallFixpoint:
    """The rows so far, as matrices of columns × rows, and what was found in this iteration and may
    be new, by relation.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        prepared: PreparedRules,
        below: Below,
        context: Context,
    ):
        prepared.begin(below, context.tuning)
        self.rows = {
            name: np.empty((stored_width(schema.arity), 0), np.int64)
            for name, schema in schemas.items()
        }
        self._schemas = schemas
        self._prepared = prepared
        self._read = dict(below)
        self._context = context
        self._plans = VariantPlans(context, False, lambda variant: None)
        self._found: dict[str, list[np.ndarray]] = {name: [] for name in schemas}
        self._candidates = 0  # in this iteration

    def run(self, trail: list[Iteration] | None = None) -> bool:
        """Do iterations until nothing is new; False when that is left to others. `trail` as of
        `Closure`.
        """
        for name, found in self._found.items():
            base = self._read.get(base_name(name))
            if base is not None and base.count:
                found.append(np.array(base.columns(), np.int64))
        for seed in self._prepared.seeds:
            self._evaluate(seed, self._prepared.seed(seed, self._read, self._context), self._read)
        most = self._context.tuning.small_rows
        for _ in range(self._context.tuning.small_iterations):
            if max(self._candidates, *(rows.shape[1] for rows in self.rows.values())) > most:
                break
            deltas = {
                name: self._apply(name, found) for name, found in self._found.items() if found
            }
            self._candidates = 0
            if trail is not None:
                trail.append({name: delta.columns() for name, delta in deltas.items()})
            if not any(delta.count for delta in deltas.values()):
                return True
            for variant in self._prepared.variants:
                delta = deltas.get(variant.source)
                if delta is not None and delta.count:
                    self._follow(variant, delta)
        if trail is not None:
            trail.clear()
        return False

    def _apply(self, name: str, found: list[np.ndarray]) -> TransientRelation:
        """Bring what was found to the rows there are. What of it is new."""
        known, every = (
            self.rows[name],
            sorted_matrix(found[0] if len(found) == 1 else np.concatenate(found, axis=1)),
        )
        found.clear()
        fresh, merged = (
            np.empty_like(every),
            np.empty((len(known), known.shape[1] + every.shape[1]), np.int64),
        )
        news, size = merge_news(every, known, fresh, merged)
        if news:
            self.rows[name] = np.ascontiguousarray(merged[:, :size])
        schema = replace(self._schemas[name], name=delta_name(name), key=None)
        return TransientRelation(
            schema, self._context.resources.arena, np.ascontiguousarray(fresh[:, :news])
        )

    def _follow(self, variant: Variant, delta: TransientRelation) -> None:
        """Find what a rule derives from new rows."""
        read = {**self._read, delta_name(variant.source): delta}
        if not all(read[atom.relation].count for atom in variant.rule.atoms):
            return
        self._context.budget.iterated += ITERATION
        self._plans.plan(variant, delta.count, read)
        before = self._context.budget.work
        with variant.assembled(read, self._context) as prepared:
            found = self._evaluate(variant, prepared, read)
        variant_plans.account(variant, delta.count, self._context.budget.work - before, found)

    def _evaluate(self, variant: Variant, prepared: PreparedPlan, read: Below) -> int:
        """Note what a rule derives, as long as it is not too much. How many rows."""
        found, count = self._found[variant.rule.relation], 0
        for piece in prepared.pieces(read, self._context):
            found.append(
                piece.take(variant.picks, axis=0)
                if len(variant.picks)
                else np.zeros((1, 1), np.int64)
            )
            count += piece.shape[1]
            if count > self._context.tuning.small_rows:
                break
        self._candidates += count
        self._context.budget.found += count
        return count
