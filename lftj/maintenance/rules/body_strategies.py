"""Strategies for the body of a rule: how its satisfying assignments change at a commit, and how all
of them are found.

The evaluation from nothing chooses the way in which a body is maintained; the state that it leaves
decides which strategy applies at a commit.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lftj.heads.grouped_results import additive, totalled
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import Columns, plan_rule
from lftj.join.run.ladder import satisfying
from lftj.join.strategy import UNBOUNDED, Cost, Strategy
from lftj.maintenance.cost.cost_model import TRACED
from lftj.maintenance.rules.chosen_way import Assignments, BodyChange, BodyEvaluation, Evaluated
from lftj.maintenance.rules.delta_query import signed_assignments
from lftj.maintenance.rules.full_evaluation import projected, running_totals
from lftj.maintenance.trace.trace_planner import TraceChoice, choose_trace
from lftj.maintenance.trace.trace_state import (
    TraceState,
    fitted,
    trace_from_nothing,
    traced_change,
)

_FIRST_PROOF_STEPS = 1 << 19
"""Kernel steps that it may take however few counting all proofs is expected to take."""

# ── at a commit ───────────────────────────────────────────────────────────────────────────────────


class TraceUpdate(Strategy[Assignments]):
    """The trace of a search: what the search looked at tells what a change can matter to."""

    name = "trace"
    gate = "next event"
    needed = True
    state: TraceState | None
    change: BodyChange

    def applies(self) -> bool:
        """Tell whether the body keeps sensitivity indices."""
        return self.state is not None

    def run(self) -> Assignments:
        """The change of the assignments in the regions touched, and the indices after it."""
        change, context, trace = self.change, self.change.context, self.state
        assert trace is not None
        before, started = trace.bytes, context.budget.work
        finished = False
        try:
            pieces, trace = traced_change(trace, change.versions, context, change.work)
            finished = True
        finally:  # what was given up cost so much at least
            change.body.trace_costs.note(
                change.versions.sizes,
                context.budget.work - started,
                change.work.stabs,
                finished=finished,
            )
        if context.forced.trace is None and trace.bytes > before:
            trace = fitted(
                trace, context.resources.trace_budget, context.resources.traced() - before
            )
        return *_joined(pieces), trace


class DeltaQueries(Strategy[Assignments]):
    """The rule with each of its atoms in turn reading what changed."""

    name = "delta queries"
    needed = True
    change: BodyChange

    def run(self) -> Assignments:
        """The change of the assignments."""
        change = self.change
        pieces = signed_assignments(
            change.body.queries, change.versions, change.context, change.work
        )
        return *_joined(pieces), self.state


def _joined(pieces: list[tuple[Columns, np.ndarray]]) -> tuple[Columns, np.ndarray]:
    """Pieces that have rows, as one."""
    pieces = [piece for piece in pieces if len(piece[1])]
    if not pieces:
        return [], np.empty(0, np.int64)
    if len(pieces) == 1:
        return pieces[0]
    width = len(pieces[0][0])
    columns = [np.concatenate([columns[i] for columns, _ in pieces]) for i in range(width)]
    return columns, np.concatenate([signed for _, signed in pieces])


# ── from nothing ──────────────────────────────────────────────────────────────────────────────────


class TraceFromNothing(Strategy[Evaluated]):
    """A search that keeps what it looked at in sensitivity indices, for later changes."""

    name = "trace"
    gate = "next event"
    change: BodyEvaluation

    @cached_property
    def _choice(self) -> TraceChoice | None:
        body, change = self.change.body, self.change
        return choose_trace(body.rule, body.needed, change.relations, change.context)

    def applies(self) -> bool:
        """Tell whether indices are expected to serve better than delta queries, and did."""
        change = self.change
        vain = change.body.trace_costs.in_vain()
        if vain and change.context.forced.trace is None:
            return False
        return change.chosen_again and self._choice is not None

    def forecast(self) -> Cost:
        """A search for first proofs that takes more than counting all of them is not short: too few
        of what it comes to are proofs. Others may take what they take.
        """
        choice, body, change = self._choice, self.change.body, self.change
        context = change.context
        assert choice is not None
        if choice.body.plan.count or context.forced.trace is not None:
            return UNBOUNDED
        counted = plan_rule(body.rule, change.relations, context, needed=body.needed, count=True)
        allowed = max(_FIRST_PROOF_STEPS, int(2 * counted.choice.cost))
        return Cost(allowed=allowed, price=TRACED)

    def run(self) -> Evaluated:
        """The assignments that the search finds, and its indices."""
        assert self._choice is not None
        change = self.change
        columns, counts, trace = trace_from_nothing(self._choice, change.relations, change.context)
        return Evaluated([(columns, counts)], trace=trace)


class ByGroups(Strategy[Evaluated]):
    """All assignments of a head that aggregates: totalled by groups as they come, where the head is
    made of sums and counts, or its extremes need no order yet, else in pieces of whole groups.
    """

    name = "by groups"
    needed = True
    change: BodyEvaluation

    def applies(self) -> bool:
        """Tell whether the head aggregates."""
        return self.change.groups

    def run(self) -> Evaluated:
        """The assignments, or their totals where the head needs no more."""
        body, change = self.change.body, self.change
        fits = totalled if change.unordered else additive
        make = running_totals(body.shape, change.context) if fits(body.shape) else None
        query = BodyQuery(
            body.rule,
            body.needed,
            change.relations,
            change.context,
            make=make,
            width=body.shape.width,
        )
        found = satisfying(query)
        if make is not None:
            return Evaluated((), totals=found.gathered.totals())
        return Evaluated(found.each())


class Projection(Strategy[Evaluated]):
    """All head rows with their numbers of proofs."""

    name = "projection"
    needed = True
    change: BodyEvaluation

    def run(self) -> Evaluated:
        """The head rows."""
        change = self.change
        rows = projected(change.body.rule, change.relations, change.context)
        return Evaluated([rows], heads=True)
