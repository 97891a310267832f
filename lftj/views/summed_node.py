# SPDX-License-Identifier: Apache-2.0
"""Strata that add up (`lftj.program.additive`): followed by levels where these can be, evaluated
anew where not, by iterations where levels find a cycle that conditions may open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import is_

from lftj.errors import GroupCycleError, UserFunctionError, ValueRangeError
from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import NormalRule, RelationSchema, Stratum
from lftj.storage.delta import Delta
from lftj.views.group_levels import evaluated_by_levels
from lftj.views.iterated_node import Iterated
from lftj.views.levels_node import Levels, Suspicion
from lftj.views.levels_state import LevelsState
from lftj.views.possible_groups import follow_possible
from lftj.views.possible_rules import possible_rules


def follow_levels(
    stratum: Stratum,
    schemas: Mapping[str, RelationSchema],
    kept: object,
    versions: Versions,
    context: Context,
    work: RuleWork,
) -> tuple[dict[str, Delta], LevelsState]:
    """Bring a summed stratum up to date: the changes of its relations, and what is kept. Raises
    GroupCycleError, ValueRangeError, UserFunctionError or LimitError; nothing given is changed.
    """
    rules = tuple(rule for rule in stratum.rules if isinstance(rule, NormalRule))
    same = isinstance(kept, LevelsState) and len(kept.rules) == len(rules)
    if not (isinstance(kept, LevelsState) and same and all(map(is_, kept.rules, rules))):
        kept, work.outcome = None, "full"
    begun = kept or LevelsState.begun(rules)
    judges, possible = any(each.judges for each in begun.contributions), None
    if judges:
        known = possible_rules(rules, begun.additions)
        if known is not None:
            possible = follow_possible(begun.possible, known, schemas, versions, context, work)
        if possible is None:  # by what rows say, either of two groups may rest on the other
            work.outcome = work.outcome if kept is None else "fallback"
            return _iterated(schemas, LevelsState.begun(rules), versions, context, work)
    if kept is not None:
        try:
            deltas, state = Levels(schemas, kept, versions, context, work).followed()
            return deltas, replace(state, possible=possible)
        except (Suspicion, ValueRangeError, UserFunctionError):
            # A product may be out of range that no version has: of a sum that goes in this commit
            # and a row that comes. What an evaluation finds decides.
            work.outcome = "fallback"
    begun = LevelsState.begun(rules)
    try:
        deltas, state = evaluated_by_levels(schemas, begun, versions, context, work)
    except (GroupCycleError, ValueRangeError, UserFunctionError):
        if not judges:
            raise
        deltas, state = _iterated(schemas, begun, versions, context, work)
    return deltas, replace(state, possible=possible)


def _iterated(
    schemas: Mapping[str, RelationSchema],
    begun: LevelsState,
    versions: Versions,
    context: Context,
    work: RuleWork,
) -> tuple[dict[str, Delta], LevelsState]:
    """The stratum evaluated from nothing by iterations. Raises as `follow_levels`."""
    try:
        return Iterated(schemas, begun, versions, context, work).from_nothing()
    except (ValueRangeError, UserFunctionError) as error:
        # Values of a cycle grow until they have no room: then the cycle is what is wrong.
        try:
            evaluated_by_levels(schemas, begun, versions, context, work)
        except GroupCycleError as cycle:
            raise cycle from None
        except (ValueRangeError, UserFunctionError):
            pass
        raise error
