"""Semi-naïve evaluation that counts [Elastic, Algorithm 2]: the state of a recursive stratum from nothing.

Iteration k finds the instantiations with rows of iterations before k, at least one of them from k − 1, and counts them for heads that are
in no earlier iteration. An instantiation with two rows from k − 1 counts once because atoms are taken in turn: those before the one that
reads the fresh rows read all rows up to k − 1, those behind it only rows up to k − 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from lftj.join.context import Context
from lftj.join.evaluate import Relations, chunks, plan_rule
from lftj.join.prepared import PreparedPlan
from lftj.maintain.full import projected
from lftj.program.normal_form import NormalRule, PositiveAtom, Ref, RelationSchema
from lftj.recursion.counted_parts import count_parts
from lftj.recursion.decomposable import decompose
from lftj.recursion.effort import ITERATION, PROOF, ROW, STEP, WALKED
from lftj.recursion.iterated_relation import IteratedRelation
from lftj.recursion.proof_table import ProofTable
from lftj.recursion.rule_queries import RuleQueries
from lftj.recursion.stratum_state import StratumState
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta
from lftj.storage.loose_rows import LooseRows
from lftj.storage.relation import RelationVersion

FRESH = "#fresh"
BEFORE = "#before"
_REPLAN = 8  # growth or shrinkage of the fresh rows after which a plan is made anew
_FEW = 1024  # fresh rows up to which a plan is kept assembled instead of streaming its output


@dataclass
class _Variant:
    """A recursive rule with one of its atoms reading the fresh rows of `source`."""

    rule: NormalRule
    source: str
    needed: tuple[int, ...]
    picks: np.ndarray
    prepared: PreparedPlan | None = None
    planned_for: int = 0

    def run(self, readings: Relations, context: Context, into: ProofTable) -> int:
        """Add the proofs of its heads; the number of rows they came in."""
        size = readings[self.source + FRESH].count
        if self.prepared is None or size > self.planned_for * _REPLAN or size * _REPLAN < self.planned_for:
            plan = plan_rule(self.rule, readings, context, needed=self.needed, count=True)
            self.prepared, self.planned_for = PreparedPlan(plan, readings, context), size
        if size > _FEW:
            found = 0
            for piece in chunks(self.prepared.plan, readings, context):
                into.add(*self._candidates(piece))
                found += piece.shape[1]
            return found
        columns, counts, _ = self.prepared.run(readings, context)
        if len(counts):
            into.add(*self._candidates(np.array([*columns, counts])))
        return len(counts)

    def _candidates(self, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if len(self.picks):
            return piece, self.picks
        return np.stack([np.zeros(piece.shape[1], np.int64), piece[-1]]), np.zeros(1, np.int64)


def elastic_bootstrap(
    schemas: Mapping[str, RelationSchema], queries: Iterable[RuleQueries], relations: Relations, context: Context
) -> StratumState:
    """The state of a stratum with these rules; raises what evaluation raises."""
    queries = tuple(queries)
    before = context.work
    fixpoint = _Fixpoint(schemas, queries, relations, context)
    if shape := decompose(schemas, [each.rule for each in queries]):
        fixpoint.start()
        first, _, proofs = fixpoint.tables[shape.relation].columns()
        proven = count_parts(shape, first, proofs, fixpoint.readings, context)
        found = {shape.relation: IteratedRelation.of(schemas[shape.relation], context.arena, *proven)}
        return StratumState(schemas, found, queries, context.work - before + WALKED * found[shape.relation].count)
    fixpoint.start()
    while fixpoint.active:
        fixpoint.iteration()
    found = {name: IteratedRelation.of(each, context.arena, *fixpoint.tables[name].columns()) for name, each in schemas.items()}
    rows = sum(relation.count for relation in found.values())
    return StratumState(schemas, found, queries, STEP * (context.work - before) + fixpoint.effort + ROW * rows)


class _Fixpoint:
    def __init__(self, schemas: Mapping[str, RelationSchema], queries: tuple[RuleQueries, ...], relations: Relations, context: Context):
        self.schemas = schemas
        self.context = context
        self.seeds = [each.rule for each in queries if not each.recursive]
        self.variants = [variant for each in queries if each.recursive for variant in _variants(each.rule, schemas)]
        below = {name for each in queries for name in each.rule.reads} | set(map(base_name, schemas))
        self.readings: dict[str, RelationVersion] = {name: relations[name] for name in below - set(schemas) if name in relations}
        read = {atom.relation for variant in self.variants for atom in variant.rule.atoms}
        self.whole = [name for name in schemas if name in read or name + BEFORE in read]
        for name in self.whole:
            self.readings[name] = self.readings[name + BEFORE] = RelationVersion.empty(schemas[name], context.arena)
        self.tables = {name: ProofTable(max(1, schema.arity)) for name, schema in schemas.items()}
        self.effort = 0

    @property
    def active(self) -> bool:
        return any(self.readings[name + FRESH].count for name in self.schemas)

    def start(self) -> None:
        """Iteration 0: base rows, and the rules that read nothing of the stratum."""
        for rule in self.seeds:
            self._add(rule.relation, *projected(rule, self.readings, self.context))
        for name in self.schemas:
            if (base := self.readings.get(base_name(name))) is not None:
                rows = base.columns()
                self._add(name, rows, np.ones(len(rows[0]), np.int64))
        self._next()

    def _add(self, name: str, rows: Columns, counts: np.ndarray) -> None:
        self.tables[name].add(np.array([*rows, counts]), np.arange(len(rows)))

    def iteration(self) -> None:
        """One iteration."""
        for variant in self.variants:
            if self.readings[variant.source + FRESH].count:
                self.effort += ITERATION + PROOF * variant.run(self.readings, self.context, self.tables[variant.rule.relation])
        self._next()

    def _next(self) -> None:
        """Make what was new the fresh rows, and add it to what is read whole."""
        for name, schema in self.schemas.items():
            rows = self.tables[name].next_iteration()
            self.readings[name + FRESH] = LooseRows(replace(schema, name=name + FRESH, key=None), self.context.arena, rows)
            if name in self.whole:
                self.readings[name + BEFORE] = self.readings[name]
                self.readings[name] = self.readings[name].apply(Delta.insertion(rows))


def _variants(rule: NormalRule, schemas: Mapping[str, RelationSchema]) -> list[_Variant]:
    head = [term.variable for term in rule.head if isinstance(term, Ref)]
    needed = tuple(dict.fromkeys(head))
    picks = np.array([needed.index(variable) for variable in head], np.int64)
    variants: list[_Variant] = []
    for number, atom in enumerate(rule.atoms):
        if atom.relation in schemas:
            behind = [PositiveAtom(a.relation + BEFORE * (a.relation in schemas), a.args) for a in rule.atoms[number + 1 :]]
            atoms = (*rule.atoms[:number], PositiveAtom(atom.relation + FRESH, atom.args), *behind)
            variants.append(_Variant(replace(rule, atoms=atoms), atom.relation, needed, picks))
    return variants
