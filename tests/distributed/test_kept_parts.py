"""A worker goes on from the state that it keeps of a part, however many commits passed the part by;
uncommitted state is dropped.
"""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed import compact
from lftj.distributed.work import worker
from tests.distributed.inline import InlineExecutor

RULES = """
.decl n(k: number, c: number)
n(k, count()) :- e(k, _).
.decl p(x: number, y: number)
p(x, y) :- d(x, y).
p(x, z) :- p(x, y), p(y, z).
"""
EDGES = [(k, v) for k in range(20) for v in range(30)]
LINKS = [(k, k + 1) for k in range(12)]
PARTS = 4


def opened(
    workspace: Any, edges: list[tuple[int, int]] = EDGES, links: list[tuple[int, int]] = LINKS
) -> Any:
    for name in ("e", "d"):
        workspace.relation(name, {"k": int, "v": int})
    workspace.add_rules(RULES)
    with workspace.transaction() as tx:
        tx.insert("e", edges)
        tx.insert("d", links)
    return workspace


def views(workspace: Any) -> list[list[tuple[Any, ...]]]:
    return [sorted(workspace[name].fetchall()) for name in ("e", "n", "p")]


def touched(executor: InlineExecutor) -> set[int]:
    """The parts that ran since this was asked last."""
    parts = {task.part for task in executor.tasks if hasattr(task, "part")}
    executor.tasks.clear()
    return parts


def test_parts_are_kept_through_all_steps_of_a_commit(tmp_path: Path) -> None:
    tuning = lftj.Tuning(kept_parts=2)
    many = opened(lftj.connect(executor=InlineExecutor(tmp_path, PARTS), tuning=tuning))
    many.load("d", [(k, k + 1) for k in range(12, 30)])
    cost = many.profile(last=1).iloc[0]
    assert cost["rounds"] > 2
    assert cost["tasks"] > 2 * PARTS
    assert (
        cost["built"] + cost["opened"] + cost["behind"] <= PARTS
    )  # once each, not for every round
    many.load("e", [(1, 100)])
    assert len(worker._worker.parts) == 2
    assert views(many) == views(
        opened(lftj.connect(), [*EDGES, (1, 100)], [(k, k + 1) for k in range(30)])
    )


def test_a_part_does_a_commit_once_though_others_follow_elsewhere(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, PARTS)
    many = opened(lftj.connect(executor=executor))
    touched(executor)
    seen: list[int] = []
    for k in range(20):
        many.load("e", [(k, 100)])
        (part,) = touched(executor)
        cost = many.profile(last=1).iloc[0]
        assert cost["read"] == 1, (
            f"part {part} after {seen}"
        )  # the row that came, not the hundred and more that the part holds
        seen.append(part)
    assert len(set(seen)) == PARTS
    many.load("d", [(12, 0)])
    assert views(many) == views(
        opened(lftj.connect(), [*EDGES, *((k, 100) for k in range(20))], [*LINKS, (12, 0)])
    )


def test_a_part_that_went_on_elsewhere_is_brought_forward_and_the_profile_says_so(
    tmp_path: Path,
) -> None:
    many = lftj.connect(executor=InlineExecutor(tmp_path, 1, workers=2))
    many.add_rules(
        ".decl e(k: number, v: number) .decl n(k: number, c: number) n(k, count()) :- e(k, _)."
    )
    for k in range(6):
        many.load("e", [(k, k)])
    costs = many.profile(last=3)
    assert costs["behind"].tolist() == [1, 1, 1]  # two workers, one commit each in turn
    assert costs["built"].tolist() == [0, 0, 0]
    assert sorted(many["n"].fetchall()) == [(k, 1) for k in range(6)]


def test_parts_are_kept_where_another_driver_opens_the_path(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 2)
    with lftj.connect(executor=executor) as first:
        first.add_rules(
            ".decl e(k: number, v: number) .decl n(k: number, c: number) n(k, count()) :- e(k, _)."
        )
        first.load("e", [(k, k) for k in range(6)])
    with lftj.connect(executor=executor) as second:
        second.load("e", [(k, 9) for k in range(6)])
        cost = second.profile(last=1).iloc[0]
        assert (cost["built"], cost["opened"], cost["behind"]) == (0, 0, 0)
        assert sorted(second["n"].fetchall()) == [(k, 2) for k in range(6)]


def test_a_commit_that_failed_is_not_gone_on_from_after_others_elsewhere(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, PARTS)
    many = opened(lftj.connect(executor=executor))

    def fail(payload: Any) -> None:
        if payload.part == PARTS - 1:
            raise RuntimeError("a fault")

    executor.before = fail
    with pytest.raises(RuntimeError, match="a fault"):
        many.load("e", [(k, 200) for k in range(20)])  # all parts but the last have taken it
    executor.before = lambda payload: None
    for k in range(20):
        many.load("e", [(k, 100)])
    assert views(many) == views(opened(lftj.connect(), [*EDGES, *((k, 100) for k in range(20))]))


def test_parts_of_recent_commits_are_not_built_again_after_entries_are_compacted(
    tmp_path: Path,
) -> None:
    executor = InlineExecutor(tmp_path, PARTS)
    many = opened(lftj.connect(executor=executor, tuning=lftj.Tuning(compacted_entries=80)))
    rows = [(k, 100 + n) for n in range(6) for k in range(20)]
    entries: list[int] = []
    for row in rows:
        many.load("e", [row])
        assert many.profile(last=1)["built"].iloc[0] == 0
        entries.append(len(many._backend.manifest.log["e#base"]))
    assert max(entries) <= 80
    assert min(entries[70:]) < 30
    assert views(many) == views(opened(lftj.connect(), [*EDGES, *rows]))
    executor.forget()
    many.load("e", [(1, 1000)])
    assert many.verify() == []


def test_commits_over_many_parts_are_not_compacted_each(tmp_path: Path) -> None:
    """A compaction leaves an entry per part, which may be more than call for one where parts are
    few.
    """
    executor, tuning = InlineExecutor(tmp_path, 12), lftj.Tuning(compacted_entries=5)
    many = opened(lftj.connect(executor=executor, tuning=tuning))
    assert len(many._backend.manifest.log["n"]) > 5
    compactions = 0
    for number in range(95):
        executor.tasks.clear()
        many.load("e", [(number % 20, 100 + number)])
        compactions += any(isinstance(task, compact.CompactTask) for task in executor.tasks)
        assert (
            many.profile(last=1)["built"].iloc[0] == 0
        )  # all parts had rows among those of recent commits
    assert compactions == 1
    assert max(map(len, many._backend.manifest.log.values())) <= compact.most_entries(12, tuning)
    assert many.verify() == []


def test_parts_of_a_closed_path_are_forgotten_once_there_are_those_of_another(
    tmp_path: Path,
) -> None:
    first, second = InlineExecutor(tmp_path / "a", PARTS), InlineExecutor(tmp_path / "b", PARTS)
    second._memories = first._memories  # the same worker
    third = copy(first)
    third.path = tmp_path / "c"

    def kept() -> set[str]:
        return {Path(path).name for path, _ in first._memories[0].parts}

    for executor in (first, second, third):
        executor.path.mkdir()
    a = opened(lftj.connect(executor=first))
    b = opened(lftj.connect(executor=second))
    assert kept() == {"a", "b"}
    a.close()
    with b.transaction() as tx:
        tx.insert("d", [(100, 101)])
    assert kept() == {"a", "b"}  # its parts were there
    c = opened(lftj.connect(executor=third))
    assert kept() == {"b", "c"}
    a = lftj.connect(executor=first)
    for workspace in (a, b, c):
        with workspace.transaction() as tx:
            tx.insert("d", [(12, 13)])
            tx.delete("d", [(3, 4)])
        assert workspace.verify() == []
    assert views(a) == views(c)
    assert kept() == {"a", "b", "c"}
