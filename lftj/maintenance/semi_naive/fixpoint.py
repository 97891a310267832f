# SPDX-License-Identifier: Apache-2.0
"""Iterations of semi-naïve evaluation [Elastic, Algorithm 2], shared by bootstraps that find rows
and bootstraps that count proofs.

Each iteration evaluates every recursive rule once per atom of the stratum. That atom reads only the
rows that were new in the iteration before, atoms of the stratum before it read only older rows,
atoms after it all rows: so an instantiation is found once, by its first new row. The whole relation
is a tree only if some rule joins it with a delta.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar
from weakref import proxy

import numpy as np

from lftj.errors import LimitError
from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations
from lftj.maintenance.cost.cost_model import ITERATION, laid_into
from lftj.maintenance.rules.functor_rows import functor_rows
from lftj.maintenance.rules.last_found import note_last
from lftj.maintenance.semi_naive import variant_plans
from lftj.maintenance.semi_naive.prepared_rules import PreparedRules
from lftj.maintenance.semi_naive.shared_iteration import Outcome, Share, SharedIteration
from lftj.maintenance.semi_naive.variant_plans import VariantPlans
from lftj.maintenance.semi_naive.variants import (
    Variant,
    delta_name,
    older_name,
    recursive_atoms,
    variants,
)
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import Delta, no_rows
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types.sources import Role, in_role


class Table(Protocol):
    """The rows of one relation, and which of them are new."""

    def add(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Add candidates: column i of a row is `rows[picks[i]]`. Threads may add at the
        same time.
        """
        ...

    def take_fresh(self, ordered: bool = False) -> Columns:
        """The rows that were new since the last call, in ascending order if asked for."""
        ...


T = TypeVar("T", bound=Table)


class Fixpoint(ABC, Generic[T]):
    """One evaluation: `start`, then one `iterate` after another while it is `active`; the rows are
    then in `rows`.
    """

    counting = False
    """True when candidates come with their numbers of proofs."""
    lasting = False
    """True when it goes on from kept rows, and others like it will: key orders are built for all of
    them.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        given: Sequence[NormalRule | FunctorRule],
        relations: Relations,
        context: Context,
        prepared: PreparedRules | None = None,
    ):
        self.schemas = schemas
        self.prepared = prepared
        self.context = context
        rules = [rule for rule in given if isinstance(rule, NormalRule)]
        self.functors = [rule for rule in given if isinstance(rule, FunctorRule)]
        below = {name for rule in rules for name in rule.reads} | set(map(base_name, schemas))
        self.lower = {name: relations[name] for name in below - set(schemas) if name in relations}
        self.seeds = [rule for rule in rules if not recursive_atoms(rule, schemas)]
        if prepared is not None:
            prepared.begin(self.lower)
        self.variants = (
            prepared.variants
            if prepared
            else [variant for rule in rules for variant in variants(rule, schemas)]
        )
        read = {atom.relation for variant in self.variants for atom in variant.rule.atoms}
        # relations that are read whole, not just their deltas
        self.kept = [name for name in schemas if name in read or older_name(name) in read]
        self.rows: dict[str, T] = {}
        self.deltas: dict[str, TransientRelation] = {}
        self.older: dict[str, RelationVersion] = {}
        self.totals = {
            name: RelationVersion.empty(schemas[name], context.resources.arena)
            for name in self.kept
        }
        self._delta_schemas = {
            name: replace(schema, name=delta_name(name), key=None)
            for name, schema in schemas.items()
        }
        self._due: dict[str, TransientRelation] = {}  # what has yet to be added to the totals
        self._applying = {name: Lock() for name in schemas}
        self._by_chance = False  # threads found the fresh rows
        # what refers back does so weakly: a cycle would keep the tables, and the version before the
        # commit, until garbage is looked for
        me = proxy(self)
        self._plans = VariantPlans(
            context, self.counting, lambda variant: me._keep_orders(variant), self.lasting
        )

    @property
    def active(self) -> bool:
        """Test for a last iteration that found anything."""
        return any(delta.count for delta in self.deltas.values())

    def run_iterations(self, after_iteration: Callable[[int], bool] | None = None) -> bool:
        """All iterations, the first one included. `after_iteration` is told of each how many rows
        it found, and whether to go on; False where it ended them.
        """
        self.start()
        return self.go_through(after_iteration)

    def go_through(self, after_iteration: Callable[[int], bool] | None = None) -> bool:
        """All iterations after the first one, as `run_iterations`."""
        iteration = 0
        try:
            while self.active:
                self.iterate()
                iteration += 1
                self.report(iteration)
                if after_iteration is not None and not after_iteration(
                    sum(delta.count for delta in self.deltas.values())
                ):
                    return False
        except LimitError as error:
            note_last(error, self._last_found(), self.context)
            raise
        return True

    def _last_found(self) -> Iterator[tuple[RelationSchema, list[int]]]:
        """A row, as codes, of each relation of which the last iteration found one."""
        for name, delta in self.deltas.items():
            if delta.count:
                yield self.schemas[name], [int(column[-1]) for column in delta.columns()]

    def report(self, iteration: int) -> None:
        """Tell whoever shows progress what an iteration found."""
        if self.context.resources.progress is None:
            return
        found = ", ".join(
            f"{name} +{delta.count:,}" for name, delta in self.deltas.items() if delta.count
        )
        self.context.resources.report(f"iteration {iteration}: {found or 'nothing new'}")

    def start(self) -> None:
        """Iteration 0: base rows and the rules that read nothing of the stratum."""
        for name, schema in self.schemas.items():
            self.rows[name] = self.first(
                schema, [rule for rule in self.seeds if rule.relation == name]
            )
        self._next_iteration()

    @abstractmethod
    def first(self, schema: RelationSchema, seeds: list[NormalRule]) -> T:
        """A table with the rows of iteration 0, which are its base rows and those of `seeds`."""

    def candidates(self, piece: np.ndarray, variant: Variant) -> tuple[np.ndarray, np.ndarray]:
        """Output rows of a plan as they are added to a table, and which lines are the columns."""
        return (
            (piece, variant.picks)
            if len(variant.picks)
            else (np.zeros((1, 1), np.int64), np.zeros(1, np.int64))
        )

    def fresh(self, name: str, schema: RelationSchema) -> TransientRelation:
        """The rows of a relation that were new in this iteration, under a schema for them."""
        return TransientRelation(
            schema, self.context.resources.arena, self.rows[name].take_fresh(self.ordered(name))
        )

    def ordered(self, name: str) -> bool:
        """Test for fresh rows that have to ascend: where they go into a tree, and where the order
        they came in depends on chance.
        """
        return name in self.totals or self._by_chance

    def total(self, name: str) -> RelationVersion:
        """All rows of a relation so far. They are brought together when first asked for in an
        iteration, by whichever thread asks.
        """
        if name in self._due:
            with self._applying[name]:
                if name in self._due:
                    delta = Delta(self._due[name].columns(), no_rows(self.schemas[name].arity))
                    self.totals[name] = self.totals[name].apply(delta)
                    del self._due[name]
        return self.totals[name]

    def _next_iteration(self) -> None:
        """Make the fresh rows the deltas; they belong to the totals from now on."""
        for name in self.kept:
            self.older[name] = self.total(name)
        self.deltas = {name: self.fresh(name, self._delta_schemas[name]) for name in self.schemas}
        self._due = {name: self.deltas[name] for name in self.kept if self.deltas[name].count}
        for name, delta in self._due.items():
            self.context.budget.laid += len(self.totals[name].orders()) * laid_into(
                delta.count, self.totals[name].count
            )

    def iterate(self) -> None:
        """One iteration."""
        deltas = {delta_name(name): delta for name, delta in self.deltas.items()}
        older = {older_name(name): version for name, version in self.older.items()}
        readable = _Readable({**self.lower, **older, **deltas}, self)
        runnable = [
            variant
            for variant in self.variants
            if all(readable.holds(atom.relation) for atom in variant.rule.atoms)
        ]
        self.context.budget.iterated += ITERATION * (1 + len(runnable))
        for variant in runnable:
            self._plans.plan(variant, self.deltas[variant.source].count, readable)
        shared = SharedIteration(runnable, self.deltas, self.kept, self.context.resources.threads)
        self._by_chance = shared.worthwhile
        outcomes = shared.run(self.run, readable, self.context) if self._by_chance else None
        for number, variant in enumerate(runnable):
            delta = self.deltas[variant.source]
            steps, found = (
                outcomes[number]
                if outcomes
                else self.run(Share(variant, delta), readable, self.context)
            )
            variant_plans.account(variant, delta.count, steps, found)
            self.context.budget.found += found
            self.ran(found)
        for functor in self.functors:
            self._call(functor)
        self._next_iteration()

    def ran(self, found: int) -> None:
        """A variant was run and had so many candidates."""

    def _call(self, rule: FunctorRule) -> None:
        """Add the functor's rows for what is new in its domain: a value depends on one
        row alone.
        """
        if rule.domain in self.deltas and self.deltas[rule.domain].count:
            rows = functor_rows(rule, self.deltas[rule.domain].columns(), self.context)
            if len(rows[0]):
                self.rows[rule.relation].add(np.array(rows, np.int64), np.arange(len(rows)))

    def run(self, share: Share, readable: Relations, context: Context) -> Outcome:
        """Add what one variant derives from some rows of its delta to the rows of its head; on any
        thread.
        """
        variant, delta = share.variant, share.delta
        if not delta.count:
            return Outcome()
        read = {name: readable[name] for name in variant.others}
        read[delta_name(variant.source)] = delta
        before, found = context.budget.work, 0
        rows = self.rows[variant.rule.relation]
        with variant.assembled(read, self.context) as prepared:
            for piece in prepared.pieces(read, context, within=share.within(read)):
                found += piece.shape[1]
                rows.add(*self.candidates(piece, variant))
        return Outcome(context.budget.work - before, found)

    def _keep_orders(self, variant: Variant) -> None:
        """Older rows are all rows of the iteration before: an order that they need has to be there
        by then.
        """
        assert variant.plan is not None
        for name, order in variant.plan.key_orders():
            if in_role(name, Role.OLDER):
                self.total(name.name).tree(order)


class _Readable(Mapping[str, RelationVersion]):
    """Relations that rules read in an iteration, by name."""

    def __init__(self, fixed: Mapping[str, RelationVersion], fixpoint: Fixpoint[Any]):
        self._fixed = fixed
        self._fixpoint = fixpoint

    def __getitem__(self, name: str) -> RelationVersion:
        return self._fixed[name] if name in self._fixed else self._fixpoint.total(name)

    def __iter__(self) -> Iterator[str]:
        return chain(self._fixed, self._fixpoint.totals)

    def __len__(self) -> int:
        return len(self._fixed) + len(self._fixpoint.totals)

    def holds(self, name: str) -> bool:
        """Test for a relation with any rows, without bringing them together."""
        return bool(
            self._fixed[name].count
            if name in self._fixed
            else self._fixpoint.totals[name].count or name in self._fixpoint._due
        )
