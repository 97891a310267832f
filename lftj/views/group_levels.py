# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a stratum that adds up from nothing. Levels are found with the groups; where these
are raised again and again, all at once: those of the groups that may be there, whatever their
values are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice import MonotoneFixpoint
from lftj.maintenance.lattice.group_order import order_groups
from lftj.program.additive import additions
from lftj.program.monotone import Lattice
from lftj.program.normal_form import AggregateTerm, NormalRule, RelationSchema
from lftj.scantree import Tree
from lftj.scantree.rows import sort_rows
from lftj.storage.delta import Delta
from lftj.types import INT
from lftj.views.levels_node import DeepError, Levels
from lftj.views.levels_state import LevelsState, no_levels
from lftj.views.possible_rules import possible_name, possible_rules, possible_schema


def evaluated_by_levels(
    schemas: Mapping[str, RelationSchema],
    begun: LevelsState,
    versions: Versions,
    context: Context,
    work: RuleWork,
) -> tuple[dict[str, Delta], LevelsState]:
    """A stratum evaluated from nothing. Raises GroupCycleError, ValueRangeError, UserFunctionError
    or LimitError.
    """
    try:
        return Levels(schemas, begun, versions, context, work).from_nothing()
    except DeepError:
        levels = _group_levels(begun.rules, schemas, versions, context) or {}
    highest = max((_highest_level(each) for each in levels.values()), default=0)
    begun = replace(begun, levels=levels, highest=highest)
    return Levels(schemas, begun, versions, context, work).from_nothing(deep=True)


def _highest_level(levels: Tree) -> int:
    return max(levels.columns()[-1].tolist(), default=0)


def _group_levels(
    rules: tuple[NormalRule, ...],
    schemas: Mapping[str, RelationSchema],
    versions: Versions,
    context: Context,
) -> dict[str, Tree] | None:
    """The levels of the groups by relation; None where these form a cycle, or groups are made of
    values. Two evaluations of the rules without values.
    """
    known = additions(rules)
    possible = possible_rules(rules, known)
    if possible is None:
        return None
    columns = {name: each.column for name, each in known.items()}
    made = {possible_name(name): possible_schema(schemas[name], columns[name]) for name in known}
    found = {possible_name(name): Lattice(column, "max") for name, column in columns.items()}
    extremes = [_extreme(rule) for rule in possible]
    fixpoint = MonotoneFixpoint(made, found, extremes, versions, context)
    fixpoint.start()
    rows = fixpoint.finish()
    orders = order_groups(fixpoint.rules, rows, found, fixpoint.lower, context)
    if orders is None or any(each.last >= 0 for each in orders.values()):
        return None
    levels = dict[str, Tree]()
    for name, column in columns.items():
        all_columns = rows[possible_name(name)].columns()
        keys = [each for place, each in enumerate(all_columns) if place != column]
        ranks = orders[possible_name(name)].of(all_columns)
        ordered = sort_rows([*(keys or [all_columns[column]]), ranks])
        levels[name] = no_levels(schemas[name], context.resources.arena).apply(ordered)
    return levels


def _extreme(rule: NormalRule) -> NormalRule:
    """The rule with the greatest of its zeros, where it had their sum."""
    head = [
        AggregateTerm("max", each.args, INT) if isinstance(each, AggregateTerm) else each
        for each in rule.head
    ]
    return replace(rule, head=tuple(head))
