"""The rows of a rule in pieces of whole groups, so that what is made of a group is far less than
its rows need never hold them all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lftj.join.access.gathering import Gathered, Making
from lftj.join.access.row_scan import scan_rows, scanned_rows
from lftj.join.access.star_join import compute_rows_of_one
from lftj.join.context import Context
from lftj.join.plan.planner import begins_with, plan_behind
from lftj.join.run.evaluate import (
    Columns,
    Relations,
    chunks,
    looked_up,
    looked_up_into,
    owned,
    plan_once,
)
from lftj.program.normal_form import NormalRule


def evaluate_by_groups(
    rule: NormalRule,
    relations: Relations,
    context: Context,
    *,
    needed: tuple[int, ...],
    width: int,
    count: bool = True,
) -> Iterator[tuple[Columns, np.ndarray]]:
    """The values of `needed` over all satisfying assignments, and how many of these each row stands
    for, in pieces of rows: no group, the first `width` of `needed`, is in two. Rows may repeat;
    without `count` every count is 1.

    The rows of a single relation may be read as they lie (`row_scan`), and partners that are found
    by a key looked up (`lookups`). Where rows are many the plan begins with the group, unless that
    is far dearer: then, as where they are few, they come all at once. Raises LimitError when a
    piece takes more memory than it may.
    """
    if (found := scanned_rows(rule, needed, relations, context)) is not None:
        yield found
        return
    plan, relations = plan_once(rule, relations, context, needed=needed, count=count)
    if (looked := looked_up(plan, needed, relations, context, count=count)) is not None:
        yield looked
        return
    apart, tuning = begins_with(plan.outputs[:width], plan), context.tuning
    if (
        count
        and width
        and not apart
        and rule.source not in context.forced.orders
        and plan.choice.bindings[-1] > tuning.grouped_bindings
    ):
        grouped = plan_behind(rule, needed[:width], needed, relations, context.statistics)
        if grouped is not None and grouped.choice.cost <= tuning.grouped_order * plan.choice.cost:
            plan, apart = grouped, True
    waiting: list[np.ndarray] = []
    rows, enough = 0, tuning.grouped_bindings
    for chunk in chunks(plan, relations, context):
        waiting.append(owned(chunk))
        rows += chunk.shape[1]
        context.budget.check_memory(8 * len(chunk) * rows)
        if apart and rows >= enough:
            whole = np.concatenate(waiting, axis=1)
            end = _last_group(whole, width)
            if end:
                yield list(whole[:-1, :end]), whole[-1, :end]
            waiting = [whole[:, end:].copy()]
            rows -= end
            enough = max(
                tuning.grouped_bindings, 2 * rows
            )  # a large group is not looked through at every chunk
    if rows:
        whole = waiting[0] if len(waiting) == 1 else np.concatenate(waiting, axis=1)
        yield list(whole[:-1]), whole[-1]


def gathered(
    rule: NormalRule,
    relations: Relations,
    context: Context,
    *,
    needed: tuple[int, ...],
    make: Making[Gathered],
    count: bool = True,
) -> Gathered:
    """All satisfying assignments, in what `make` gives, batch by batch: the values of `needed`, and
    how often each row counts; without `count` once.

    Found as by `evaluate_by_groups`, but no assignment is kept here. Raises what that raises.
    """
    found = make(context.budget.check_memory)
    if scan_rows(rule, needed, relations, context, found):
        return found
    if count:
        read = compute_rows_of_one(rule, needed, relations, context, make)
        if read is not None:
            return read
    plan, relations = plan_once(rule, relations, context, needed=needed, count=count)
    looked = looked_up_into(plan, needed, relations, context, make, count=count)
    if looked is not None:
        return looked
    for chunk in chunks(plan, relations, context):
        columns = dict(zip(needed, chunk, strict=False))
        found.add(columns, chunk.shape[1], chunk[-1] if count else None)
    return found


def _last_group(rows: np.ndarray, width: int) -> int:
    """Position at which the group of the last row begins."""
    other = (rows[:width] != rows[:width, -1:]).any(axis=0)
    return len(other) - int(np.argmax(other[::-1])) if other.any() else 0
