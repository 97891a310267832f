# SPDX-License-Identifier: Apache-2.0
"""Strata that add up (`lftj.program.additive`): followed by levels where these can be, evaluated
anew where not, by iterations where levels find a cycle that conditions may open.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_

from lftj.errors import GroupCycleError, UserFunctionError, ValueRangeError
from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import NormalRule, RelationSchema, Stratum
from lftj.storage.delta import Delta
from lftj.views.iterated_node import Iterated
from lftj.views.levels_node import Levels, Suspicion
from lftj.views.levels_state import LevelsState


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
    if isinstance(kept, LevelsState) and same and all(map(is_, kept.rules, rules)):
        way = Levels(schemas, kept, versions, context, work)
        try:
            return way.followed()
        except (Suspicion, ValueRangeError, UserFunctionError):
            # A product may be out of range that no version has: of a sum that goes in this commit
            # and a row that comes. What an evaluation finds decides.
            work.outcome = "fallback"
    else:
        work.outcome = "full"
    return _anew(schemas, LevelsState.begun(rules), versions, context, work)


def _anew(
    schemas: Mapping[str, RelationSchema],
    begun: LevelsState,
    versions: Versions,
    context: Context,
    work: RuleWork,
) -> tuple[dict[str, Delta], LevelsState]:
    """The stratum evaluated from nothing. Raises as `follow_levels`."""
    try:
        return Levels(schemas, begun, versions, context, work).from_nothing()
    except (GroupCycleError, ValueRangeError, UserFunctionError) as first:
        if not any(each.judges for each in begun.contributions):
            raise
        try:
            return Iterated(schemas, begun, versions, context, work).from_nothing()
        except (ValueRangeError, UserFunctionError):
            raise first from None  # values of a cycle grow until they have no room
