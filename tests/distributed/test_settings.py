"""Choices of a workspace that change no result reach its parts: `tuning`, `trace_budget`, and
`progress`, which tells what goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.work import worker
from tests.distributed.inline import InlineExecutor, in_supersteps, require_equal

RULES = """
.decl two(x: number, z: number)
two(x, z) :- e(x, y), e(y, z), !e(x, z).
.decl reach(x: number, z: number)
reach(x, y) :- e(x, y).
reach(x, z) :- reach(x, y), e(y, z).
.decl far(x: number, n: number)
far(x, max(y)) :- reach(x, y).
"""
EDGES = [(x, (7 * x + 3) % 40) for x in range(40)]


def filled(workspace: lftj.Workspace) -> lftj.Workspace:
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", EDGES)
    workspace.add_rules(RULES)
    return workspace


def change(workspace: lftj.Workspace) -> None:
    with workspace.transaction() as tx:
        tx.delete("e", EDGES[3:5])
        tx.insert("e", [(3, 99), (99, 5)])


def told(executor: InlineExecutor) -> set[tuple[lftj.Tuning, int]]:
    return {(task.settings.tuning, task.settings.trace_budget) for task in executor.tasks}


@pytest.mark.parametrize("forgets", [False, True])
def test_parts_choose_by_the_tuning_of_the_workspace(tmp_path: Path, forgets: bool) -> None:
    tuning = lftj.Tuning(without={"trace", "rederivation"}, sampled_rows=16)
    executor: Any = InlineExecutor(tmp_path)
    one = filled(lftj.connect())
    many = filled(lftj.connect(executor=executor, tuning=tuning, trace_budget=3000))
    if forgets:  # parts are built anew, or opened
        executor.forget()
    for workspace in (one, many):
        change(workspace)
    require_equal(many, one)
    question = "reach(x, y), e(y, z)"
    assert sorted(many.query(question).fetchall()) == sorted(one.query(question).fetchall())
    assert told(executor) == {(tuning, 1000)}
    kept = [each.state for each in worker._worker.parts.values()]
    assert [state.statistics.tuning for state in kept] == [tuning] * 3
    many.close()
    executor.tasks.clear()
    with lftj.connect(executor=executor) as again:  # workers keep parts; their tuning is another
        again.load("e", [(7, 8)])
        one.load("e", [(7, 8)])
        require_equal(again, one)
    assert told(executor) == {(lftj.Tuning(), 1 << 26)}


def test_progress_tells_of_commits_and_their_steps(tmp_path: Path) -> None:
    lines: list[str] = []
    executor: Any = InlineExecutor(tmp_path)
    with in_supersteps(), lftj.connect(executor=executor, progress=lines.append) as workspace:
        filled(workspace)
        lines.clear()
        change(workspace)
        assert lines[:2] == ["commit 3", "commit 3: step 1 in 3 parts"]
        assert len(lines) > 3
        lines.clear()
        workspace.query("e(x, _)").fetchall()
        workspace.verify()
        assert {"query", "verification"} <= set(lines)
