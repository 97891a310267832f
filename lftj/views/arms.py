# SPDX-License-Identifier: Apache-2.0
"""Arms of a union: the rules of one relation, each with the node that finds its head rows.

What passes to the union is signed: rows won and lost, each once (a Delta), or rows with numbers of
assignments, in which case rows may repeat.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np

from lftj.heads.support import support_counts
from lftj.join.run.evaluate import Columns
from lftj.join.strategy import Exhausted, Why
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.rules.full_evaluation import aggregated
from lftj.maintenance.rules.functor_rows import functor_rows
from lftj.maintenance.trace.trace_state import collected
from lftj.program.normal_form import FunctorRule, NormalRule
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from lftj.tuning.aids import EXTREMES, ORDER_BOUNDS
from lftj.views.bounded import Bounded
from lftj.views.extremes import Extremes
from lftj.views.group_node import Group
from lftj.views.join_node import Join, JoinState, Want, digest
from lftj.views.run import Run
from lftj.views.ways import DELTA_QUERIES

Signed = tuple[Columns, np.ndarray]
"""Head rows and how often each counts: assignments won, or lost when negative."""

Change = Delta | Signed | Exhausted | None
"""The change of head rows; None where there is none, Exhausted where the node was evaluated anew,
so that all rows have to be read.
"""


Rule_co = TypeVar("Rule_co", bound=NormalRule | FunctorRule, covariant=True)


class OfRule(ABC, Generic[Rule_co]):
    """One rule of a relation. Arms of equal keys derive the same rows. `kind`: of the node that it
    reads, and by what that is `kept_by`, as plans show them.
    """

    rule: Rule_co
    key: str
    kind: str
    kept_by: str = DELTA_QUERIES.name

    @property
    def name(self) -> str:
        """Name of the rule in reports: the number of the user's rule it came from."""
        return f"#{self.rule.source}"

    @property
    def node_key(self) -> str:
        """The key of the node that the rule reads."""
        return self.key

    @property
    def projects(self) -> bool:
        """Test for rows that several assignments may derive, so that their number has to be
        kept.
        """
        return False

    def work(self, run: Run) -> int | None:
        """Kernel steps of the last full evaluation, 0 where that bounds no update; None for a node
        without a state from which changes can be followed.
        """
        return 0

    def awaited(self, run: Run) -> JoinState | None:
        """State of the join whose change is still to be found; None where there is none."""
        return None

    def expected(self, run: Run) -> float | None:
        """Kernel steps that the change is expected to take; None where that is never much."""
        state = self.awaited(run)
        return None if state is None else state.join.expected(state, run.versions)

    def forgone(self, run: Run) -> None:
        """Note that the change was expected to cost too much."""
        state = self.awaited(run)
        if state is not None:
            state.join.forgone(state, run.versions)

    def bytes(self, run: Run) -> int:
        """Bytes that the node keeps, 0 where another arm has reported them."""
        return 0

    @abstractmethod
    def delta(self, run: Run, work: RuleWork, *, alone: bool) -> Change:
        """The change of the head rows. `alone`: the relation has no other rows than those of this
        arm.
        """

    @abstractmethod
    def full(self, run: Run, work: RuleWork) -> Signed:
        """All head rows, sorted."""

    @abstractmethod
    def removed(self, run: Run, rows: RelationVersion, work: RuleWork) -> Signed:
        """All head rows as they were before the commit, counted as the state counts them. `rows`:
        those of the relation then.
        """


Arm = OfRule[NormalRule | FunctorRule]


class JoinArm(OfRule[NormalRule]):
    """A rule without aggregates."""

    kind = "join"

    def __init__(self, rule: NormalRule, join: Join):
        self.rule, self.join, self.key = rule, join, join.key

    @property
    def projects(self) -> bool:
        """See `OfRule`."""
        return self.join.projects

    def work(self, run: Run) -> int | None:
        """See `OfRule`."""
        state = run.join_state(self.join)
        return None if state is None else state.work

    def awaited(self, run: Run) -> JoinState | None:
        """See `OfRule`."""
        return run.join_state(self.join)

    def bytes(self, run: Run) -> int:
        """See `OfRule`."""
        state = run.changed.get(self.key) or run.before.get(self.key)
        return state.bytes if isinstance(state, JoinState) else 0

    def delta(self, run: Run, work: RuleWork, *, alone: bool) -> Change:
        """See `OfRule`."""
        state = run.join_state(self.join)
        assert state is not None
        columns, signed = run.join(self.join, state, work)
        if not len(signed):
            return None
        return self.join.head_rows(columns, len(signed)), signed

    def full(self, run: Run, work: RuleWork) -> Signed:
        """See `OfRule`."""
        spent = run.context.budget.work
        before = run.join_state(self.join)
        want = Want(traced=run.may_trace(self.key))
        found = self.join.full(before, run.versions, run.context, want)
        ((rows, counts),) = found.pieces
        work.assignments = int(counts.sum())
        steps = run.context.budget.work - spent
        run.changed[self.key] = found.state._replace(work=steps)
        return rows, counts

    def removed(self, run: Run, rows: RelationVersion, work: RuleWork) -> Signed:
        """See `OfRule`."""
        join, state, old = self.join, run.was.get(self.key), run.versions.old
        if isinstance(state, JoinState) and state.trace is not None:
            body = state.trace.body
            columns, counts = collected(body, body.plan, old, run.context)
            return support_counts(join.head_rows(columns, len(counts)), counts)
        found = join.full(None, old, run.context, Want(traced=False))
        ((found_rows, counts),) = found.pieces
        return found_rows, counts


class _Whole(OfRule[NormalRule]):
    """A rule that alone derives the rows of its relation."""

    def removed(self, run: Run, rows: RelationVersion, work: RuleWork) -> Signed:
        """See `OfRule`."""
        work.strategy = "update"
        return rows.columns(), np.ones(rows.count, np.int64)


class GroupArm(_Whole):
    """A rule with aggregates, that reads a group node."""

    kind = "group"

    def __init__(self, rule: NormalRule, group: str, columns: str):
        self.rule, self.group_key = rule, group
        self.key = digest(f"{group} {columns}")

    @property
    def node_key(self) -> str:
        """See `OfRule`."""
        return self.group_key

    def _group(self, run: Run) -> Group:
        return run.nodes[self.group_key]

    def work(self, run: Run) -> int | None:
        """See `OfRule`."""
        state = run.group_state(self._group(run))
        return None if state is None else state.join.work

    def awaited(self, run: Run) -> JoinState | None:
        """See `OfRule`."""
        state = run.group_state(self._group(run))
        return None if state is None or self.group_key in run.groups else state.join

    def delta(self, run: Run, work: RuleWork, *, alone: bool) -> Change:
        """See `OfRule`."""
        first = self.group_key not in run.groups
        done = run.followed(self._group(run), work)
        if done.anew:
            return Exhausted(Why.BUDGET, None)
        work.bytes = done.state.bytes if first else 0
        return None if done.moved is None else done.moved.of(done.state.group.columns(self.rule))

    def full(self, run: Run, work: RuleWork) -> Signed:
        """See `OfRule`."""
        done = run.evaluated(self._group(run), work)
        work.bytes = done.state.bytes
        rows = done.state.rows(self.rule)
        return rows, np.ones(len(rows[0]), np.int64)


class ExtremesArm(_Whole):
    """A rule with extremes of one relation, that reads a key order of it."""

    kind = "extremes"
    kept_by = "look-ups in a key order"

    def __init__(self, rule: NormalRule, extremes: Extremes):
        self.rule, self.extremes, self.key = rule, extremes, digest(repr(extremes))

    def delta(self, run: Run, work: RuleWork, *, alone: bool) -> Change:
        """See `OfRule`. Never more than a look-up for each changed row."""
        work.strategy, extremes, versions = EXTREMES, self.extremes, run.versions
        results = versions.before(self.rule.relation) if alone else None
        delta = extremes.update(versions, run.context, results)
        work.surgeries, work.assignments = len(versions.deltas[extremes.relation]), len(delta)
        return delta if len(delta) else None

    def full(self, run: Run, work: RuleWork) -> Signed:
        """See `OfRule`."""
        self.extremes.prepare(run.versions[self.extremes.relation], run.context)
        rows = aggregated(self.rule, run.versions, run.context)
        counts = np.ones(len(rows[0]), np.int64)
        work.assignments = len(counts)
        return rows, counts


class BoundedArm(_Whole):
    """A rule that aggregates what lies on one side of a bound, and reads two key orders."""

    kind = "bounds"
    kept_by = "look-ups in key orders"

    def __init__(self, rule: NormalRule, bounded: Bounded):
        self.rule, self.bounded, self.key = rule, bounded, digest(repr(bounded))

    def delta(self, run: Run, work: RuleWork, *, alone: bool) -> Change:
        """See `OfRule`. Never more than a few look-ups for each changed row and result."""
        if not alone:
            return Exhausted(Why.BUDGET, None)
        work.strategy, bounded = ORDER_BOUNDS, self.bounded
        delta = bounded.update(run.versions, run.context)
        deltas = run.versions.deltas
        work.surgeries = sum(len(deltas.get(each, ())) for each in {bounded.asked, bounded.rows})
        work.assignments = len(delta)
        return delta if len(delta) else None

    def full(self, run: Run, work: RuleWork) -> Signed:
        """See `OfRule`."""
        versions, bounded = run.versions, self.bounded
        rows = bounded.full(versions[bounded.asked], versions[bounded.rows], run.context)
        counts = np.ones(len(rows[0]), np.int64)
        work.assignments = len(counts)
        return rows, counts


class FunctorArm(OfRule[FunctorRule]):
    """A functor: the values that it has for the rows of its domain."""

    kind = "functor"
    kept_by = "its functor"

    def __init__(self, rule: FunctorRule):
        self.rule = rule
        self.key = digest(repr((rule.functor, rule.domain, rule.types, rule.result)))

    def expected(self, run: Run) -> float | None:
        """See `OfRule`."""
        return 0.0

    def delta(self, run: Run, work: RuleWork, *, alone: bool) -> Change:
        """See `OfRule`."""
        delta, context = run.versions.deltas[self.rule.domain], run.context
        found = Delta(
            functor_rows(self.rule, delta.inserts, context),
            functor_rows(self.rule, delta.erases, context),
        )
        work.surgeries, work.assignments = len(delta), len(found)
        return found if len(found) else None

    def full(self, run: Run, work: RuleWork) -> Signed:
        """See `OfRule`."""
        return self._of(run.versions[self.rule.domain], run, work)

    def removed(self, run: Run, rows: RelationVersion, work: RuleWork) -> Signed:
        """See `OfRule`."""
        return self._of(run.versions.old[self.rule.domain], run, work)

    def _of(self, domain: RelationVersion, run: Run, work: RuleWork) -> Signed:
        rows = functor_rows(self.rule, domain.columns(), run.context)
        work.assignments = len(rows[0])
        return rows, np.ones(len(rows[0]), np.int64)
