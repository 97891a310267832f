# SPDX-License-Identifier: Apache-2.0
"""Joins: the satisfying assignments of a conjunctive body, projected to what readers need of them.

A join finds how its assignments change in one of two ways: by delta queries, in which each atom in
turn reads the changed rows, or by the trace of its last search, whose regions are searched again
[LFTJ-IVM 4]. A join that is evaluated chooses between them, and chooses anew once it has a trace or
its relations have outgrown the choice. What speaks for one of them is how the relations are, not
the size of a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.grouped_results import additive, totalled
from lftj.heads.kept import GroupTotals
from lftj.heads.support import support_counts
from lftj.join.context import Context
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import Columns, Relations, plan_rule
from lftj.join.run.ladder import satisfying
from lftj.join.strategy import Exhausted, Why, within
from lftj.maintenance.cost.cost_model import SEEN_CHANGES, TRACED
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.full_evaluation import projected, running_totals
from lftj.maintenance.trace.trace_planner import TraceChoice, choose_trace, trace_of_all
from lftj.maintenance.trace.trace_state import (
    TraceState,
    fitted,
    trace_from_nothing,
    traced_change,
)
from lftj.program.normal_form import NormalRule
from lftj.views.delta_query import DeltaQuery, delta_queries, signed_assignments
from lftj.views.experience import Experience
from lftj.views.ways import DELTA_QUERIES, TRACE

_OUTGROWN = 4
"""Growth of a relation after which a join chooses anew between delta queries and a trace."""
_FIRST_PROOF_STEPS = 1 << 19
"""Kernel steps that a search for first proofs may take however few counting is expected to take."""

_NOT_KNOWN: Mapping[str, int] = MappingProxyType({})


def digest(definition: str) -> str:
    """The key of a node by its definition: the same in every process."""
    return blake2b(definition.encode(), digest_size=16).hexdigest()


def body_of(rule: NormalRule) -> tuple[object, ...]:
    """All that decides which assignments a rule has; names of variables and the head do not."""
    types = [variable.type for variable in rule.variables]
    return rule.atoms, rule.negated, rule.assignments, rule.filters, types, rule.lead


Assignments = tuple[Columns, np.ndarray]
"""Needed values of assignments, and how many each row stands for: negative numbers are lost."""


NO_ASSIGNMENTS: Assignments = [], np.empty(0, np.int64)
NOT_MADE = object()


class JoinState(NamedTuple):
    """One version of what a join keeps: the kernel steps of its last full evaluation, the trace by
    which it follows changes, and the rows that each relation had when its way was chosen (empty
    where nobody knows).
    """

    join: Join
    work: int = 0
    trace: TraceState | None = None
    sizes: Mapping[str, int] = _NOT_KNOWN

    @property
    def bytes(self) -> int:
        """Bytes of the sensitivity indices."""
        return 0 if self.trace is None else self.trace.bytes


class Want(NamedTuple):
    """A reader's wish of all assignments: totals of the groups of `shape`, or pieces of whole
    groups where the shape needs the assignments; without a shape, the head's rows, sorted, each
    with its number of assignments.

    `unordered`: extremes may be totalled, as their rows need not be in order yet; `traced`: the
    join may keep a trace.
    """

    shape: AggregateShape | None = None
    unordered: bool = False
    traced: bool = True


class Found(NamedTuple):
    """Assignments of a full evaluation: pieces of needed values with their numbers, or the `totals`
    of groups; and the state of the join after it.
    """

    pieces: Iterable[Assignments]
    state: JoinState
    totals: GroupTotals | None = None


class Join:
    """A conjunctive body with the values that are `needed` of its assignments. Plans are kept for
    speed and are no part of any version: all versions share them.
    """

    def __init__(self, key: str, rule: NormalRule, needed: tuple[int, ...], apart: str = ""):
        self.key, self.apart = key, apart
        self.rule = rule
        self.needed = needed
        self._picks = tuple(needed.index(variable) for variable in rule.group)
        self.reads = frozenset(rule.reads)
        self.experience = Experience(self.reads)
        self.pattern: object = NOT_MADE
        """Room for what is found out about its constants: `lftj.views.family.Pattern`."""

    @staticmethod
    def of(rule: NormalRule, apart: str = "") -> Join:
        """The join behind a rule without aggregates. Rules whose bodies are equal, and whose heads
        need the same values of them, have joins of equal keys, unless something tells them `apart`.
        """
        needed = tuple(dict.fromkeys(rule.group))
        return Join(digest(repr((apart, rule.group, body_of(rule)))), rule, needed, apart)

    @property
    def projects(self) -> bool:
        """Test for a row with several satisfying assignments, so that their number has to be
        kept.
        """
        return len(self.needed) < len(self.rule.variables)

    def head_rows(self, columns: Columns, rows: int) -> Columns:
        """Head rows of so many rows of needed values; of a nullary head a column of zeros."""
        return [columns[pick] for pick in self._picks] or [np.zeros(rows, np.int64)]

    @cached_property
    def queries(self) -> list[DeltaQuery]:
        """The delta queries, one per atom."""
        return delta_queries(self.rule, self.needed)

    # ── the change of the assignments ─────────────────────────────────────────────────────────────
    def delta(
        self,
        state: JoinState,
        versions: Versions,
        context: Context,
        work: RuleWork,
        *,
        traced: bool,
    ) -> tuple[Columns, np.ndarray, JoinState]:
        """The change of the assignments, and the state after it. `traced`: it may keep a trace.
        Costs what the regions take that the change touches.
        """
        if state.trace is None:
            work.strategy = DELTA_QUERIES.name
            columns, signed = self._by_queries(state, versions, context, work)
            if traced and self.experience.seeks_trace(state.work):
                state = self._with_trace(state, versions, context)
            return columns, signed, state
        work.strategy = TRACE.name
        pieces, trace = self._by_trace(state.trace, state.work, versions, context, work)
        if trace.body.plan.count and self.experience.prefers_queries:
            return *joined(pieces), state._replace(trace=None)
        return *joined(pieces), state._replace(trace=trace)

    def _by_queries(
        self, state: JoinState, versions: Versions, context: Context, work: RuleWork
    ) -> Assignments:
        """The change by delta queries."""
        started, found = context.budget.work, None
        try:
            found = joined(signed_assignments(self.queries, versions, context, work))
            return found
        finally:  # what was given up cost so much at least
            rows, steps = None if found is None else len(found[1]), context.budget.work - started
            self.experience.queried(steps, work.surgeries, rows)
            if found is None:
                self.forgone(state, versions.sizes)

    def _with_trace(self, state: JoinState, versions: Versions, context: Context) -> JoinState:
        """The state with the trace of an evaluation, as far as indices may take memory. The
        evaluation takes nothing of what the update may cost: it is done once.
        """
        choice = self._trace_of_all(versions, context)
        if choice is None:
            return state
        with context.budget.allow(None):
            _, _, trace = trace_from_nothing(choice, versions, context)
        return state._replace(trace=trace)

    def _trace_of_all(self, relations: Relations, context: Context) -> TraceChoice | None:
        if context.forced.trace is not None or TRACE.name in context.tuning.without:
            return None
        return trace_of_all(self.rule, self.needed, relations, context)

    def _by_trace(
        self, trace: TraceState, full: int, versions: Versions, context: Context, work: RuleWork
    ) -> tuple[list[Assignments], TraceState]:
        """The change in the regions that the trace names, and the trace after it. `full`: kernel
        steps of an evaluation.
        """
        before, started, finished = trace.bytes, context.budget.work, False
        try:
            pieces, trace = traced_change(trace, versions, context, work)
            finished = True
        finally:  # what was given up cost so much at least
            steps = context.budget.work - started
            self.experience.traced(versions.sizes, steps, work.stabs, full, finished=finished)
        if context.forced.trace is None and trace.bytes > before:
            trace = fitted(
                trace, context.resources.trace_budget, context.resources.traced() - before
            )
        return pieces, trace

    def expected(self, state: JoinState, sizes: Mapping[str, int]) -> float:
        """Expected cost of a change, in kernel steps; by delta queries 0 where too few rows were
        seen.
        """
        if state.trace is None:
            return sum(
                query.expected(sizes.get(query.relation, 0), SEEN_CHANGES) for query in self.queries
            )
        plan = state.trace.body.plan
        atoms = (*plan.atoms, *plan.probes)
        numbers = {number for number, _ in state.trace.indices}
        return self.experience.expected(sizes, [atoms[number].relation for number in numbers])

    def forgone(self, state: JoinState, sizes: Mapping[str, int]) -> None:
        """Note a change that was expected to cost too much."""
        changed = sum(sizes.get(name, 0) for name in self.reads)
        self.experience.missed(changed, state.work, traced=state.trace is not None)

    # ── all assignments ───────────────────────────────────────────────────────────────────────────
    def full(
        self, before: JoinState | None, relations: Relations, context: Context, want: Want
    ) -> Found:
        """All assignments, in the form in which the reader wants them, and the state from which
        changes are followed. `before`: the state before, whose choice stays where it still fits.
        """
        now = {name: relations[name].count for name in self.rule.reads}
        sought = None
        if want.traced and before is not None and self.experience.seeks_trace(before.work):
            if self.projects:
                sought = self._choose_trace(relations, context, first_proofs=True)
            sought = sought or self._trace_of_all(relations, context)
        anew = want.traced and (
            before is None
            or before.trace is not None
            or self.experience.seeks_first_proofs
            or _outgrown(before.sizes, now)
        )
        sizes = _NOT_KNOWN
        if want.traced:
            sizes = now if before is None or anew else before.sizes
        if sought is not None or (anew and TRACE.name not in context.tuning.without):
            found = self._traced(sought, before, relations, context, sizes)
            if found is not None:
                return found if want.shape is not None else self._heads(found)
        state = JoinState(self, sizes=sizes)
        if want.shape is None:
            return Found([projected(self.rule, relations, context)], state)
        fits = totalled if want.unordered else additive
        make = running_totals(want.shape, context) if fits(want.shape) else None
        query = BodyQuery(
            self.rule, self.needed, relations, context, make=make, width=want.shape.width
        )
        found = satisfying(query)
        if make is not None:
            return Found((), state, found.gathered.totals())
        return Found(found.each(), state)

    def _traced(
        self,
        choice: TraceChoice | None,
        before: JoinState | None,
        relations: Relations,
        context: Context,
        sizes: Mapping[str, int],
    ) -> Found | None:
        """All assignments by a search that is traced, as was chosen or where its trace is expected
        to serve better than delta queries, and did; None where it is not, or took too long.
        """
        first_proofs = self.experience.seeks_first_proofs and self.projects
        self.experience.seeks_first_proofs = False
        if choice is None:
            if context.forced.trace is None and self._without_trace(before, relations, context):
                return None
            choice = self._choose_trace(relations, context, first_proofs=first_proofs)
        if choice is None:
            return None
        allowed, price = self._first_proofs(choice, relations, context)
        search = partial(trace_from_nothing, choice, relations, context)
        found = within(context.budget, allowed, search, _given_up, price)
        if isinstance(found, Exhausted):
            return None
        columns, counts, trace = found
        return Found([(columns, counts)], JoinState(self, 0, trace, sizes))

    def _heads(self, found: Found) -> Found:
        """The head rows of traced assignments."""
        ((columns, counts),) = found.pieces
        rows = support_counts(self.head_rows(columns, len(counts)), counts)
        return found._replace(pieces=[rows])

    def _first_proofs(
        self, choice: TraceChoice, relations: Relations, context: Context
    ) -> tuple[int | None, int]:
        """Kernel steps that a traced search may take, and the price of one. A search for first
        proofs that takes more than counting all of them is not short: too few of what it comes to
        are proofs. Others may take what they take.
        """
        if choice.body.plan.count or context.forced.trace is not None:
            return None, 1
        return max(_FIRST_PROOF_STEPS, int(2 * self._counted(relations, context))), TRACED

    def _choose_trace(
        self, relations: Relations, context: Context, *, first_proofs: bool
    ) -> TraceChoice | None:
        return choose_trace(self.rule, self.needed, relations, context, first_proofs=first_proofs)

    def _without_trace(
        self, before: JoinState | None, relations: Relations, context: Context
    ) -> bool:
        """Test for updates by traces that did not serve."""
        seen = self.experience
        if not seen.doubts_traces or before is None:
            return seen.doubts_traces
        return seen.gave_up_traces(before.work, self._counted(relations, context))

    def _counted(self, relations: Relations, context: Context) -> float:
        """Kernel steps that counting all proofs is expected to take."""
        plan = plan_rule(self.rule, relations, context, needed=self.needed, count=True)
        return plan.choice.cost


def _given_up(allowed: int) -> Exhausted:
    return Exhausted(Why.BUDGET, None, allowed)


def _outgrown(before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    """Test for a relation with many times the rows it had: then the choice is made anew."""
    return any(size > _OUTGROWN * before[name] for name, size in now.items() if name in before)


def joined(pieces: Sequence[Assignments]) -> Assignments:
    """Pieces that have rows, as one; one of the others where none has any."""
    some = [piece for piece in pieces if len(piece[1])]
    if len(some) < 2:
        return (*some, *pieces, NO_ASSIGNMENTS)[0]
    pieces = some
    width = len(pieces[0][0])
    columns = [np.concatenate([columns[i] for columns, _ in pieces]) for i in range(width)]
    return columns, np.concatenate([signed for _, signed in pieces])
