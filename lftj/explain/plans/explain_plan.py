# SPDX-License-Identifier: Apache-2.0
"""Plans with costs: `ws.explain_plan(…)`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lftj.engine.live import evaluated, read
from lftj.engine.programs import RuleHandle
from lftj.engine.versions import State
from lftj.explain.plans.analysis import PlanAnalysis
from lftj.explain.plans.level_costs import Bodies
from lftj.explain.plans.plan_report import PlanReport, plan_report
from lftj.explain.plans.upkeep import evaluated as evaluated_as
from lftj.join.run import plan_rule
from lftj.program import NormalRule
from lftj.scantree import interrupts_as_such

if TYPE_CHECKING:
    from lftj.engine.live import Engine


def explain_plan(engine: Engine, state: State, what: object, analyze: bool) -> PlanAnalysis:
    """The plans of a rule or query, with their costs if `analyze`; see `Workspace.explain_plan`."""
    with interrupts_as_such(), engine.dictionary.in_use():
        handles = (RuleHandle(each, state.program.rule(each)) for each in state.program.sources)
        rule = what if isinstance(what, RuleHandle) else written(what, handles)
        if rule is not None:
            return _of_rule(engine, state, plan_report(engine, state, rule), analyze)
        return _of_question(engine, state, what, analyze)


def written(what: object, handles: Iterable[RuleHandle]) -> RuleHandle | None:
    """The rule of this text among these, if it is one."""
    if not isinstance(what, str) or ":-" not in what:
        return None
    return next((each for each in handles if str(each).split() == what.split()), None)


def _of_rule(engine: Engine, state: State, report: PlanReport, analyze: bool) -> PlanAnalysis:
    context = engine.passing_context(state.aggregates)
    return report.costs(Bodies(state.database, context, analyze))


def _of_question(engine: Engine, state: State, question: object, analyze: bool) -> PlanAnalysis:
    """The plans of the rules that a question is rewritten to, over the rows of all of them: these
    are evaluated for it, also where nothing is measured.
    """
    asked = read(engine, state, question)
    context = engine.passing_context(state.aggregates)
    database = evaluated(engine, state, asked, context)
    bodies = Bodies(database, context, analyze)
    rules = [rule for stratum in asked.program.order.strata for rule in stratum.rules]
    found = [
        bodies.of(
            plan_rule(rule, database, context, needed=evaluated_as(rule, state)[1], count=True)
        )
        for rule in rules
        if isinstance(rule, NormalRule)
    ]
    title = f"query {question}"
    return PlanAnalysis(title, state.version, analyze, tuple(found), bodies.compile_seconds)
