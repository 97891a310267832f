"""Update of one relation: from the changes of what its rules read to the change of its rows.

Signed assignments of each rule's body, found inside the regions that the commit touches, go through
the rule's head: to signed head rows, or through the aggregate's state to the rows that a group gave
up and got. Where rows may be derived in several ways the sum of both goes through the support
counts [LFTJ-IVM 2.1–2.3].
"""

from __future__ import annotations

import numpy as np

from lftj.heads.support import support_counts
from lftj.heads.support_state import SupportState
from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.body import assignments_changed
from lftj.maintenance.rules.commit_heads import CommitHeads
from lftj.maintenance.rules.functor_rows import functor_rows
from lftj.maintenance.rules.guarded_groups import PartedHead, PartedRule, parted_head, with_parts
from lftj.maintenance.rules.initial_evaluation import (
    Signed,
    evaluate_removed,
    evaluate_rule,
    joined,
    removed_rows,
    rule_name,
)
from lftj.maintenance.rules.rule_state import RelationState, RuleState
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import RelationVersion

_FEW = 16  # changed rows up to which nobody asks whether an update pays
_SHARE = 0.5  # of what is read may have changed at most
_MANY = 1000  # changed rows below which only what such changes cost before tells

HeadChange = Delta | Signed
"""Head rows won and lost: each once, or with signed numbers of proofs, in which case rows may
repeat.
"""

Updated = tuple[Delta, RelationState, list[RuleWork]]


class ForecastError(Exception):
    """An update is expected to cost more than a full evaluation. Never leaves the engine."""


def update(
    schema: RelationSchema,
    state: RelationState,
    rules: tuple[NormalRule | FunctorRule, ...],
    versions: Versions,
    context: Context,
    heads: CommitHeads,
    allowed: int,
) -> Updated:
    """The net change of a relation's rows, its new state, and what was done. Raises what evaluation
    raises; `state` stays as it is.

    A rule that was not there before is evaluated in full and its rows are won; one that is gone is
    evaluated as things were, and its rows are lost. The other rules together may take `allowed`
    kernel steps, else AllowanceSpentError; ForecastError when they are expected to take more.
    """
    known = {id(rule_state.rule): rule_state for rule_state in state.rules}
    states = {id(rule): known.pop(id(rule), None) for rule in rules}
    costing = [kept for kept in states.values() if kept is not None and not heads.done(kept)]
    parted = _parted(schema, state, rules, versions) if versions.parts else None
    if _hopeless(costing, versions, context.fraction, allowed, parted):
        raise ForecastError
    pieces: list[HeadChange] = []
    works: list[RuleWork] = []
    context.allowance = allowed
    try:
        for number, kept in states.items():
            if kept is not None and not versions.deltas.keys().isdisjoint(kept.rule.reads):
                piece, states[number], work = _updated(
                    kept, versions, context, heads, parted and parted.of(kept)
                )
                works.append(work)
                if piece is not None:
                    pieces.append(piece)
    finally:
        context.allowance = None
    support = state.support
    base = versions.deltas.get(base_name(schema.name))
    if support is None and (base is not None or known or None in states.values()):
        support = _supported_once(versions[schema.name], context)
    for rule in rules:
        if states[id(rule)] is None:
            piece, states[id(rule)], work = evaluate_rule(
                rule, None, versions, context, heads, "added"
            )
            pieces.append(piece)
            works.append(work)
    for went in known.values():
        piece, work = _removed(schema, went, versions, context)
        pieces.append(piece)
        works.append(work)
    if base is not None:
        pieces.append(base)
    gone = None
    if parted is not None:
        gone = parted.lost(support, versions.before(schema.name), context, works[0])
        versions.note_parts(schema.name, parted.parts)
    delta, support = _through_support(schema, support, pieces, gone)
    return (
        delta,
        RelationState(tuple(found for found in states.values() if found is not None), support),
        works,
    )


def _removed(
    schema: RelationSchema, rule: RuleState, versions: Versions, context: Context
) -> tuple[Signed, RuleWork]:
    """What a rule that is gone derived, as a loss."""
    if (
        rule.head is not None
    ):  # a relation with an aggregate has no other rule: all rows were its own
        (rows, counts), work = removed_rows(rule, versions.old[schema.name])
    else:
        (rows, counts), work = evaluate_removed(rule, versions.old, context)
    return (rows, -counts), work


def _supported_once(relation: RelationVersion, context: Context) -> SupportState:
    """The supports of a view that had one way to derive each row. O(n), once."""
    return SupportState.build(context.arena, relation.columns(), np.ones(relation.count, np.int64))


def _hopeless(
    rules: list[RuleState],
    versions: Versions,
    fraction: float,
    allowed: int,
    parted: PartedHead | None,
) -> bool:
    """Whether an update is not worth starting: too large a share of what is read has changed, or it
    is too much going by averages.
    """
    sizes = versions.sizes
    if sum(sizes.values()) <= _FEW:
        return False
    expected, changed, read = 0.0, 0, 0
    for rule_state in rules:
        if rule_state.body is not None and rule_state.body.extremes is not None:
            continue  # never more than a look-up for each changed row
        for name in rule_state.rule.reads:
            read += versions[name].count
            changed += sizes.get(name, 0)
        if parted is not None:
            expected += parted.of(rule_state).expected(versions)
            continue
        if rule_state.body is not None and rule_state.trace is not None:
            expected += rule_state.body.trace_costs.expected(rule_state.trace, sizes)
            continue
        for query in rule_state.body.queries if rule_state.body is not None else ():
            expected += query.expected(sizes.get(query.relation, 0))
    # a small view's update may take more than `fraction`, which is to be found out by trying
    share = (
        max(fraction, min(_SHARE, allowed / max(1, sum(rule_state.work for rule_state in rules))))
        if fraction
        else 0.0
    )
    return expected > allowed or (changed > _MANY and changed > share * read)


def _updated(
    state: RuleState,
    versions: Versions,
    context: Context,
    heads: CommitHeads,
    parted: PartedRule | None,
) -> tuple[HeadChange | None, RuleState, RuleWork]:
    """The change of one rule's head rows, its new state, and what was done."""
    started, before = moment(), context.work
    work = RuleWork(state.rule.relation, rule_name(state.rule), "update")
    done = heads.done(state)
    piece, state = _rule(state, versions, context, heads, work, parted)
    work.head_changes = (
        0 if piece is None else len(piece) if isinstance(piece, Delta) else len(piece[1])
    )
    work.steps, work.bytes = context.work - before, 0 if done else state.bytes
    work.since(started)
    return piece, state, work


def _rule(
    state: RuleState,
    versions: Versions,
    context: Context,
    heads: CommitHeads,
    work: RuleWork,
    parted: PartedRule | None,
) -> tuple[HeadChange | None, RuleState]:
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
        delta = body.extremes.update(versions, context)
        work.surgeries, work.assignments = len(versions.deltas[body.extremes.relation]), len(delta)
        return (delta if len(delta) else None), state
    if state.head is not None:
        delta, state = heads.change(state, work)
        return (delta if delta is not None and len(delta) else None), state
    columns, signed, trace = assignments_changed(
        body, state.own_trace, versions, context, work, parted
    )
    state = state if trace is state.own_trace else state._replace(own_trace=trace)
    work.assignments = len(signed)
    return ((body.head_rows(columns, len(signed)), signed) if len(signed) else None), state


def _parted(
    schema: RelationSchema,
    state: RelationState,
    rules: tuple[NormalRule | FunctorRule, ...],
    versions: Versions,
) -> PartedHead | None:
    """How the rows of a relation come and go by parts, where its rules are those of before and
    nothing else derives them.
    """
    parted = parted_head(state.rules, versions)
    if (
        parted is None
        or len(rules) != len(state.rules)
        or any(state.state_of(rule) is None for rule in rules)
    ):
        return None
    base = base_name(schema.name)
    return (
        parted
        if base not in versions.deltas and (base not in versions or not versions[base].count)
        else None
    )


def _signed(delta: Delta) -> Signed:
    """Rows of a net change with +1 and −1."""
    rows = [np.concatenate(pair) for pair in zip(delta.erases, delta.inserts, strict=True)]
    return rows, np.repeat(np.array([-1, 1], np.int64), [delta.erased, delta.inserted])


def _through_support(
    schema: RelationSchema,
    support: SupportState | None,
    changes: list[HeadChange],
    gone: Columns | None = None,
) -> tuple[Delta, SupportState | None]:
    """The net change of the rows, and their support after it. `gone`: rows, ascending, that go
    whatever supported them.
    """
    if gone is not None:
        left = support.without(gone) if support is not None else None
        delta, support = _through_support(schema, left, changes)
        return Delta(delta.inserts, with_parts(delta.erases, gone)), support
    if not changes:
        return Delta.empty(schema.arity), support
    if support is None and len(changes) == 1 and isinstance(changes[0], Delta):
        return changes[0], None
    rows, signed = joined(
        [_signed(change) if isinstance(change, Delta) else change for change in changes]
    )
    if support is not None:
        support, delta = support.update(rows, signed)
        return delta, support
    rows, signed = support_counts(rows, signed)
    won, lost = signed > 0, signed < 0
    return Delta([column[won] for column in rows], [column[lost] for column in rows]), None
