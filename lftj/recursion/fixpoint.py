"""Rounds of semi-naïve evaluation [Elastic, Algorithm 2]: what bootstraps that find rows and bootstraps that count proofs share.

Each round evaluates every recursive rule once per atom of the stratum, that atom reading only the rows that were new in the round before,
atoms of the stratum before it only older rows, those after it all rows: so an instantiation is found once, by its first new row. The
whole relation is kept as a tree only where some rule joins it with a delta.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from lftj.join.context import Context
from lftj.join.evaluate import Columns, Relations, chunks, plan_rule
from lftj.join.parallel import Screen
from lftj.join.plan import RulePlan
from lftj.join.prepared import PreparedPlan
from lftj.maintain.functor_rows import functor_rows
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.recursion.variants import Variant, delta_name, older_name, recursive_atoms, variants
from lftj.storage.database import base_name
from lftj.storage.delta import Delta, no_rows
from lftj.storage.loose_rows import AnyOrder, LooseRows
from lftj.storage.relation import RelationVersion

_REPLAN = 8  # growth or shrinkage of a delta after which a variable order is chosen anew
_FEW = 100  # rows of a delta up to which nothing is divided
_ROOM = 1 << 14  # rows of output that stay in the cache until they are added
_SMALL = 1000  # deltas for which no order is so bad that choosing another pays
_STEPS_PER_ROW = 4  # kernel steps for a row of the delta or of the output; what is beyond went into rows that were of no use
_ORDER_COST = 2  # kernel steps that a row costs in a new key order
_PLAN_COST = 50_000  # kernel steps in the time that choosing a variable order takes


class Table(Protocol):
    """The rows of one relation, and which of them are new."""

    def add(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Add candidates: column i of a row is `rows[picks[i]]`."""
        ...

    def take_fresh(self, ordered: bool = False) -> Columns:
        """The rows that were new since the last call, in ascending order if asked for."""
        ...


T = TypeVar("T", bound=Table)


class Fixpoint(Generic[T]):
    """One evaluation: `start`, then a `round` after another while it is `active`; the rows are then in `rows`."""

    counting = False
    """Whether candidates come with their numbers of proofs."""

    def __init__(
        self, schemas: Mapping[str, RelationSchema], given: Sequence[NormalRule | FunctorRule], relations: Relations, context: Context
    ):
        self.schemas = schemas
        self.context = context
        rules = [rule for rule in given if isinstance(rule, NormalRule)]
        self.functors = [rule for rule in given if isinstance(rule, FunctorRule)]
        below = {name for rule in rules for name in rule.reads} | set(map(base_name, schemas))
        self.lower = {name: relations[name] for name in below - set(schemas) if name in relations}
        self.seeds = [rule for rule in rules if not recursive_atoms(rule, schemas)]
        self.variants = [variant for rule in rules for variant in variants(rule, schemas)]
        read = {atom.relation for variant in self.variants for atom in variant.rule.atoms}
        # relations that are read whole, not just their deltas
        self.kept = [name for name in schemas if name in read or older_name(name) in read]
        self.total_of = {older_name(name): name for name in self.kept}
        self.rows: dict[str, T] = {}
        self.deltas: dict[str, LooseRows] = {}
        self.older: dict[str, RelationVersion] = {}
        self.totals = {name: RelationVersion.empty(schemas[name], context.arena) for name in self.kept}

    @property
    def active(self) -> bool:
        """Whether the last round found anything."""
        return any(delta.count for delta in self.deltas.values())

    def start(self) -> None:
        """Round 0: base rows and the rules that read nothing of the stratum."""
        for name, schema in self.schemas.items():
            self.rows[name] = self.first(schema, [rule for rule in self.seeds if rule.relation == name])
        self._next_round()

    def first(self, schema: RelationSchema, seeds: list[NormalRule]) -> T:
        """A table with the rows of round 0, which are its base rows and those of `seeds`."""
        raise NotImplementedError

    def candidates(self, piece: np.ndarray, variant: Variant) -> tuple[np.ndarray, np.ndarray]:
        """Output rows of a plan as they are added to a table, and which lines are the columns."""
        return (piece, variant.picks) if len(variant.picks) else (np.zeros((1, 1), np.int64), np.zeros(1, np.int64))

    def screen(self, variant: Variant) -> Screen | None:
        """What drops output rows of a plan that are known already, on any thread; None when every one has to be added."""
        return None

    def fresh(self, name: str, schema: RelationSchema) -> LooseRows:
        """The rows of a relation that were new in this round, under a schema for them; ascending where the relation is read whole."""
        return LooseRows(schema, self.context.arena, self.rows[name].take_fresh(ordered=name in self.totals))

    def _next_round(self) -> None:
        """Make the fresh rows the deltas, and add them to the totals."""
        for name, schema in self.schemas.items():
            self.deltas[name] = self.fresh(name, replace(schema, name=delta_name(name), key=None))
        for name in self.kept:
            self.older[name] = self.totals[name]
            self.totals[name] = self.older[name].apply(Delta(self.deltas[name].columns(), no_rows(self.schemas[name].arity)))

    def round(self) -> None:
        """One iteration."""
        deltas = {delta_name(name): delta for name, delta in self.deltas.items()}
        readable = {**self.lower, **self.totals, **{older_name(name): older for name, older in self.older.items()}, **deltas}
        for variant in self.variants:
            if not all(readable[atom.relation].count for atom in variant.rule.atoms):
                continue
            self.run(variant, readable)
        for functor in self.functors:
            self._call(functor)
        self._next_round()

    def _call(self, rule: FunctorRule) -> None:
        """Add the functor's rows for what is new in its domain: a value depends on one row alone."""
        if self.deltas[rule.domain].count:
            rows = functor_rows(rule, self.deltas[rule.domain].columns(), self.context)
            if len(rows[0]):
                self.rows[rule.relation].add(np.array(rows, np.int64), np.arange(len(rows)))

    def run(self, variant: Variant, readable: Relations) -> int:
        """Add what one variant derives to the rows of its head; the number of candidates."""
        plan = self._plan(variant, readable)
        target = self.rows[variant.rule.relation]
        before, found, divided = self.context.work, 0, len(self.context.divided)
        for piece in self._pieces(plan, variant, readable):
            found += piece.shape[1]
            target.add(*self.candidates(piece, variant))
        found += sum(division.dropped for division in self.context.divided[divided:])
        useful = _STEPS_PER_ROW * (self.deltas[variant.source].count + found)
        variant.wasted += max(0, self.context.work - before - useful)
        return found

    def _pieces(self, plan: RulePlan, variant: Variant, readable: Relations) -> Iterator[np.ndarray]:
        """The plan's output. A plan stays assembled from round to round: where rounds are many and small that is most of the work."""
        threads = self.context.threads
        if threads is not None and threads.workers > 1 and self.deltas[variant.source].count > _FEW:
            screen = self.screen(variant)
            # without a screen all candidates would go through memory from one thread to another, which takes longer than finding them
            yield from chunks(plan, readable, self.context, divide=screen is not None, screen=screen)
            return
        if variant.prepared is None or variant.prepared.plan is not plan:
            variant.prepared = PreparedPlan(plan, readable, self.context, room=_ROOM)
        yield from variant.prepared.pieces(readable, self.context)

    def _plan(self, variant: Variant, readable: Relations) -> RulePlan:
        """The plan of a variant; a new one when the delta is much larger than before, or when the old one wastes more than that costs."""
        size, planned_for = self.deltas[variant.source].count, variant.planned_for
        other = size > max(_SMALL, planned_for * _REPLAN) or (planned_for > max(_SMALL, size * _REPLAN) and variant.wasted > _PLAN_COST)
        if variant.plan is not None and not other and variant.wasted <= _PLAN_COST << variant.tries:
            return variant.plan
        seen = readable
        own = [name for name in variant.rule.reads if name not in self.lower]
        price = max(_PLAN_COST, _ORDER_COST * sum(readable[name].count for name in own))
        if variant.wasted > price << variant.tries:
            seen = {**readable, **{name: AnyOrder(readable[name]) for name in own if name != delta_name(variant.source)}}
            other, variant.wasted = True, 0
            variant.tries += 1
        if variant.plan is None or other:
            variant.plan = plan_rule(variant.rule, seen, self.context, needed=variant.needed, count=self.counting)
            variant.planned_for = size
            self._keep_orders(variant.plan)
        return variant.plan

    def _keep_orders(self, plan: RulePlan) -> None:
        """Older rows are all rows of the round before: an order that they need has to be there by then."""
        for name, order in plan.key_orders():
            if name in self.total_of:
                self.totals[self.total_of[name]].tree(order)
