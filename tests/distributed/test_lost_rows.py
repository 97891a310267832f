"""Stages that run again: in other workers, which know nothing, twice, and where the rows are lost
that parts wrote for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.files.manifest import row_files
from lftj.distributed.partitioning.steps import Move
from lftj.distributed.parts.task import PartTask
from lftj.distributed.work import worker
from tests.depth import enough
from tests.distributed.inline import InlineExecutor, require_equal
from tests.distributed.twice import WAYS, TwiceExecutor

RULES = """
.decl path(x: number, y: number)
path(x, y) :- e(x, y).
path(x, z) :- path(x, y), path(y, z), x < z.
.decl label(x: number, l: number)
label(x, min(x)) :- e(x, _).
label(y, min(l)) :- label(x, l), e(x, y).
.decl reached(x: number, n: number)
reached(x, count()) :- path(x, _).
"""
CHAIN = [(n, n + 1) for n in range(40)]
NEW = [(40, 41), (-1, 0), (7, 30)]
STEP = 5


def made(workspace: Any) -> Any:
    workspace.relation("e", {"x": int, "y": int})
    workspace.add_rules(RULES)
    workspace.load("e", CHAIN)
    return workspace


def change(*workspaces: Any) -> None:
    for workspace in workspaces:
        with workspace.transaction() as tx:
            tx.delete("e", [(20, 21)])
            tx.insert("e", NEW)


def supersteps(task: Any) -> int:
    """The number of the superstep that a task is, 0 for another."""
    if not isinstance(task, PartTask) or task.steps[-1].move is not Move.SUPERSTEP:
        return 0
    return sum(step.move is Move.SUPERSTEP for step in task.steps)


def in_the_fifth(what: Callable[[PartTask], Any], times: int = 1) -> Callable[[Any], None]:
    """Something that happens when the fifth superstep of an attempt begins, so many times."""
    seen = set[str]()

    def before(task: Any) -> None:
        if supersteps(task) == STEP and task.token not in seen and len(seen) < times:
            seen.add(task.token)
            what(task)

    return before


def opened(executor: Any) -> tuple[Any, Any]:
    many, one = made(lftj.connect(executor=executor)), made(lftj.connect())
    require_equal(many, one)
    return many, one


def test_all_executors_are_lost_in_a_superstep(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 4)
    many, one = opened(executor)
    lost = list[int]()

    def lose(task: PartTask) -> None:
        lost.append(supersteps(task))
        executor.forget()
        worker.forget()

    executor.before = in_the_fifth(lose)
    change(many, one)
    assert lost == [STEP]
    assert many.profile(last=1).iloc[0]["rounds"] >= 9
    require_equal(many, one)
    assert many.verify() == []


@pytest.mark.parametrize("way", enough(WAYS[-1:], WAYS))
def test_each_task_of_a_superstep_has_a_twin(tmp_path: Path, way: str) -> None:
    executor = TwiceExecutor(tmp_path, 4, way=way)
    many, one = opened(executor)
    executor.before = in_the_fifth(lambda task: executor._memories.__setitem__(0, None))
    change(many, one)
    executor.go_on()
    require_equal(many, one)
    assert many.verify() == []
    change(many, one)
    require_equal(many, one)


@pytest.mark.parametrize("which", ["news", "parts"])
def test_rows_between_parts_are_lost_in_a_superstep(
    tmp_path: Path, which: str, caplog: pytest.LogCaptureFixture
) -> None:
    executor = InlineExecutor(tmp_path, 4)
    many, one = opened(executor)
    before, tokens = many.version, set[str]()
    executor.before = in_the_fifth(lambda task: lose_files(tmp_path, task, which, tokens), 2)
    change(many, one)
    assert len(tokens) == 2  # the commit began a third time
    assert caplog.text.count("begins again") == 2
    assert many.version == before + 1
    assert not [file for file in row_files(tmp_path) if tokens & set(file.split("-"))]
    require_equal(many, one)
    assert many.verify() == []


def test_rows_that_are_lost_each_time_are_an_error_and_nothing_has_happened(
    tmp_path: Path,
) -> None:
    executor = InlineExecutor(tmp_path, 4)
    many, one = opened(executor)
    before, tokens = many.version, set[str]()
    executor.before = in_the_fifth(lambda task: lose_files(tmp_path, task, "news", tokens), 9)
    with pytest.raises(lftj.DistributedError, match="missing") as caught:
        change(many)
    assert caught.value.code == "E403"
    assert len(tokens) == 3
    assert many.version == before
    assert not [file for file in row_files(tmp_path) if tokens & set(file.split("-"))]
    executor.before = lambda task: None
    require_equal(many, one)
    change(many, one)
    require_equal(many, one)


def lose_files(path: Path, task: PartTask, which: str, tokens: set[str]) -> None:
    """Remove the files of a commit of one kind."""
    tokens.add(task.token)
    found = [file for file in row_files(path) if task.token in file and which in file]
    assert found
    for file in found:
        (path / "rows" / file).unlink()
