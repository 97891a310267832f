# SPDX-License-Identifier: Apache-2.0
"""Groups: one state of groups over a join, from which each rule with this body and grouping reads
its own head [LFTJ-IVM 2.3.3].

Such rules are one node with the aggregates of all of them: its join is evaluated once a commit, and
the state of each function, such as the ordered rows behind `min`, `max` and `concat` of a column,
exists once, whichever rules need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lftj.heads.aggregate_shape import AggregateShape, HeadColumns
from lftj.heads.aggregate_state import AggregateState, GroupsMoved
from lftj.heads.grouped_results import additive
from lftj.heads.refitting import refitted
from lftj.heads.unordered_extremes import OrderNeededError
from lftj.heads.user import UserAggregate
from lftj.join.context import Context
from lftj.join.run.evaluate import Relations
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.program.canonical_head import (
    CanonicalCall,
    CanonicalHead,
    CanonicalTerm,
    canonical_head,
    combined_rule,
)
from lftj.program.normal_form import NormalRule
from lftj.scantree.frozen import frozen
from lftj.tuning.aids import EXTREMES
from lftj.views.join_node import Assignments, Found, Join, JoinState, Want


@frozen
class Member:
    """A rule that reads its head from a group node, with its canonical form."""

    rule: NormalRule
    head: CanonicalHead

    @staticmethod
    def of(rule: NormalRule) -> Member:
        """A rule with aggregates."""
        return Member(rule, canonical_head(rule))


class Group:
    """Rules with one core and grouping, and the aggregates of all of them over one join.

    `key` is equal for rules that can be members of one node, `body` for those with this core and
    nothing that tells them `apart`.
    """

    def __init__(
        self, members: Sequence[Member], key: str, apart: str = "", before: Group | None = None
    ):
        """The group terms and calls of `before`, where members still ask for them, stay where they
        were, so that its states and plans go on serving.
        """
        self.key, self.apart = key, apart
        self.members = tuple(members)
        heads = [member.head for member in members]
        self.body = f"{apart} {heads[0].body}"
        self._group = before._group if before is not None else heads[0].group
        self._core = before._core if before is not None else heads[0].core
        asked = {call.text: call for head in heads for call in head.calls}
        kept = before.calls if before is not None else {}
        self.calls: Mapping[str, CanonicalCall] = {
            text: asked[text] for text in (*kept, *asked) if text in asked
        }
        rule = combined_rule(self._core, self._group, self.calls.values())
        if before is not None and before.join.rule == rule:
            self.join, self.shape = before.join, before.shape
        else:
            self.shape = AggregateShape.of(rule)
            self.join = Join(key, rule, self.shape.needed, apart)
        self._columns: dict[int, HeadColumns] = {}

    def of(self, members: Sequence[Member]) -> Group:
        """The node with other members, which ask for no more; what they do not ask for stays."""
        other = copy(self)
        other.members, other._columns = tuple(members), {}
        return other

    def columns(self, rule: NormalRule) -> HeadColumns:
        """Sources of the columns of a member's head."""
        found = self._columns.get(id(rule))
        if found is None:
            head = next(member.head for member in self.members if member.rule is rule)
            found = self._columns[id(rule)] = self._head_columns(head)
        return found

    def _head_columns(self, head: CanonicalHead) -> HeadColumns:
        groups = list(dict.fromkeys(term.text for term in self._group))
        calls = list(self.calls)
        places = [
            groups.index(column.text)
            if isinstance(column, CanonicalTerm)
            else len(groups) + calls.index(column.text)
            for column in head.columns
        ]
        return HeadColumns(tuple(places), len(groups), self.shape.floats.intersection(places))

    @cached_property
    def texts(self) -> list[str]:
        """Texts of the canonical terms in the columns of an assignment, in the join's order."""
        terms = [*self._group, *(arg for call in self.calls.values() for arg in call.args)]
        return list(dict.fromkeys(term.text for term in terms))

    @property
    def users(self) -> str:
        """The rules that share the node, as reports call them."""
        numbers = ", ".join(
            f"#{number}" for number in dict.fromkeys(member.rule.source for member in self.members)
        )
        return f"rules {numbers}" if "," in numbers else f"rule {numbers}"

    # ── evaluation ────────────────────────────────────────────────────────────────────────────────
    def full(
        self,
        before: GroupState | None,
        relations: Relations,
        context: Context,
        work: RuleWork,
        *,
        traced: bool = True,
    ) -> GroupState:
        """The groups of all assignments. `before`: the state before, whose way of following changes
        stays where it still fits; `traced`: the join may keep a trace.
        """
        started = context.budget.work
        waits = self._waits(relations, context)
        want = Want(self.shape, unordered=waits, traced=traced)
        found = self.join.full(before and before.join, relations, context, want)
        aggregate, work.assignments = self._gathered(found, context)
        steps = context.budget.work - started
        return GroupState(self, aggregate, found.state._replace(work=steps))

    def _gathered(self, found: Found, context: Context) -> tuple[AggregateState, int]:
        """The state of these assignments, and their number."""
        resources, totals = context.resources, found.totals
        aggregate = AggregateState.empty(
            resources.arena,
            self.shape,
            resources.dictionary,
            resources.user_aggregates,
            ordered=totals is None or additive(self.shape),
        )
        assignments = 0
        if totals is not None:
            aggregate, _ = aggregate.gathered(totals)
            assignments = int(totals.counts.sum())
        for columns, counts in found.pieces:
            aggregate, _ = aggregate.advanced(columns, counts, resources.threads)
            assignments += int(counts.sum())
        return aggregate, assignments

    def _waits(self, relations: Relations, context: Context) -> bool:
        """Tell whether rows behind extremes wait to be put in order: those of many rows of one
        relation, which are soon read again. To join again may take much longer than to order.
        """
        rule, tuning = self.join.rule, context.tuning
        if EXTREMES in tuning.without or len(rule.atoms) != 1 or rule.negated:
            return False
        return relations[rule.atoms[0].relation].count > tuning.extremes_rows

    # ── change ────────────────────────────────────────────────────────────────────────────────────
    def delta(
        self,
        state: GroupState,
        versions: Versions,
        context: Context,
        work: RuleWork,
        known: Assignments | None,
        may_trace: Callable[[str], bool],
    ) -> tuple[GroupState, GroupsMoved | None, Assignments]:
        """The state after the change of its assignments, how groups moved (None where they did
        not), and that change. `known`: the change, where another node has found it; `may_trace`:
        see `Join.delta`.
        """
        if not (state.aggregate.ordered or self._waits(versions, context)):
            state = state._replace(aggregate=self._ordered(versions, context))
        if known is not None:
            columns, signed, join = *known, state.join
        else:
            columns, signed, join = self.join.delta(state.join, versions, context, work, may_trace)
            work.assignments += len(signed)
        if not len(signed):
            after = state if join is state.join else state._replace(join=join)
            return after, None, (columns, signed)
        threads = context.resources.threads
        try:
            aggregate, moved = state.aggregate.advanced(columns, signed, threads)
        except OrderNeededError:
            ordered = self._ordered(versions, context)
            aggregate, moved = ordered.advanced(columns, signed, threads)
        return GroupState(self, aggregate, join), moved, (columns, signed)

    def _ordered(self, versions: Versions, context: Context) -> AggregateState:
        """The groups before the commit, with the rows behind its extremes in order. Costs an
        evaluation, and takes nothing of what its update may cost: it is done once.
        """
        before = {name: versions.before(name) for name in self.join.rule.reads}
        with context.budget.allow(None):
            found = self.join.full(None, before, context, Want(self.shape, traced=False))
            return self._gathered(found, context)[0]


class GroupState(NamedTuple):
    """One version of the groups, and the state of their join, which has the kernel steps of their
    last full evaluation.
    """

    group: Group
    aggregate: AggregateState
    join: JoinState

    def refitted(
        self, group: Group, user: Mapping[str, UserAggregate] | None = None
    ) -> GroupState | None:
        """The state of the node with other members; None where its join has to be evaluated for
        them. `user`: the users' aggregates, where members are new that may ask for some.
        """
        before, trace = self.group, self.join.trace
        if group.calls.keys() == before.calls.keys():
            return self._replace(group=group)
        if trace is not None and group.join.needed != before.join.needed:
            return None  # its indices tell of other columns
        if trace is not None and trace.body.plan.least:
            return None  # it was given the least value of each group only
        places = {text: place for place, text in enumerate(before.texts)}
        found = [places.get(text) for text in group.texts]
        aggregate = refitted(self.aggregate, group.shape, found, user)
        if aggregate is None:
            return None
        join = self.join._replace(join=group.join)
        return self._replace(group=group, aggregate=aggregate, join=join)

    def rows(self, rule: NormalRule) -> list[np.ndarray]:
        """The head rows of a member, sorted. O(groups)."""
        return self.aggregate.rows(self.group.columns(rule))

    @property
    def bytes(self) -> int:
        """Bytes of the groups and of the indices, without the pages' free room."""
        return sum(self.aggregate.memory.values()) + self.join.bytes
