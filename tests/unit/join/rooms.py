"""Running a plan with little room, and interrupted often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from lftj.join.plan.plan import RulePlan
from lftj.join.run.evaluate import run_plan
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.tuning import Tuning
from tests.unit.join.evaluating import surroundings

Room = tuple[int, int]
"""Rows of output, and steps, after which a run comes back."""

UNINTERRUPTED = 20_000_000  # steps


def require_rows(
    expected: list[tuple[int, ...]],
    plan: RulePlan,
    relations: Mapping[str, RelationVersion],
    arena: Arena,
    rooms: Iterable[Room],
) -> None:
    """The plan gives these rows in this order, one proof each, and counts the same work, in any
    room.
    """
    works = set()
    for room, steps in rooms:
        context = surroundings(arena, Tuning(run_rows=room, run_steps=steps))
        columns, counts = run_plan(plan, relations, context)
        assert [tuple(row) for row in np.array(columns).T.tolist()] == expected
        assert set(counts.tolist()) == {1}
        works.add(context.budget.work)
    assert len(works) == 1, "what is counted does not depend on where a run is interrupted"
