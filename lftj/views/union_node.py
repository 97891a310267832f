# SPDX-License-Identifier: Apache-2.0
"""Unions: a derived relation that does not depend on itself, as the sum of its rules and of base
rows, with a support count for each row that may be derived in several ways [LFTJ-IVM 2.1-2.3].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import is_
from typing import NamedTuple

import numpy as np

from lftj.heads.support import support_counts, supports_together
from lftj.heads.support_state import SupportState
from lftj.join.run.evaluate import Columns
from lftj.join.strategy import Exhausted
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.scantree.frozen import frozen
from lftj.storage.database import base_name
from lftj.storage.delta import Delta, no_rows
from lftj.storage.relation import NONE_KNOWN, Known, RelationVersion
from lftj.views.arms import Arm, Signed
from lftj.views.join_node import joined
from lftj.views.run import Run
from lftj.views.ways import FULL, UPDATE


@frozen(slots=True)
class UnionState:
    """One version of what a union keeps: the arms that its rows come from and, where rows may be
    derived in several ways, their support. `candidates`: of a relation with a choice domain, the
    rows that it chooses from, whose support that is then.
    """

    arms: tuple[Arm, ...]
    support: SupportState | None
    candidates: RelationVersion | None = None

    @property
    def known_trees(self) -> Known:
        """Trees of the relation's rows that the support has anyway: one set of pages serves
        both.
        """
        if self.support is None or self.candidates is not None:
            return NONE_KNOWN
        tree = self.support.tree.without_values()
        return {tuple(range(tree.key_width)): tree}


class UnionDone(NamedTuple):
    """The change of a union's rows, its state after that, and what was done."""

    delta: Delta
    state: UnionState
    works: Sequence[RuleWork]


class Union:
    """A derived relation with its arms. `rules`: those that it was made of, as they came."""

    def __init__(
        self,
        schema: RelationSchema,
        rules: tuple[NormalRule | FunctorRule, ...],
        arms: Sequence[Arm],
    ):
        self.schema = schema
        self.rules = rules
        self.arms = tuple(arms)
        self.base = base_name(schema.name)

    def made_of(self, schema: RelationSchema, rules: tuple[NormalRule | FunctorRule, ...]) -> bool:
        """Test for the node of this schema and these very rules."""
        same = self.schema is schema and len(rules) == len(self.rules)
        return same and all(map(is_, rules, self.rules))

    # ── all rows ──────────────────────────────────────────────────────────────────────────────────
    def full(self, run: Run, outcome: str) -> tuple[Columns, UnionState, list[RuleWork]]:
        """The sorted, distinct rows, base rows included, the state after it, and what was done.
        `outcome`: the word for the evaluation.
        """
        pieces: list[Signed] = []
        works: list[RuleWork] = []
        for arm in self.arms:
            piece, work = self._evaluated(arm, run, outcome)
            pieces.append(piece)
            works.append(work)
        base = run.versions.get(self.base)
        has_base = base is not None and base.count > 0
        if base is not None and has_base:
            pieces.append((base.columns(), np.ones(base.count, np.int64)))
        if not pieces or not self._supported(has_base):
            rows = pieces[0][0] if pieces else no_rows(self.schema.arity)
            return rows, UnionState(self.arms, None), works
        rows, counts = supports_together(pieces)
        support = SupportState.build(run.context.resources.arena, rows, counts)
        return rows, UnionState(self.arms, support), works

    def _supported(self, has_base: bool) -> bool:
        """Test for rows that may be derived in several ways."""
        return len(self.arms) + has_base != 1 or any(arm.projects for arm in self.arms)

    def _evaluated(self, arm: Arm, run: Run, outcome: str) -> tuple[Signed, RuleWork]:
        """The head rows of an arm, and what was done."""
        budget = run.context.budget
        started, spent, divided = moment(), budget.work, len(budget.divided)
        work = RuleWork(self.schema.name, arm.name, FULL.name, outcome=outcome)
        rows, counts = arm.full(run, work)
        work.steps, work.head_changes = budget.work - spent, len(counts)
        work.since(started)
        work.bytes = work.bytes or arm.bytes(run)
        work.divided(budget.divided[divided:])
        return (rows, counts), work

    # ── the change of the rows ────────────────────────────────────────────────────────────────────
    def kept(self, state: UnionState) -> tuple[Sequence[Arm], Sequence[Arm], Sequence[Arm]]:
        """The arms that were there before, those that are new, and those that are gone."""
        if state.arms is self.arms:
            return self.arms, (), ()
        stay, new = _taken_apart(self.arms, Counter(arm.key for arm in state.arms))
        _, gone = _taken_apart(state.arms, Counter(arm.key for arm in stay))
        return stay, new, gone

    def changes(
        self, run: Run, arms: Sequence[Arm], *, alone: bool
    ) -> tuple[list[Delta | Signed], list[RuleWork]] | Exhausted:
        """The changes of the head rows of arms that were there before; Exhausted where a node below
        was evaluated anew. `alone`: one arm derived all rows.
        """
        pieces: list[Delta | Signed] = []
        works: list[RuleWork] = []
        deltas = run.versions.deltas
        for arm in arms:
            if deltas.keys().isdisjoint(arm.rule.reads):
                continue
            started, before = moment(), run.context.budget.work
            work = RuleWork(self.schema.name, arm.name, UPDATE.name, outcome="update")
            piece = arm.delta(run, work, alone=alone)
            if isinstance(piece, Exhausted):
                return piece
            if piece is not None:
                changed = len(piece) if isinstance(piece, Delta) else len(piece[1])
                work.head_changes = changed
                if changed:
                    pieces.append(piece)
            work.steps = run.context.budget.work - before
            work.bytes = work.bytes or arm.bytes(run)
            work.since(started)
            works.append(work)
        return pieces, works

    def followed(
        self,
        run: Run,
        state: UnionState,
        new: Sequence[Arm],
        gone: Sequence[Arm],
        pieces: list[Delta | Signed],
        works: list[RuleWork],
    ) -> UnionDone:
        """The change of the rows with arms that come and go, and with base rows."""
        support, versions, name = state.support, run.versions, self.schema.name
        base = versions.deltas.get(self.base)
        if support is None and (base is not None or gone or new):
            support = self._supported_once(run, state)
        for arm in new:
            piece, work = self._evaluated(arm, run, "added")
            pieces.append(piece)
            works.append(work)
        for arm in gone:
            started, before = moment(), run.context.budget.work
            work = RuleWork(name, arm.name, FULL.name, outcome="removed")
            rows, counts = arm.removed(run, versions.old[name], work)
            work.steps, work.head_changes = run.context.budget.work - before, len(counts)
            work.since(started)
            pieces.append((rows, -counts))
            works.append(work)
        if base is not None:
            pieces.append(base)
        delta, support = _through_support(self.schema, support, pieces)
        if support is state.support and state.arms is self.arms:
            return UnionDone(delta, state, works)
        return UnionDone(delta, UnionState(self.arms, support, state.candidates), works)

    def _supported_once(self, run: Run, state: UnionState) -> SupportState:
        """The supports of rows that had one derivation each. O(n), once."""
        relation = run.versions[self.schema.name]
        ones = np.ones(relation.count, np.int64)
        return SupportState.build(run.context.resources.arena, relation.columns(), ones)


def _taken_apart(arms: Iterable[Arm], known: Counter[str]) -> tuple[list[Arm], list[Arm]]:
    """The arms that are known, each as often as it is, and the others."""
    found: tuple[list[Arm], list[Arm]] = ([], [])
    for arm in arms:
        found[known[arm.key] <= 0].append(arm)
        known[arm.key] -= 1
    return found


def _through_support(
    schema: RelationSchema, support: SupportState | None, changes: list[Delta | Signed]
) -> tuple[Delta, SupportState | None]:
    """The net change of the rows, and their support after it."""
    if not changes:
        return Delta.empty(schema.arity), support
    if support is None and len(changes) == 1 and isinstance(changes[0], Delta):
        return changes[0], None
    rows, signed = joined(
        [change.signed() if isinstance(change, Delta) else change for change in changes]
    )
    if support is not None:
        support, delta = support.update(rows, signed)
        return delta, support
    rows, signed = support_counts(rows, signed)
    won, lost = signed > 0, signed < 0
    if np.count_nonzero(won) == len(signed):  # as most changes: a row comes
        return Delta(list(rows), [column[:0] for column in rows]), None
    if np.count_nonzero(lost) == len(signed):
        return Delta([column[:0] for column in rows], list(rows)), None
    return Delta([column[won] for column in rows], [column[lost] for column in rows]), None
