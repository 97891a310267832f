"""Parts of one process share plans: their rules are the same, and making a plan takes longer than
most steps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.join.run import evaluate
from tests.distributed.inline import InlineExecutor, in_supersteps
from tests.distributed.stored import RULES, change, expected, graph, opened


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The rules that plans were made for."""
    plain, found = evaluate.make_plan, list[object]()

    def make_plan(rule: Any, *arguments: Any, **options: Any) -> Any:
        found.append(rule)
        return plain(rule, *arguments, **options)

    monkeypatch.setattr(evaluate, "make_plan", make_plan)
    return found


def test_many_parts_make_about_as_many_plans_as_few(tmp_path: Path, made: list[object]) -> None:
    edges, counts = graph(), {}
    for parts in (2, 16):
        made.clear()
        with in_supersteps():
            many = opened(InlineExecutor(tmp_path / str(parts), parts), RULES["rounds"], edges)
            change(many, (1, 61), (61, 2))
            assert set(many["v"]) == expected(RULES["rounds"], {*edges, (1, 61), (61, 2)})
        counts[parts] = len(made)
    assert 0 < counts[16] <= 3 * counts[2], counts


def test_workspaces_with_other_settings_plan_for_themselves(
    tmp_path: Path, made: list[object]
) -> None:
    counts, memories = [], [None]
    for number, tuning in enumerate((lftj.Tuning(), lftj.Tuning(), lftj.Tuning(present_order=3))):
        made.clear()
        executor = InlineExecutor(tmp_path / str(number))
        executor._memories = memories  # the same worker
        many = opened(executor, RULES["triangles"], graph(), tuning=tuning)
        counts.append(len(made))
        assert set(many["v"]) == expected(RULES["triangles"], set(graph()))
    assert counts[0] == counts[2] > counts[1]
