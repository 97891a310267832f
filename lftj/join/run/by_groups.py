# SPDX-License-Identifier: Apache-2.0
"""Pieces of whole groups, so that what is made of a group is far less than its rows need never hold
them all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import begins_with, plan_behind
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import Relations, chunks, owned

_GROUPED_ORDER = 4.0
"""Times the cheapest order that one may cost which goes group by group."""
_GROUPED_BINDINGS = 2_000_000
"""Bindings from which on an evaluation may go group by group: memory of all rows against a dearer
order.
"""


def pieces_of_groups(
    query: BodyQuery, plan: RulePlan, relations: Relations, width: int
) -> Iterator[np.ndarray]:
    """The rows of a plan in pieces: no group, the first `width` values of a row, is in two.

    Where rows are many the plan begins with the group, unless that is far dearer: then, as where
    they are few, they come all at once. Raises LimitError when a piece takes more memory than it
    may.
    """
    plan, apart = _grouped(query, plan, relations, width)
    context = query.context
    waiting: list[np.ndarray] = []
    rows, enough = 0, _GROUPED_BINDINGS
    for chunk in chunks(plan, relations, context):
        waiting.append(owned(chunk))
        rows += chunk.shape[1]
        context.budget.check_memory(8 * len(chunk) * rows)
        if apart and rows >= enough:
            whole = np.concatenate(waiting, axis=1)
            end = _last_group(whole, width)
            if end:
                yield whole[:, :end]
            waiting = [whole[:, end:].copy()]
            rows -= end
            # a large group is not looked through at every chunk
            enough = max(_GROUPED_BINDINGS, 2 * rows)
    if rows:
        yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting, axis=1)


def _grouped(
    query: BodyQuery, plan: RulePlan, relations: Relations, width: int
) -> tuple[RulePlan, bool]:
    """The plan to run, and whether a group's rows follow each other in it."""
    apart = begins_with(plan.outputs[:width], plan)
    if not (query.count and width) or apart or query.forced:
        return plan, apart
    if plan.choice.bindings[-1] > _GROUPED_BINDINGS:
        needed, statistics = query.needed, query.context.statistics
        grouped = plan_behind(query.rule, needed[:width], needed, relations, statistics)
        if grouped is not None and grouped.choice.cost <= _GROUPED_ORDER * plan.choice.cost:
            return grouped, True
    return plan, apart


def _last_group(rows: np.ndarray, width: int) -> int:
    """Position at which the group of the last row begins."""
    other = (rows[:width] != rows[:width, -1:]).any(axis=0)
    return len(other) - int(np.argmax(other[::-1])) if other.any() else 0
