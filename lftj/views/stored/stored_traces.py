# SPDX-License-Identifier: Apache-2.0
"""Sensitivity indices of a stored state, with the variable order and the key orders that they are
about.
"""

from __future__ import annotations

from typing import Any

from lftj.join.plan.order_choice import Choice
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import lay_out
from lftj.join.run.evaluate import Relations
from lftj.maintenance.trace.trace_state import TraceState
from lftj.maintenance.trace.traced_body import TracedBody
from lftj.scantree import IntervalTree
from lftj.sensitivity import Granularity, SensitivityIndex
from lftj.storage.durable.stored_trees import OpenedTrees, StoredTrees
from lftj.types.dictionary import Dictionary
from lftj.views.join_node import Join


def trace_data(trace: TraceState, trees: StoredTrees) -> dict[str, Any]:
    """A rule's indices as data."""
    plan = trace.body.plan
    indices = [
        [
            *key,
            index.granularity.intervals,
            index.granularity.context,
            trees.number(index.intervals.tree),
            index.merged,
            index.logged,
        ]
        for key, index in trace.indices.items()
    ]
    choice = [list(plan.choice.order), plan.choice.cost, list(plan.choice.bindings)]
    reasons = [[*key, reason] for key, reason in trace.reasons.items()]
    return {
        "choice": choice,
        "count": plan.count,
        "least": plan.least,
        "orders": _orders(plan),
        "indices": indices,
        "reasons": reasons,
    }


def trace_of(
    data: dict[str, Any],
    join: Join,
    relations: Relations,
    dictionary: Dictionary,
    trees: OpenedTrees,
) -> TraceState:
    """The indices again. ValueError where the join would read other key orders now than they are
    about.
    """
    order, cost, bindings = data["choice"]
    choice = Choice(tuple(order), cost, tuple(bindings))
    plan = lay_out(
        join.rule,
        choice,
        join.needed,
        relations,
        count=data["count"],
        least=data.get("least", False),
    )
    if _orders(plan) != data["orders"]:
        raise ValueError("the key orders of a traced body are others now")
    traced = TracedBody(join.rule, plan, dictionary)
    indices: dict[tuple[int, int], SensitivityIndex] = {}
    for atom, column, intervals, context, number, merged, logged in data["indices"]:
        position = traced.shape.by_key[atom, column]
        tree = IntervalTree(trees[number], len(position.alpha))
        indices[position.key] = SensitivityIndex(
            position, Granularity(intervals, context), tree, merged, logged
        )
    return TraceState(
        traced, indices, {(atom, column): reason for atom, column, reason in data["reasons"]}
    )


def _orders(plan: RulePlan) -> list[list[int]]:
    return [list(atom.order) for atom in (*plan.atoms, *plan.probes)]
