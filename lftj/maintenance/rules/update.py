"""Update of one relation: from the changes of what its rules read to the change of its rows.

Signed assignments of each rule's body, found inside the regions that the commit touches, go through
the rule's head: to signed head rows, or through the aggregate's state to the rows that a group gave
up and got. Where rows may be derived in several ways the sum of both goes through the support
counts [LFTJ-IVM 2.1–2.3].
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lftj.errors import ValueRangeError
from lftj.heads.support import support_counts
from lftj.heads.support_state import SupportState
from lftj.join.context import Context
from lftj.join.strategy import UNBOUNDED, Cost, Exhausted, Strategy, Why, within
from lftj.maintenance.cost.cost_model import SEEN_CHANGES
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.body import UNASKED_CHANGES
from lftj.maintenance.rules.chosen_state import ChosenState, change_of_choice
from lftj.maintenance.rules.chosen_way import BodyChange
from lftj.maintenance.rules.commit_heads import CommitHeads
from lftj.maintenance.rules.functor_rows import functor_rows
from lftj.maintenance.rules.initial_evaluation import (
    Signed,
    evaluate_removed,
    evaluate_rule,
    joined,
    removed_rows,
    rule_name,
)
from lftj.maintenance.rules.relation_change import Maintained, RelationChange
from lftj.maintenance.rules.rule_state import RelationState, RuleState
from lftj.program.normal_form import FunctorRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from lftj.tuning.aids import EXTREMES

_FOLD = 1e6  # as much as no update needs

HeadChange = Delta | Signed
"""Head rows won and lost: each once, or with signed numbers of proofs, in which case rows may
repeat.
"""

Updated = tuple[Delta, RelationState, list[RuleWork]]
States = dict[int, RuleState | None]
"""State kept of each rule, by its identity; None of one that was not there."""
_UPDATE_SOON_SHARE = 0.7
"""Share of a full evaluation for `update_soon_steps`."""
_CHANGED_SHARE = 0.5
"""Share of what is read that may have changed at most for an update to be tried."""


class Update(Strategy[Maintained]):
    """An update from the changes of what the rules read, whose rules are followed each in the way
    in which it is maintained.

    A rule that was not there before is evaluated in full and its rows are won; one that is gone is
    evaluated as things were, and its rows are lost.
    """

    name = "update"
    gate = "watched days"
    change: RelationChange
    state: RelationState | None

    _allowed: int

    def applies(self) -> bool:
        """Tell whether something is kept to start from."""
        return self.state is not None

    def forecast(self) -> Cost:
        """Cost, not worthwhile where the rules that stay would take more than they may. What
        rules that come and go take has to be taken anyway, and is not bounded.
        """
        change, heads = self.change, self.change.heads
        self._allowed = self._may_take()
        sizes = change.versions.sizes
        changed = sum([sizes.get(name, 0) for rule in change.rules for name in rule.reads])
        if changed <= UNASKED_CHANGES:
            return UNBOUNDED
        kept = [self._kept.state_of(rule) for rule in change.rules]
        costing = [rule for rule in kept if rule is not None and not heads.done(rule)]
        return Cost(
            worthwhile=not _hopeless(costing, change.versions, change.context, self._allowed)
        )

    def _may_take(self) -> int:
        """Kernel steps that the rules which stay may take, by those of a full evaluation."""
        full = sum(rule.work for rule in self._kept.rules)
        fraction, tuning = self.change.context.fraction, self.change.context.tuning
        if not fraction:
            return tuning.update_steps
        return max(
            tuning.update_steps,
            int(min(fraction, _FOLD) * full),
            min(tuning.update_soon_steps, int(_UPDATE_SOON_SHARE * full)),
        )

    def run(self) -> Maintained | Exhausted:
        """The net change of a relation's rows, its new state, and what was done."""
        change = self.change
        states = {id(rule): self._kept.state_of(rule) for rule in change.rules}
        follow = partial(self._followed, states)
        try:
            found = within(change.context.budget, self._allowed, follow, self.stopped)
            if isinstance(found, Exhausted):
                return found
            delta, after, works = self._finished(states, *found)
        except ValueRangeError:
            # A row that only an erased and an inserted row make together exists in no version: full
            # evaluation decides about failures.
            return Exhausted(Why.VALUES, self.state)
        if isinstance(self.state, ChosenState):
            after = self.state.after(after, delta)
            delta = self._change_of_choice(after, delta)
        return Maintained(delta, after, works)

    @property
    def _kept(self) -> RelationState:
        assert self.state is not None
        return self.state

    def _change_of_choice(self, kept: ChosenState, delta: Delta) -> Delta:
        """The change of the rows chosen by one choice domain, after a change of its candidates."""
        change = self.change
        if not len(delta):
            return delta
        chosen = change.versions[change.schema.name]
        dictionary = change.context.resources.dictionary
        return change_of_choice(change.schema, chosen, kept.candidates, delta, dictionary)

    def _followed(self, states: States) -> tuple[list[HeadChange], list[RuleWork]] | Exhausted:
        """The changes of head rows by rules that stay, whose states become those after it."""
        change = self.change
        pieces: list[HeadChange] = []
        works: list[RuleWork] = []
        for number, kept in states.items():
            if kept is None or change.versions.deltas.keys().isdisjoint(kept.rule.reads):
                continue
            found = _updated(
                kept,
                change.versions,
                change.context,
                change.heads,
                alone=self.state is not None and self.state.of_one_rule,
            )
            if isinstance(found, Exhausted):
                return found._replace(state=self.state)
            piece, states[number], work = found
            works.append(work)
            if piece is not None:
                pieces.append(piece)
        return pieces, works

    def _finished(self, states: States, pieces: list[HeadChange], works: list[RuleWork]) -> Updated:
        """The same with rules that came and went, and what is there of rows in all."""
        schema, versions, context = self.change.schema, self.change.versions, self.change.context
        heads, support = self.change.heads, self._kept.support
        base = versions.deltas.get(base_name(schema.name))
        gone = [kept for kept in self._kept.rules if id(kept.rule) not in states]
        if support is None and (base is not None or gone or None in states.values()):
            support = _supported_once(versions[schema.name], context)
        for rule in self.change.rules:
            if states[id(rule)] is None:
                piece, states[id(rule)], work = evaluate_rule(
                    rule, None, versions, context, heads, "added"
                )
                pieces.append(piece)
                works.append(work)
        for went in gone:
            piece, work = _removed(schema, went, versions, context, heads)
            pieces.append(piece)
            works.append(work)
        if base is not None:
            pieces.append(base)
        delta, support = _through_support(schema, support, pieces)
        kept = [found for found in states.values() if found is not None]
        return delta, self._kept.followed_by(kept, support), works


def _removed(
    schema: RelationSchema,
    rule: RuleState,
    versions: Versions,
    context: Context,
    heads: CommitHeads,
) -> tuple[Signed, RuleWork]:
    """Rows of a removed rule, as a loss."""
    if (
        rule.head is not None
    ):  # a relation with an aggregate has no other rule: all rows were its own
        (rows, counts), work = removed_rows(rule, versions.old[schema.name])
    else:
        (rows, counts), work = evaluate_removed(rule, versions.old, context, heads)
    return (rows, -counts), work


def _supported_once(relation: RelationVersion, context: Context) -> SupportState:
    """The supports of a view that had one way to derive each row. O(n), once."""
    return SupportState.build(
        context.resources.arena, relation.columns(), np.ones(relation.count, np.int64)
    )


def _hopeless(
    rules: list[RuleState],
    versions: Versions,
    context: Context,
    allowed: int,
) -> bool:
    """Test for an update that is not worth starting: too large a share of the input has changed, or
    it is too much by averages.
    """
    sizes, fraction, tuning = versions.sizes, context.fraction, context.tuning
    expected, changed, read = 0.0, 0, 0
    for rule_state in rules:
        if rule_state.body is not None and rule_state.body.extremes is not None:
            continue  # never more than a look-up for each changed row
        for name in rule_state.rule.reads:
            read += versions[name].count
            changed += sizes.get(name, 0)
        if rule_state.body is not None and rule_state.trace is not None:
            costs = rule_state.body.trace_costs
            expected += costs.expected(rule_state.trace, sizes, SEEN_CHANGES)
            continue
        for query in rule_state.body.queries if rule_state.body is not None else ():
            expected += query.expected(sizes.get(query.relation, 0), SEEN_CHANGES)
    # a small view's update may take more than `fraction`, which is to be found out by trying
    share = (
        max(
            fraction,
            min(
                _CHANGED_SHARE,
                allowed / max(1, sum(rule_state.work for rule_state in rules)),
            ),
        )
        if fraction
        else 0.0
    )
    return expected > allowed or (changed > tuning.large_change and changed > share * read)


def _updated(
    state: RuleState,
    versions: Versions,
    context: Context,
    heads: CommitHeads,
    *,
    alone: bool,
) -> tuple[HeadChange | None, RuleState, RuleWork] | Exhausted:
    """The change of one rule's head rows, its new state, and what was done. `alone`: nothing else
    derived rows of the relation.
    """
    started, before = moment(), context.budget.work
    work = RuleWork(state.rule.relation, rule_name(state.rule), Update.name)
    work.outcome = "update"
    done = heads.done(state)
    found = _rule(state, versions, context, heads, work, alone=alone)
    if isinstance(found, Exhausted):
        return found
    piece, state = found
    work.head_changes = (
        0 if piece is None else len(piece) if isinstance(piece, Delta) else len(piece[1])
    )
    work.steps, work.bytes = context.budget.work - before, 0 if done else state.bytes
    work.since(started)
    return piece, state, work


def _rule(
    state: RuleState,
    versions: Versions,
    context: Context,
    heads: CommitHeads,
    work: RuleWork,
    *,
    alone: bool,
) -> tuple[HeadChange | None, RuleState] | Exhausted:
    """The change of one rule's head rows, and its new state."""
    rule = state.rule
    if isinstance(rule, FunctorRule) or state.body is None:
        assert isinstance(rule, FunctorRule)
        delta = versions.deltas[rule.domain]
        found = Delta(
            functor_rows(rule, delta.inserts, context), functor_rows(rule, delta.erases, context)
        )
        work.surgeries, work.assignments = len(delta), len(found)
        return (found if len(found) else None), state
    body = state.body
    if body.extremes is not None:
        work.strategy = EXTREMES
        results = versions.before(rule.relation) if alone else None
        delta = body.extremes.update(versions, context, results)
        work.surgeries, work.assignments = len(versions.deltas[body.extremes.relation]), len(delta)
        return (delta if len(delta) else None), state
    if state.head is not None:
        changed = heads.change(state, work)
        if isinstance(changed, Exhausted):
            return changed
        delta, state = changed
        return (delta if delta is not None and len(delta) else None), state
    change = BodyChange(body, versions, context, work)
    columns, signed, trace = heads.ways.follow(change, state.own_trace)
    state = state if trace is state.own_trace else state._replace(own_trace=trace)
    work.assignments = len(signed)
    return ((body.head_rows(columns, len(signed)), signed) if len(signed) else None), state


def _through_support(
    schema: RelationSchema,
    support: SupportState | None,
    changes: list[HeadChange],
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
