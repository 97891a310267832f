"""The state of a recursive stratum from nothing [Elastic, Algorithm 2].

Iteration k finds the instantiations with rows of iterations before k, at least one of them from k − 1, and counts them for heads that are
in no earlier iteration. An instantiation with two rows from k − 1 counts once, since a fixpoint finds each once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from lftj.join.context import Context
from lftj.join.evaluate import Columns, Relations
from lftj.maintain.full import projected
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.recursion.by_parts.counted_parts import count_parts
from lftj.recursion.by_parts.decomposable import decompose
from lftj.recursion.effort import ITERATION, PROOF, ROW, STEP, WALKED
from lftj.recursion.rounds.chosen_rows import ChosenRows
from lftj.recursion.rounds.fixpoint import Fixpoint
from lftj.recursion.rounds.proof_table import ProofTable
from lftj.recursion.rounds.variants import Variant
from lftj.recursion.update.candidates import Candidates
from lftj.recursion.update.iterated_relation import IteratedRelation
from lftj.recursion.update.rule_queries import RuleQueries
from lftj.recursion.update.stratum_state import StratumState
from lftj.storage.database import base_name
from lftj.storage.delta import stored_width


def elastic_bootstrap(
    schemas: Mapping[str, RelationSchema],
    queries: Iterable[RuleQueries],
    relations: Relations,
    context: Context,
    after_round: Callable[[int], None] | None = None,
) -> StratumState:
    """The state of a stratum with these rules. Raises what evaluation raises, and OverflowError when a row has too many proofs to
    count. `after_round`: see `run_rounds`."""
    queries = tuple(queries)
    rules = [each.rule for each in queries]
    before = context.work
    fixpoint = _Proofs(schemas, rules, relations, context)
    shape = None if any(schema.choice for schema in schemas.values()) else decompose(schemas, rules)
    if shape is not None:
        fixpoint.start()
        first, _, proofs = fixpoint.table(shape.relation).columns()
        proven = count_parts(shape, first, proofs, fixpoint.lower, context)
        found = {shape.relation: IteratedRelation.of(schemas[shape.relation], context.arena, *proven)}
        steps = context.work - before
        return StratumState(schemas, found, queries, steps + WALKED * found[shape.relation].count, steps)
    fixpoint.run_rounds(after_round)
    found = {name: fixpoint.found(name) for name in schemas}
    chosen = {name: Candidates.of(each, context.arena, *fixpoint.table(name).columns()) for name, each in schemas.items() if each.choice}
    rows = sum(relation.count for relation in found.values()) + sum(kept.rows.count for kept in chosen.values())
    steps = context.work - before
    return StratumState(schemas, found, queries, STEP * steps + fixpoint.effort + ROW * rows, steps, candidates=chosen)


class _Proofs(Fixpoint[ProofTable | ChosenRows[ProofTable]]):
    """Counts proofs; `effort` is what that cost beside kernel steps."""

    counting = True
    effort = 0

    def first(self, schema: RelationSchema, seeds: list[NormalRule]) -> ProofTable | ChosenRows[ProofTable]:
        """The rows of round 0: a proof for being a base row, and those by rules that read nothing of the stratum."""
        table = ProofTable(stored_width(schema.arity))
        for rule in seeds:
            _add(table, *projected(rule, self.lower, self.context))
        if (base := self.lower.get(base_name(schema.name))) is not None:
            _add(table, base.columns(), np.ones(base.count, np.int64))
        return ChosenRows(table, schema, self.context.dictionary) if schema.choice else table

    def table(self, name: str) -> ProofTable:
        """What was derived of a relation, accepted or not."""
        rows = self.rows[name]
        return rows.candidates if isinstance(rows, ChosenRows) else rows

    def found(self, name: str) -> IteratedRelation:
        """The rows of a relation; only candidates have the proofs where there is a choice."""
        rows, schema = self.rows[name], self.schemas[name]
        if isinstance(rows, ProofTable):
            return IteratedRelation.of(schema, self.context.arena, *rows.columns())
        accepted, iterations = rows.counted()
        return IteratedRelation.of(schema, self.context.arena, accepted, iterations, np.zeros_like(iterations))

    def candidates(self, piece: np.ndarray, variant: Variant) -> tuple[np.ndarray, np.ndarray]:
        """Output rows with their proofs in the last line."""
        if len(variant.picks):
            return piece, variant.picks
        return np.stack([np.zeros(piece.shape[1], np.int64), piece[-1]]), np.zeros(1, np.int64)

    def ran(self, found: int) -> None:
        """A variant counted so many proofs."""
        self.effort += ITERATION + PROOF * found


def _add(table: ProofTable, rows: Columns, counts: np.ndarray) -> None:
    table.add(np.array([*rows, counts]), np.arange(len(rows)))
