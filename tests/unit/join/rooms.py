"""Running a plan with little room, and interrupted often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pytest

from lftj.join.context import Context
from lftj.join.plan.plan import RulePlan
from lftj.join.run import run as running
from lftj.join.run.evaluate import run_plan
from lftj.storage.relation import RelationVersion
from lftj.types.dictionary import Dictionary
from scantree import Arena

Room = tuple[int, int]
"""Rows of output, and steps, after which a run comes back."""

UNINTERRUPTED = 20_000_000  # steps


def require_rows(
    expected: list[tuple[int, ...]],
    plan: RulePlan,
    relations: Mapping[str, RelationVersion],
    arena: Arena,
    rooms: Iterable[Room],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The plan gives these rows in this order, one proof each, and counts the same work, in any
    room.
    """
    works = set()
    for room, steps in rooms:
        monkeypatch.setattr(running, "_CHUNK", room)
        monkeypatch.setattr(running, "SLICE", steps)
        context = Context(arena, Dictionary())
        columns, counts = run_plan(plan, relations, context)
        assert [tuple(row) for row in np.array(columns).T.tolist()] == expected
        assert set(counts.tolist()) == {1}
        works.add(context.work)
    assert len(works) == 1, "what is counted does not depend on where a run is interrupted"
