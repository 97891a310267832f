# SPDX-License-Identifier: Apache-2.0
"""The state of a recursive stratum from nothing [Elastic, Algorithm 2].

Iteration k finds the instantiations with rows of iterations before k, at least one of them from k −
1, and counts them for heads that are in no earlier iteration. An instantiation with two rows from k
− 1 counts once, since a fixpoint finds each once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations
from lftj.maintenance.cost.cost_model import ITERATION, PROOF, ROW, STEP, WALKED
from lftj.maintenance.counting.choice_update import Candidates
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.maintenance.counting.rule_queries import RuleQueries
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.rules.full_evaluation import projected
from lftj.maintenance.semi_naive.chosen_rows import ChosenRows
from lftj.maintenance.semi_naive.fixpoint import Fixpoint
from lftj.maintenance.semi_naive.proof_table import ProofTable
from lftj.maintenance.semi_naive.variants import Variant
from lftj.maintenance.separable.counted_walk_kernels import Counted, Marks, Weights, counted_walk
from lftj.maintenance.separable.decomposable import Decomposition, decompose
from lftj.maintenance.separable.separable import WALK_SPARSE
from lftj.maintenance.separable.walk_kernels import Graph, Parts, Reached
from lftj.maintenance.separable.walks import Walk, walked
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.scantree.rows import distinct_values, equal_runs, sort_and_count, sort_order
from lftj.storage.database import base_name
from lftj.storage.delta import stored_width

# Fixpoints part by part that count proofs, for strata that fall apart: `parts`, with iteration and
# proof count of every row.
#
# A walk's iteration is the iteration in which semi-naïve evaluation finds a row. A row's proofs are
# the instantiations of the recursive rules that lead to it from the iteration before: so every step
# carries the number of instantiations it stands for.


Proven = tuple[Columns, np.ndarray, np.ndarray]
"""Sorted, distinct rows, their iterations and their proof counts."""
_BOOTSTRAP_ROWS = 1 << 16
"""Rows that a counting walk has room for at first."""


def count_parts(
    shape: Decomposition, first: Columns, proofs: np.ndarray, relations: Relations, context: Context
) -> Proven:
    """All rows of the relation, from those of iteration 0 (sorted) with their proofs, and the
    relations that its recursive rules read.
    """
    before, after, weights = _steps(shape, relations, context)
    if not len(proofs) or not len(weights):
        return first, np.zeros_like(proofs), proofs
    changing = [column for place, column in enumerate(first) if place == shape.changing]
    kept = [column for place, column in enumerate(first) if place != shape.changing]
    order = sort_order([*kept, *changing])
    ordered = [column.take(order) for column in (*kept, *changing)]
    lows, seeds, sources, targets = _numbered([ordered[-1], before, after], WALK_SPARSE)
    heads = equal_runs(ordered, len(kept)) if kept else np.zeros(1, np.int64)
    parts = Parts(np.append(heads, len(order)), seeds, np.zeros(len(heads), np.int64))
    starts = np.zeros(len(lows) + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=len(lows)), out=starts[1:])
    nodes, iterations, counts = _walk(
        parts, Graph(starts, targets), Weights(proofs.take(order), weights), context
    )
    sizes = np.diff(parts.ends, prepend=0)
    columns = [np.repeat(column.take(heads), sizes) for column in ordered[:-1]]
    columns.insert(shape.changing, lows.take(nodes))
    if shape.changing == len(kept):
        return columns, iterations, counts
    order = sort_order(columns)
    return [column.take(order) for column in columns], iterations.take(order), counts.take(order)


def _steps(
    shape: Decomposition, relations: Relations, context: Context
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All steps (value before, value after), ascending, and how many instantiations each stands
    for.
    """
    found = [projected(rule, relations, context) for rule in shape.steps]
    rows = [np.concatenate(columns) for columns in zip(*(rows for rows, _ in found), strict=True)]
    (before, after), weights = sort_and_count(rows, np.concatenate([counts for _, counts in found]))
    return before, after, weights


def _numbered(
    columns: Columns, sparse: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The value of each number from 0, ascending, and three columns of values as numbers."""
    low = min(int(column.min()) for column in columns)
    span = max(int(column.max()) for column in columns) - low + 1
    if span <= sparse * sum(map(len, columns)):
        first, second, third = (column - low for column in columns)
        return np.arange(low, low + span), first, second, third
    values = distinct_values(np.concatenate(columns))
    first, second, third = (np.searchsorted(values, column) for column in columns)
    return values, first, second, third


def _walk(parts: Parts, graph: Graph, weights: Weights, context: Context) -> Counted:
    """Walk all parts: the nodes they reach, with iterations and proofs. Fills the parts' ends."""
    nodes = graph.starts.size - 1

    def begin(parts: Parts) -> Walk[Counted]:
        marks = Marks(np.empty(nodes, np.int64), np.empty(nodes, np.int64))

        def kernel(
            parts: Parts, graph: Graph, reached: Reached, state: np.ndarray, out: Counted, most: int
        ) -> int:
            return counted_walk(parts, graph, weights, reached, marks, state, out, most)

        return Walk(
            kernel,
            parts,
            graph,
            lambda rows: Counted(*np.empty((3, rows), np.int64)),
            _BOOTSTRAP_ROWS,
        )

    found = walked(begin, parts, context)
    return found[0] if len(found) == 1 else Counted(*map(np.concatenate, zip(*found, strict=True)))


def elastic_bootstrap(
    schemas: Mapping[str, RelationSchema],
    queries: Iterable[RuleQueries],
    relations: Relations,
    context: Context,
    after_iteration: Callable[[int], bool] | None = None,
) -> StratumState | None:
    """The state of a stratum with these rules; None where `after_iteration` ended the iterations.
    Raises what evaluation raises, and OverflowError when a row has too many proofs to count.
    """
    queries = tuple(queries)
    rules = [each.rule for each in queries]
    before = context.budget.work
    fixpoint = _Proofs(schemas, rules, relations, context)
    shape = None if any(schema.choice for schema in schemas.values()) else decompose(schemas, rules)
    if shape is not None:
        fixpoint.start()
        first, _, proofs = fixpoint.table(shape.relation).columns()
        proven = count_parts(shape, first, proofs, fixpoint.lower, context)
        found = {
            shape.relation: IteratedRelation.of(
                schemas[shape.relation], context.resources.arena, *proven
            )
        }
        steps = context.budget.work - before
        return StratumState(
            schemas, found, queries, steps + WALKED * found[shape.relation].count, steps
        )
    if not fixpoint.run_iterations(after_iteration):
        return None
    found = {name: fixpoint.found(name) for name in schemas}
    chosen = {
        name: Candidates.of(each, context.resources.arena, *fixpoint.table(name).columns())
        for name, each in schemas.items()
        if each.choice
    }
    rows = sum(relation.count for relation in found.values()) + sum(
        kept.rows.count for kept in chosen.values()
    )
    steps = context.budget.work - before
    return StratumState(
        schemas,
        found,
        queries,
        STEP * steps + fixpoint.cost + ROW * rows,
        steps,
        candidates=chosen,
    )


class _Proofs(Fixpoint[ProofTable | ChosenRows[ProofTable]]):
    """Counts proofs; `cost` is what that cost beside kernel steps."""

    counting = True
    cost = 0

    def first(
        self, schema: RelationSchema, seeds: list[NormalRule]
    ) -> ProofTable | ChosenRows[ProofTable]:
        """The rows of iteration 0: a proof for being a base row, and those by rules that read
        nothing of the stratum.
        """
        table = ProofTable(stored_width(schema.arity))
        for rule in seeds:
            _add(table, *projected(rule, self.lower, self.context))
        if (base := self.lower.get(base_name(schema.name))) is not None:
            _add(table, base.columns(), np.ones(base.count, np.int64))
        return (
            ChosenRows(table, schema, self.context.resources.dictionary) if schema.choice else table
        )

    def table(self, name: str) -> ProofTable:
        """Table of all derived rows of a relation, accepted or not."""
        rows = self.rows[name]
        return rows.candidates if isinstance(rows, ChosenRows) else rows

    def found(self, name: str) -> IteratedRelation:
        """The rows of a relation; only candidates have the proofs where there is a choice."""
        rows, schema = self.rows[name], self.schemas[name]
        if isinstance(rows, ProofTable):
            return IteratedRelation.of(schema, self.context.resources.arena, *rows.columns())
        accepted, iterations = rows.counted()
        return IteratedRelation.of(
            schema, self.context.resources.arena, accepted, iterations, np.zeros_like(iterations)
        )

    def candidates(self, piece: np.ndarray, variant: Variant) -> tuple[np.ndarray, np.ndarray]:
        """Output rows with their proofs in the last line."""
        if len(variant.picks):
            return piece, variant.picks
        return np.stack([np.zeros(piece.shape[1], np.int64), piece[-1]]), np.zeros(1, np.int64)

    def ran(self, found: int) -> None:
        """A variant counted so many proofs."""
        self.cost += ITERATION + PROOF * found


def _add(table: ProofTable, rows: Columns, counts: np.ndarray) -> None:
    table.add(np.array([*rows, counts]), np.arange(len(rows)))
