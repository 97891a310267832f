# SPDX-License-Identifier: Apache-2.0
"""Joins: the satisfying assignments of a conjunctive body, projected to what readers need of them.

A join finds how its assignments change in one of two ways: by delta queries, in which each atom in
turn reads the changed rows, or by the trace of its last search, whose regions are searched again
[LFTJ-IVM 4]. `lftj.views.way_choice` says which, and when the other one takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.grouped_results import additive, totalled
from lftj.heads.kept import GroupTotals
from lftj.heads.support import support_counts
from lftj.join.context import Context
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import Columns, Relations
from lftj.join.run.ladder import satisfying
from lftj.join.strategy import Exhausted, stopped, within
from lftj.maintenance.cost.cost_model import TRACED
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.full_evaluation import projected, running_totals
from lftj.maintenance.trace.trace_state import (
    TraceState,
    fitted,
    trace_from_nothing,
    traced_change,
)
from lftj.program.normal_form import NormalRule
from lftj.views.delta_query import DeltaQuery, delta_queries, signed_assignments
from lftj.views.way_choice import TraceOrQueries
from lftj.views.ways import DELTA_QUERIES, TRACE


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
    """One version of what a join keeps: the kernel steps of its last full evaluation, and the trace
    by which it follows changes; without one it has delta queries.
    """

    join: Join
    work: int = 0
    trace: TraceState | None = None

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
        self.choice = TraceOrQueries(rule, needed)
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
        may_trace: Callable[[str], bool],
    ) -> tuple[Columns, np.ndarray, JoinState]:
        """The change of the assignments, and the state after it. `may_trace`: tells of a join's key
        whether it may keep a trace. Costs what the regions take that the change touches.
        """
        started, found, trace = context.budget.work, None, state.trace
        work.strategy = DELTA_QUERIES.name if trace is None else TRACE.name
        try:
            if trace is None:
                pieces = signed_assignments(self.queries, versions, context, work)
            else:
                pieces, trace = traced_change(trace, versions, context, work)
            columns, signed = joined(pieces)
            found = len(signed)
        finally:  # what was given up cost so much at least
            self.choice.took(work, context.budget.work - started, found, versions, state.work)
        if trace is not None:
            trace = self._kept(trace, state.bytes, context)
        elif self.choice.in_vain(state.work) and may_trace(self.key):
            trace = self._made(versions, context)
        after = state if trace is state.trace else state._replace(trace=trace)
        return columns, signed, after

    def _made(self, versions: Versions, context: Context) -> TraceState | None:
        """The trace of an evaluation, if it has one. That takes nothing of what the update may
        cost: it is made once.
        """
        choice = self.choice.trace_of_all(versions, context)
        if choice is None:
            return None
        with context.budget.allow(None):
            return trace_from_nothing(choice, versions, context)[2]

    def _kept(self, trace: TraceState, before: int, context: Context) -> TraceState | None:
        """The trace after a change, as far as indices may take memory: they took `before` bytes.
        One of first proofs stays in any case, as the state of who reads the join rests on it.
        """
        if trace.body.plan.count and self.choice.doubts_traces:
            return None
        if context.forced.trace is not None or trace.bytes <= before:
            return trace
        resources = context.resources
        return fitted(trace, resources.trace_budget, resources.traced() - before)

    def expected(self, state: JoinState, versions: Versions) -> float:
        """Expected cost of a change, in kernel steps; by delta queries 0 where too few rows were
        seen.
        """
        if state.trace is not None:
            return self.choice.expected(versions)
        return sum(query.expected(versions) for query in self.queries)

    def forgone(self, state: JoinState, versions: Versions) -> None:
        """Note a change that was expected to cost too much."""
        self.choice.missed(versions, state.work, traced=state.trace is not None)

    # ── all assignments ───────────────────────────────────────────────────────────────────────────
    def full(
        self, before: JoinState | None, relations: Relations, context: Context, want: Want
    ) -> Found:
        """All assignments, in the form in which the reader wants them, and the state from which
        changes are followed. `before`: the state before, whose way stays where it still fits.
        """
        found = self._traced(before, relations, context, want) if want.traced else None
        if found is not None:
            return found
        state = JoinState(self)
        if want.shape is None:
            return Found([projected(self.rule, relations, context)], state)
        fits = totalled if want.unordered else additive
        make = running_totals(want.shape, context) if fits(want.shape) else None
        query = BodyQuery(
            self.rule, self.needed, relations, context, make=make, width=want.shape.width
        )
        search = satisfying(query)
        if make is not None:
            return Found((), state, search.gathered.totals())
        return Found(search.each(), state)

    def _traced(
        self, before: JoinState | None, relations: Relations, context: Context, want: Want
    ) -> Found | None:
        """All assignments by a search that leaves a trace; None where it is not to, or took too
        long.
        """
        full, traced = (None, False) if before is None else (before.work, before.trace is not None)
        choice = self.choice.trace_of_search(full, relations, context, traced=traced)
        if choice is None:
            return None
        trace, allowed = choice
        search = partial(trace_from_nothing, trace, relations, context)
        found = within(context.budget, allowed, search, stopped, TRACED)
        if isinstance(found, Exhausted):
            return None
        columns, counts, state = found
        if want.shape is None:
            columns, counts = support_counts(self.head_rows(columns, len(counts)), counts)
        return Found([(columns, counts)], JoinState(self, 0, state))


def joined(pieces: Sequence[Assignments]) -> Assignments:
    """Pieces that have rows, as one; one of the others where none has any."""
    some = [piece for piece in pieces if len(piece[1])]
    if len(some) < 2:
        return (*some, *pieces, NO_ASSIGNMENTS)[0]
    pieces = some
    width = len(pieces[0][0])
    columns = [np.concatenate([columns[i] for columns, _ in pieces]) for i in range(width)]
    return columns, np.concatenate([signed for _, signed in pieces])
