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
from lftj.maintain.establish import rule_name
from lftj.maintain.functor_rows import functor_rows
from lftj.maintain.rule_state import Body, RelationState, RuleState
from lftj.maintain.rule_work import RuleWork
from lftj.maintain.versions import Versions
from lftj.program.normal_form import FunctorRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import Delta

_Signed = tuple[Columns, np.ndarray]


Updated = tuple[Delta, RelationState, list[RuleWork]]


def update(schema: RelationSchema, state: RelationState, versions: Versions, context: Context) -> Updated:
    """The net change of a relation's rows, its new state, and what was done. Raises what evaluation raises; `state` stays as it is."""
    pieces: list[_Signed] = []
    states: list[RuleState] = []
    works: list[RuleWork] = []
    for rule_state in state.rules:
        if versions.deltas.keys().isdisjoint(rule_state.rule.reads):
            states.append(rule_state)
            continue
        started, before = time.perf_counter(), context.work
        work = RuleWork(schema.name, rule_name(rule_state.rule), "update")
        piece, changed = _rule(rule_state, versions, context, work)
        states.append(changed)
        if piece is not None:
            pieces.append(piece)
            work.head_changes = len(piece[1])
        work.steps = context.work - before
        work.seconds = time.perf_counter() - started
        works.append(work)
    base = versions.deltas.get(base_name(schema.name))
    if base is not None:
        pieces.append(_signed(base))
    delta, support = _through_support(schema, state, pieces)
    return delta, RelationState(tuple(states), support), works


def _rule(state: RuleState, versions: Versions, context: Context, work: RuleWork) -> tuple[_Signed | None, RuleState]:
    """The signed head rows of one rule, and its new state."""
    rule = state.rule
    if isinstance(rule, FunctorRule) or state.body is None:
        assert isinstance(rule, FunctorRule)
        delta = versions.deltas[rule.domain]
        found = Delta(functor_rows(rule, delta.inserts, context), functor_rows(rule, delta.erases, context))
        work.surgeries, work.assignments = len(delta), len(found)
        return _signed(found), state
    found = signed_assignments(state.body.queries, versions, versions.deltas, context)
    if found is None:
        return None, state
    columns, signed, work.surgeries = found
    work.regions = work.surgeries
    work.assignments = len(signed)
    if not len(signed):
        return None, state
    if state.aggregate is None:
        return (_head_rows(state.body, columns, len(signed)), signed), state
    aggregate, delta = state.aggregate.update(columns, signed, context.dictionary, context.user_aggregates)
    return (_signed(delta) if len(delta) else None), replace(state, aggregate=aggregate)


def _head_rows(body: Body, columns: Columns, rows: int) -> Columns:
    return [columns[pick] for pick in body.picks] or [np.zeros(rows, np.int64)]


def _signed(delta: Delta) -> _Signed:
    """Rows of a net change with +1 and −1."""
    rows = [np.concatenate(pair) for pair in zip(delta.erases, delta.inserts, strict=True)]
    return rows, np.repeat(np.array([-1, 1], np.int64), [delta.erased, delta.inserted])


def _through_support(schema: RelationSchema, state: RelationState, pieces: list[_Signed]) -> tuple[Delta, SupportState | None]:
    if not pieces:
        return Delta.empty(schema.arity), state.support
    if len(pieces) == 1:
        rows, signed = pieces[0]
    else:
        rows = [np.concatenate([piece[0][i] for piece in pieces]) for i in range(len(pieces[0][0]))]
        signed = np.concatenate([piece[1] for piece in pieces])
    if state.support is not None:
        support, delta = state.support.update(rows, signed)
        return delta, support
    rows, signed = support_counts(rows, signed)
    won, lost = signed > 0, signed < 0
    return Delta([column[won] for column in rows], [column[lost] for column in rows]), None
