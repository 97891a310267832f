"""Full evaluation that leaves behind what later updates start from: support counts and the states
of aggregates.
"""

from __future__ import annotations

import numpy as np

from lftj.heads.support import support_counts
from lftj.heads.support_state import SupportState
from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.maintenance.rules.body import Body
from lftj.maintenance.rules.chosen_way import BodyEvaluation
from lftj.maintenance.rules.commit_heads import CommitHeads
from lftj.maintenance.rules.extremes import extremes_of
from lftj.maintenance.rules.full_evaluation import aggregated
from lftj.maintenance.rules.functor_rows import functor_rows
from lftj.maintenance.rules.rule_state import RelationState, RuleState
from lftj.maintenance.trace.trace_state import collected
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import no_rows
from lftj.storage.relation import RelationVersion

Signed = tuple[Columns, np.ndarray]
"""Head rows and how often each counts: proofs won, or lost when negative."""


def establish(
    schema: RelationSchema,
    rules: tuple[NormalRule | FunctorRule, ...],
    relations: Relations,
    context: Context,
    heads: CommitHeads,
    outcome: str,
    kept: RelationState | None,
) -> tuple[Columns, RelationState, list[RuleWork]]:
    """The sorted, distinct rows of a relation, base rows included, its state, and what was done.

    `kept` is the state before, whose plans go on being used where the rule is still there.
    """
    pieces: list[Signed] = []
    states: list[RuleState] = []
    works: list[RuleWork] = []
    for rule in rules:
        before = kept.state_of(rule) if kept is not None else None
        piece, state, work = evaluate_rule(rule, before, relations, context, heads, outcome)
        pieces.append(piece)
        states.append(state)
        works.append(work)
    base = relations.get(base_name(schema.name))
    has_base = base is not None and base.count > 0
    if base is not None and has_base:
        pieces.append((base.columns(), np.ones(base.count, np.int64)))
    if not pieces or not is_supported(states, has_base):
        rows = pieces[0][0] if pieces else no_rows(schema.arity)
        return rows, RelationState(tuple(states), None), works
    rows, counts = support_counts(*joined(pieces))
    return (
        rows,
        RelationState(tuple(states), SupportState.build(context.resources.arena, rows, counts)),
        works,
    )


def evaluate_rule(
    rule: NormalRule | FunctorRule,
    before: RuleState | None,
    relations: Relations,
    context: Context,
    heads: CommitHeads,
    outcome: str,
) -> tuple[Signed, RuleState, RuleWork]:
    """A rule's sorted head rows with their numbers of proofs, its state, and what was done.
    `before`: its state, if it had one.
    """
    started, spent, divided = moment(), context.budget.work, len(context.budget.divided)
    work = RuleWork(rule.relation, rule_name(rule), "full evaluation", outcome=outcome)
    body = before.body if before is not None else None
    if (
        isinstance(rule, NormalRule)
        and rule.aggregates
        and (body.extremes if body is not None else extremes_of(rule, context.tuning)) is None
    ):
        rows, state = heads.rows(rule, work, follow=outcome in ("full", "added"))
        counts = np.ones(len(rows[0]), np.int64)
    else:
        rows, counts, state = _evaluate(rule, before, relations, context, heads)
        work.assignments = int(counts.sum())
        state = state._replace(work=context.budget.work - spent)
    work.steps, work.head_changes = context.budget.work - spent, len(counts)
    work.since(started)
    work.bytes = state.bytes
    work.divided(context.budget.divided[divided:])
    return (rows, counts), state, work


def removed_rows(state: RuleState, relation: RelationVersion) -> tuple[Signed, RuleWork]:
    """The rows of a rule that goes, the only one of its relation, as they stand there."""
    work = RuleWork(
        state.rule.relation,
        rule_name(state.rule),
        "update",
        head_changes=relation.count,
        outcome="removed",
    )
    return (relation.columns(), np.ones(relation.count, np.int64)), work


def evaluate_removed(
    state: RuleState, relations: Relations, context: Context, heads: CommitHeads
) -> tuple[Signed, RuleWork]:
    """The head rows of a rule that goes, over the old relations, counted as its state counts them:
    all proofs, or those that a search for the first one finds.
    """
    started, before = moment(), context.budget.work
    if state.trace is None or state.body is None:
        rows, counts, _ = _evaluate(state.rule, state, relations, context, heads, traced=False)
    else:
        columns, counts = collected(state.trace.body, state.trace.body.plan, relations, context)
        rows, counts = support_counts(state.body.head_rows(columns, len(counts)), counts)
    work = RuleWork(
        state.rule.relation,
        rule_name(state.rule),
        "full evaluation",
        outcome="removed",
        steps=context.budget.work - before,
        head_changes=len(counts),
    )
    work.since(started)
    return (rows, counts), work


def is_supported(rules: list[RuleState], has_base: bool) -> bool:
    """Test for rows that may be derived in several ways, so that their support has to be
    counted.
    """
    if len(rules) + has_base != 1:
        return True
    return any(
        state.body is not None and not state.body.calls and state.body.projects for state in rules
    )


def rule_name(rule: NormalRule | FunctorRule) -> str:
    """Name of a rule in reports: the number of the user's rule it came from."""
    return f"#{rule.source}"


def _evaluate(
    rule: NormalRule | FunctorRule,
    before: RuleState | None,
    relations: Relations,
    context: Context,
    heads: CommitHeads,
    *,
    traced: bool = True,
) -> tuple[Columns, np.ndarray, RuleState]:
    """The rows and the state of a rule that shares nothing with others. Not `traced`: without
    indices in any case.
    """
    if isinstance(rule, FunctorRule):
        rows = functor_rows(rule, relations[rule.domain].columns(), context)
        return rows, np.ones(len(rows[0]), np.int64), RuleState(rule, None)
    body = before.body if before is not None else None
    body = body or Body(rule, extremes_of(rule, context.tuning))
    if body.extremes is not None:
        body.extremes.prepare(relations[body.extremes.relation], context)
        rows = aggregated(rule, relations, context)
        return rows, np.ones(len(rows[0]), np.int64), RuleState(rule, body)
    evaluation = BodyEvaluation(body, relations, context, before, traced=traced)
    found = heads.ways.evaluate(evaluation)
    ((columns, counts),) = found.pieces
    rows = columns
    if not found.heads:
        rows, counts = support_counts(body.head_rows(columns, len(counts)), counts)
    state = RuleState(rule, body, own_trace=found.trace, own_sizes=evaluation.sizes)
    return rows, counts, state


def joined(pieces: list[Signed]) -> Signed:
    """Rows of several rules, one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    width = len(pieces[0][0])
    return [np.concatenate([rows[i] for rows, _ in pieces]) for i in range(width)], np.concatenate(
        [counts for _, counts in pieces]
    )
