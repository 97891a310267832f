"""Update of one relation: from the changes of what its rules read to the change of its rows.

Signed assignments of each rule's body, found inside the regions that the commit touches, go through the rule's head: to signed head rows,
or through the aggregate's state to the rows that a group gave up and got. Where rows may be derived in several ways the sum of both goes
through the support counts [LFTJ-IVM 2.1–2.3].
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from lftj.heads.support import support_counts
from lftj.heads.support_state import SupportState
from lftj.join.context import Context
from lftj.join.evaluate import Columns
from lftj.maintain.delta_query import signed_assignments
from lftj.maintain.establish import Signed, evaluate_again, evaluate_rule, joined, rule_name
from lftj.maintain.functor_rows import functor_rows
from lftj.maintain.rule_state import Body, RelationState, RuleState
from lftj.maintain.rule_work import RuleWork
from lftj.maintain.trace_state import fitted, traced_change
from lftj.maintain.versions import Versions
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion

_FEW = 16  # changed rows up to which nobody asks whether an update pays
_SHARE = 0.5  # of what is read may have changed at most
_MANY = 1000  # changed rows below which only what such changes cost before tells

HeadChange = Delta | Signed
"""Head rows won and lost: each once, or with signed numbers of proofs, in which case rows may repeat."""

Updated = tuple[Delta, RelationState, list[RuleWork]]


class ForecastError(Exception):
    """An update is expected to cost more than a full evaluation. Never leaves the engine."""


def update(
    schema: RelationSchema,
    state: RelationState,
    rules: tuple[NormalRule | FunctorRule, ...],
    versions: Versions,
    context: Context,
    allowed: int,
) -> Updated:
    """The net change of a relation's rows, its new state, and what was done. Raises what evaluation raises; `state` stays as it is.

    A rule that was not there before is evaluated in full and its rows are won; one that is gone is evaluated as things were, and its rows
    are lost. The other rules together may take `allowed` kernel steps, else AllowanceSpentError; ForecastError when they are expected to
    take more.
    """
    known = {id(rule_state.rule): rule_state for rule_state in state.rules}
    states = {id(rule): known.pop(id(rule), None) for rule in rules}
    if _hopeless([kept for kept in states.values() if kept is not None], versions, context.fraction, allowed):
        raise ForecastError
    pieces: list[HeadChange] = []
    works: list[RuleWork] = []
    context.allowance = allowed
    try:
        for number, kept in states.items():
            if kept is not None and not versions.deltas.keys().isdisjoint(kept.rule.reads):
                piece, states[number], work = _updated(kept, versions, context)
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
            piece, states[id(rule)], work = evaluate_rule(rule, None, versions, context, "added")
            pieces.append(piece)
            works.append(work)
    for gone in known.values():
        (rows, counts), work = evaluate_again(gone, versions.old, context, "removed")
        pieces.append((rows, -counts))
        works.append(work)
    if base is not None:
        pieces.append(base)
    delta, support = _through_support(schema, support, pieces)
    return delta, RelationState(tuple(found for found in states.values() if found is not None), support), works


def _supported_once(relation: RelationVersion, context: Context) -> SupportState:
    """The supports of a view that had one way to derive each row. O(n), once."""
    return SupportState.build(context.arena, relation.columns(), np.ones(relation.count, np.int64))


def _hopeless(rules: list[RuleState], versions: Versions, fraction: float, allowed: int) -> bool:
    """Whether an update is not worth starting: too large a share of what is read has changed, or it is too much going by averages."""
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
        for query in rule_state.body.queries if rule_state.body is not None else ():
            expected += query.expected(sizes.get(query.relation, 0))
    # a small view's update may take more than `fraction`, which is to be found out by trying
    share = max(fraction, min(_SHARE, allowed / max(1, sum(rule_state.work for rule_state in rules)))) if fraction else 0.0
    return expected > allowed or (changed > _MANY and changed > share * read)


def _updated(state: RuleState, versions: Versions, context: Context) -> tuple[HeadChange | None, RuleState, RuleWork]:
    """The change of one rule's head rows, its new state, and what was done."""
    started, before = time.perf_counter(), context.work
    work = RuleWork(state.rule.relation, rule_name(state.rule), "update")
    piece, state = _rule(state, versions, context, work)
    work.head_changes = 0 if piece is None else len(piece) if isinstance(piece, Delta) else len(piece[1])
    work.steps, work.bytes = context.work - before, state.bytes
    work.seconds = time.perf_counter() - started
    return piece, state, work


def _rule(state: RuleState, versions: Versions, context: Context, work: RuleWork) -> tuple[HeadChange | None, RuleState]:
    """The change of one rule's head rows, and its new state."""
    rule = state.rule
    if isinstance(rule, FunctorRule) or state.body is None:
        assert isinstance(rule, FunctorRule)
        delta = versions.deltas[rule.domain]
        found = Delta(functor_rows(rule, delta.inserts, context), functor_rows(rule, delta.erases, context))
        work.surgeries, work.assignments = len(delta), len(found)
        return (found if len(found) else None), state
    body = state.body
    if body.extremes is not None:
        delta = body.extremes.update(versions, context)
        work.surgeries, work.assignments = len(versions.deltas[body.extremes.relation]), len(delta)
        return (delta if len(delta) else None), state
    columns, signed, state = _assignments(state, body, versions, context, work)
    work.assignments = len(signed)
    if not len(signed):
        return None, state
    if state.aggregate is None:
        return (body.head_rows(columns, len(signed)), signed), state
    aggregate, delta = state.aggregate.update(columns, signed)
    return (delta if len(delta) else None), replace(state, aggregate=aggregate)


def _assignments(
    state: RuleState, body: Body, versions: Versions, context: Context, work: RuleWork
) -> tuple[Columns, np.ndarray, RuleState]:
    """The change of the needed values of a rule's satisfying assignments, with signed counts, and the state with its indices after it."""
    if state.trace is None:
        pieces = signed_assignments(body.queries, versions, context, work)
    else:
        pieces, trace = traced_change(state.trace, versions, context, work)
        if context.trace_override is None and trace.bytes > state.trace.bytes:
            trace = fitted(trace, context.trace_budget - context.traced() + state.trace.bytes)
        state = replace(state, trace=trace)
    pieces = [piece for piece in pieces if len(piece[1])]
    if not pieces:
        return [], np.empty(0, np.int64), state
    if len(pieces) == 1:
        return *pieces[0], state
    width = len(pieces[0][0])
    columns = [np.concatenate([columns[i] for columns, _ in pieces]) for i in range(width)]
    return columns, np.concatenate([signed for _, signed in pieces]), state


def _signed(delta: Delta) -> Signed:
    """Rows of a net change with +1 and −1."""
    rows = [np.concatenate(pair) for pair in zip(delta.erases, delta.inserts, strict=True)]
    return rows, np.repeat(np.array([-1, 1], np.int64), [delta.erased, delta.inserted])


def _through_support(schema: RelationSchema, support: SupportState | None, changes: list[HeadChange]) -> tuple[Delta, SupportState | None]:
    if not changes:
        return Delta.empty(schema.arity), support
    if support is None and len(changes) == 1 and isinstance(changes[0], Delta):
        return changes[0], None
    rows, signed = joined([_signed(change) if isinstance(change, Delta) else change for change in changes])
    if support is not None:
        support, delta = support.update(rows, signed)
        return delta, support
    rows, signed = support_counts(rows, signed)
    won, lost = signed > 0, signed < 0
    return Delta([column[won] for column in rows], [column[lost] for column in rows]), None
