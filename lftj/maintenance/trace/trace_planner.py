# SPDX-License-Identifier: Apache-2.0
"""Choice of a trace for a rule, and of its granularities.

A body whose delta queries are selective needs no trace: a pinned row joins a small number of rows,
and its head counts proofs. Two kinds of bodies have traces: bodies with many proofs for a head row,
where the search may stop at the first and only what that search read matters [LFTJ-IVM 2.2.1]; and
bodies whose delta queries would be large because the changed atom shares no variable with the rest.
A rule is maintained in one way: if any of its positions gets an index, all do that need one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lftj.join.context import Context
from lftj.join.plan.cardinality import unevenness
from lftj.join.plan.comparison_bounds import ends, is_alone, least
from lftj.join.plan.order_costs import making
from lftj.join.plan.plan import PlannedAtom, PlannedProbe, RulePlan
from lftj.join.run.evaluate import Relations, plan_rule
from lftj.join.run.least_values import least_plan, many_proofs
from lftj.maintenance.trace.traced_body import TracedBody
from lftj.program.normal_form import NormalRule, Ref, Value
from lftj.scantree.frozen import frozen
from lftj.scantree.layout import PAGE_COLUMNS
from lftj.sensitivity import EXACT, NONE, Granularity, hull
from lftj.sensitivity.estimate import AtomStatistics, Option, estimate
from lftj.sensitivity.granularity_choice import GranularityChoice, choose_granularities
from lftj.sensitivity.shape import Position, PositionKey
from lftj.syntax.attention import look

_FIRST_PROOF = 8.0
"""Estimated proofs for each head row from which on a search for the first one, and its trace, pays.
"""


@frozen
class TraceOverride:
    """Granularities for every rule, not the planner's: for tests and experiments. `first_proof`:
    heads that project count no proofs.
    """

    granularity: Callable[[Position], Granularity]
    first_proof: bool = False


@frozen
class TraceChoice:
    """The body in the order that is traced, the granularity of each position that needs an index,
    and why. `counting`: kernel steps that counting all proofs is expected to take, beside a search
    for first ones; 0 where the search may take what it takes.
    """

    body: TracedBody
    granularities: Mapping[PositionKey, Granularity]
    reasons: Mapping[PositionKey, str]
    counting: float = 0.0


def choose_trace(
    rule: NormalRule,
    needed: tuple[int, ...],
    relations: Relations,
    context: Context,
    *,
    first_proofs: bool = False,
) -> TraceChoice | None:
    """Choose how to trace a rule, or None where delta queries serve better. `first_proofs`: a
    search for first ones has to be tried, however many are expected, if the body drops variables.
    O(positions · levels²).
    """
    if not _has_branches(rule):
        return None
    if context.forced.trace is not None:
        first = context.forced.trace.first_proof
        plan = least_plan(rule, relations, context) if first and rule.aggregates else None
        plan = plan or plan_rule(
            rule, relations, context, needed=needed, count=not first or rule.aggregates
        )
        return _forced(TracedBody(rule, plan, context.resources.dictionary), context.forced.trace)
    if context.resources.trace_budget <= 0:
        return None
    first = (
        least_plan(rule, relations, context)
        if rule.aggregates
        else plan_rule(rule, relations, context, needed=needed, count=False)
    )
    sought = first_proofs and len(needed) < len(rule.variables)
    traces_first = (
        first is not None
        and (sought or _proofs_per_row(first, relations, context) >= _FIRST_PROOF)
        and not _few_in_all(first, relations, context)
        and not _sooner_counted(first, relations, context)
    )
    if first is None and len(rule.atoms) == 1 and not rule.negated:
        return None  # a change of the only relation is the change of the assignments
    counted = plan_rule(rule, relations, context, needed=needed, count=True)
    plan = first if first is not None and traces_first else counted
    body = TracedBody(rule, plan, context.resources.dictionary)
    found = _within_budget(body, relations, context, always=traces_first)
    if found is None or not traces_first:
        return found
    return replace(found, counting=max(1.0, counted.choice.cost))


def trace_of_all(
    rule: NormalRule, needed: tuple[int, ...], relations: Relations, context: Context
) -> TraceChoice | None:
    """A trace with one interval for each context at every position, for a body whose delta queries
    searched in vain: where a search ends before it comes to an atom, no change of that atom touches
    it. None where there is nothing to log, or no room for it. O(positions · levels²).
    """
    if context.resources.trace_budget <= context.resources.traced() or not _has_branches(rule):
        return None
    plan = plan_rule(rule, relations, context, needed=needed, count=True)
    body = TracedBody(rule, plan, context.resources.dictionary)
    chosen = {position.key: hull() for position in body.shape.indexable}
    if not chosen or _loses_bounds(body) or _too_wide(body, chosen):
        return None
    return TraceChoice(body, chosen, dict.fromkeys(chosen, "delta queries searched in vain"))


def _has_branches(rule: NormalRule) -> bool:
    """Test for trie branches that a trace can name: a negated atom that looks at no column has none
    of its own.
    """
    looks = all(any(arg is not None for arg in probe.args) for probe in rule.negated)
    return looks and len(rule.atoms) > 0


def _forced(body: TracedBody, override: TraceOverride) -> TraceChoice:
    chosen = {position.key: override.granularity(position) for position in body.shape.indexable}
    return TraceChoice(body, chosen, dict.fromkeys(chosen, "asked for"))


def _proofs_per_row(plan: RulePlan, relations: Relations, context: Context) -> float:
    """Estimated proofs per binding of the levels that come out, or per group of which the least
    value does.

    Some groups may have most: to keep all values of these takes far more room than what the search
    for the least one looks at in each.
    """
    emitted = {plan.levels[level].variable for level in range(plan.group_level)}
    before = [
        size
        for variable, size in zip(plan.choice.order, plan.choice.bindings, strict=False)
        if variable in emitted
    ]
    rows = before[-1] if before else 1.0
    more = (
        unevenness(plan.rule, relations, context.statistics, context.resources.dictionary)
        if plan.least
        else 1.0
    )
    if not plan.choice.bindings:
        return 1.0
    return plan.choice.bindings[-1] * more * _left(plan, relations, context) / max(rows, 1.0)


def _left(plan: RulePlan, relations: Relations, context: Context) -> float:
    """Estimated share of the assignments that negated atoms leave."""
    share, of = 1.0, context.statistics.size
    for probe in plan.rule.negated:
        looked_up = {arg.variable for arg in probe.args if isinstance(arg, Ref)}
        for atom in plan.rule.atoms:
            named = {arg.variable for arg in atom.args if isinstance(arg, Ref)}
            if looked_up and looked_up <= named:
                read, no = of(relations, atom.relation), of(relations, probe.relation)
                if read and no and min(read.rows, no.rows) > 0:
                    share *= max(0.0, 1.0 - read.share_in(atom.args, no, probe.args, looked_up))
                break
    return share


def _few_in_all(plan: RulePlan, relations: Relations, context: Context) -> bool:
    """Test for a rule with one head row at most, whose first proof may take longer to find than
    counting all proofs that a change is part of.

    Any change that matters has that row searched for anew, from the beginning. Where proofs are
    many the first one is not far. The values of an aggregate are kept as well, unless they are many
    beside the rows that are read.
    """
    one = plan.least or all(
        isinstance(level.value, Value) for level in plan.levels[: plan.emit_level]
    )
    if not one or not plan.choice.bindings:
        return False
    return not many_proofs(plan, relations, context)


def _sooner_counted(plan: RulePlan, relations: Relations, context: Context) -> bool:
    """Test for all proofs that are counted, row by row, before a wide relation has the key order in
    which first ones are searched for; the order would also take as much memory as the relation.
    """
    made = (
        (atom.relation, atom.order)
        for atom in plan.atoms
        if len(atom.order) > context.tuning.narrow_columns
        and atom.order not in relations[atom.relation].orders()
    )
    return making(made, relations, context.tuning) > plan.choice.bindings[-1]


def _within_budget(
    body: TracedBody, relations: Relations, context: Context, *, always: bool
) -> TraceChoice | None:
    if _loses_bounds(body):
        return None
    if not body.shape.indexable:
        return TraceChoice(body, {}, {}) if always else None
    about = estimate(
        body.shape,
        [_statistics(body, number, relations, context) for number in range(len(body.shape.atoms))],
        look,
    )
    budget = context.resources.trace_budget - context.resources.traced()
    chosen = choose_granularities(about, budget)
    changing = [
        key
        for key in chosen
        if context.upkeep is None or not context.upkeep.constant(_atom(body.plan, key[0]).relation)
    ]
    if not always and not any(chosen[key].granularity.kept for key in changing):
        return None
    options = {
        found.position.key: {option.granularity: option for option in found.options}
        for found in about.positions
    }
    granularities: dict[PositionKey, Granularity] = {}
    for key, choice in chosen.items():
        # a search for first proofs is short, and its exact trace small; elsewhere one interval per
        # context will do
        granularities[key] = (
            choice.granularity if choice.granularity.kept else EXACT if always else hull()
        )
    taken = sum(options[key][kept].bytes for key, kept in granularities.items())
    if taken > budget or _too_wide(body, granularities):
        return None
    rows = {
        key: float(max(1, relations[_atom(body.plan, key[0]).relation].count)) for key in changing
    }
    if not always and _steps(options, granularities, rows) >= _steps(
        options, dict.fromkeys(changing, NONE), rows
    ):
        # where others alone make a position have an index, it may take in most of the body
        return None
    return TraceChoice(
        body, granularities, {key: _reason(choice, always) for key, choice in chosen.items()}
    )


def _too_wide(body: TracedBody, chosen: Mapping[PositionKey, Granularity]) -> bool:
    """Test for an index with more columns than a page can hold: α, the ends of the interval, and
    the kept levels of γ.
    """
    return any(
        len(position.alpha) + 2 + len(chosen[position.key].kept_levels(position.gamma))
        > PAGE_COLUMNS
        for position in body.shape.indexable
    )


def _steps(
    options: Mapping[PositionKey, Mapping[Granularity, Option]],
    chosen: Mapping[PositionKey, Granularity],
    rows: Mapping[PositionKey, float],
) -> float:
    """Cost of changes at these positions, of each relation as many as it has `rows`: few of a small
    one are to be expected.
    """
    return sum(options[key][chosen[key]].steps * count for key, count in rows.items())


def _loses_bounds(body: TracedBody) -> bool:
    """Test for a comparison with arithmetic that bounds a level, as `t - begin < 9` does, which
    would be logged, and so all of it searched.
    """
    for number in {position.level for position in body.shape.indexable}:
        level, rule = body.plan.levels[number], body.rule
        for condition in level.filters if level.value is None else ():
            variable = level.variable
            if variable is None or is_alone(condition, variable):
                continue
            if ends(condition, variable, rule) or least(condition, variable, rule) is not None:
                return True
    return False


def _reason(choice: GranularityChoice, always: bool) -> str:
    if choice.granularity.kept:
        return choice.reason
    if always:
        return "head rows have many proofs, so only what the search for the first looks at is kept"
    return "other positions of the rule have an index, so this one needs one too"


def _statistics(
    body: TracedBody, number: int, relations: Relations, context: Context
) -> AtomStatistics:
    atom = _atom(body.plan, number)
    about = context.statistics.of(relations[atom.relation])
    columns = len(body.shape.atoms[number].columns)
    return AtomStatistics(
        float(about.rows), tuple(about.distinct[column] for column in atom.order[:columns])
    )


def _atom(plan: RulePlan, number: int) -> PlannedAtom | PlannedProbe:
    """An atom of a body, the negated ones behind the others."""
    return plan.atoms[number] if number < len(plan.atoms) else plan.probes[number - len(plan.atoms)]
