"""States that parts have stored stay small, by themselves and by `compact()`, whoever stores them,
and whatever dies meanwhile.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lftj
from lftj.distributed import store
from lftj.distributed.files import path_lock
from lftj.distributed.stored import stored_files
from tests.distributed.inline import InlineExecutor
from tests.distributed.stored import RULES, change, expected, opened
from tests.distributed.twice import TwiceExecutor

ROWS, NODES, COMMITS = 12_000, 6_000, 80


def edges(rows: int = ROWS, nodes: int = NODES) -> list[tuple[int, int]]:
    found = np.random.default_rng(2).integers(0, nodes, (rows, 2))
    return [(int(x), int(y)) for x, y in found]


def again_over(executor: Any) -> Any:
    """A workspace on a path where there is one already."""
    return lftj.connect(executor=executor)


def size(path: Path) -> int:
    """Bytes of all that is stored of parts."""
    return sum(file.stat().st_size for file in (path / "state").iterdir())


def fresh_size(path: Path, rules: str, rows: set[tuple[int, int]]) -> int:
    """Bytes of what workers store that derived all parts anew, with the key orders of commits."""
    executor = InlineExecutor(path, 4)
    workspace = opened(executor, rules, sorted(rows))
    for number in range(2):
        executor.forget()
        for file in (path / "state").iterdir():
            file.unlink()
        change(workspace, *((node, -1 - number) for node in range(200)))
    workspace.close()
    with again_over(executor):  # which removes older records
        return size(path)


@pytest.mark.parametrize(
    ("name", "lost", "most"),
    [
        ("triangles", 0, 2.5),
        ("triangles", 25, 3.0),
        ("sums and means", 0, 2.0),
        ("sums and means", 25, 2.0),
        ("recursion", 0, 3.0),
    ],
)
def test_after_many_small_commits_state_is_that_of_one_version(
    name: str, lost: int, most: float, tmp_path: Path
) -> None:
    """`lost`: workers are lost every so many commits, and others begin files of their own. `most`:
    how much larger it may be for a while, when files of before are
    still there. Parts of four pages are written anew nearly each time.
    """
    rules, rows = RULES[name], set(edges(*(600, 900) if name == "recursion" else ()))
    executor = InlineExecutor(tmp_path / "many", 4)
    workspace = opened(executor, rules, sorted(rows))
    sizes = list[int]()
    for number in range(COMMITS):
        if lost and number % lost == lost - 1:
            executor.forget()
        edge = number % NODES, -1 - number
        change(workspace, edge)
        rows.add(edge)
        sizes.append(size(tmp_path / "many"))
    fresh = fresh_size(tmp_path / "fresh", rules, rows)
    assert max(sizes) <= most * fresh
    assert np.median(sizes[COMMITS // 2 :]) <= (most + 1) / 2 * fresh
    assert workspace.compact() > 0
    assert size(tmp_path / "many") <= 1.2 * fresh
    assert workspace.compact() == 0
    executor.forget()
    cost = change(workspace, *(more := [(7, 8), (8, 9), (9, 7)]))
    assert cost["built"] == 0
    assert cost["opened"] > 0
    assert set(workspace["v"]) == expected(rules, rows | set(more))
    workspace.close()


def test_pages_that_small_commits_left_half_full_are_packed(tmp_path: Path) -> None:
    rules, rows, nodes = RULES["triangles"], edges(12_000, 20_000), 20_000
    workspace = opened(InlineExecutor(tmp_path / "many", 2), rules, rows)
    more, sizes, opened_parts = edges(16_500, nodes)[12_000:], list[int](), 0
    for first in range(0, len(more), 50):
        cost = change(workspace, *more[first : first + 50])
        opened_parts += cost["opened"]
        assert cost["built"] == 0
        sizes.append(_own_size(tmp_path / "many"))
    rows = [*rows, *more]
    assert set(workspace["v"]) == expected(rules, set(rows))
    assert not workspace.verify()
    workspace.close()
    fresh = opened(InlineExecutor(tmp_path / "fresh", 2), rules, rows)
    change(fresh, (-1, -2))
    fresh.compact()
    assert np.mean(sizes[-30:]) <= 1.5 * _own_size(tmp_path / "fresh")
    assert 0 < opened_parts <= 8  # each once or twice, from what is packed


def _own_size(path: Path) -> int:
    """Bytes of the pages that one part has."""
    return sum(file.stat().st_size for file in (path / "state").glob("part*"))


def test_a_part_that_the_last_commit_left_alone_is_stored_as_it_was(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 6)
    rows = {(x, x + 1) for x in range(600)}
    workspace = opened(executor, RULES["sums and means"], sorted(rows))
    for number in range(30):
        change(workspace, (number, 7))
    rows |= {(number, 7) for number in range(30)}
    assert len(workspace._backend.present.ran) == 1
    workspace.compact()
    records = stored_files.records(tmp_path / "state")
    assert sorted(name.part for name in records) == list(range(6))
    assert sorted(name.steps for name in records) == [0] * 5 + [1]
    workspace.close()
    workspace = again_over(executor)
    assert stored_files.records(tmp_path / "state") == records  # an opening has use for all
    executor.forget()
    cost = change(workspace, *(more := [(number, 1000) for number in range(600)]))
    assert (cost["built"], cost["opened"]) == (0, 6)
    assert set(workspace["v"]) == expected(RULES["sums and means"], rows | set(more))
    workspace.close()


def test_workers_whose_files_a_compaction_removed_go_on(tmp_path: Path) -> None:
    """Of each part several workers have copies, and all store them."""
    executor = InlineExecutor(tmp_path, 4, workers=3)
    rules, rows = RULES["triangles"], set(edges(400, 60))
    workspace = opened(executor, rules, sorted(rows), tuning=lftj.Tuning(stored_part_commits=0))
    for number in range(24):
        edge = number, 100 + number
        change(workspace, edge)
        rows.add(edge)
        if number % 4 == 3:
            workspace.compact()
            assert len(stored_files.records(tmp_path / "state")) == 4
        if number % 6 == 5:
            assert workspace.verify() == []
        if number % 8 == 7:
            executor.forget()
        assert set(workspace["v"]) == expected(rules, rows)
    workspace.close()


@pytest.mark.parametrize("seed", range(3))
def test_late_attempts_at_a_compaction_leave_nothing_for_long(seed: int, tmp_path: Path) -> None:
    executor = TwiceExecutor(tmp_path, 3, seed=seed)
    rules, rows = RULES["triangles"], set(edges(300, 40))
    workspace = opened(executor, rules, sorted(rows), tuning=lftj.Tuning(stored_part_commits=0))
    for number in range(12):
        change(workspace, (number, 50 + number))
        rows.add((number, 50 + number))
        workspace.compact()
        change(workspace, (number, 70 + number))
        rows.add((number, 70 + number))
        executor.go_on(0.5)
        assert set(workspace["v"]) == expected(rules, rows)
    executor.go_on()
    change(workspace, (1, 2), (2, 3), (3, 1))
    executor.go_on()
    workspace.compact()
    executor.go_on()
    before = size(tmp_path)
    workspace.compact()
    executor.go_on()
    assert size(tmp_path) <= 2 * before
    assert workspace.verify() == []
    workspace.close()


def test_a_compaction_behind_another_driver_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: Any) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(path_lock, "lock_file", no_locks)
    executor, rules = InlineExecutor(tmp_path, 2), RULES["triangles"]
    rows = set(edges(300, 40))
    one = opened(executor, rules, sorted(rows), tuning=lftj.Tuning(stored_part_commits=0))
    other = again_over(InlineExecutor(tmp_path, 2))
    change(other, (1, 100), (100, 1))
    before = stored_files.state_files(tmp_path)
    with pytest.raises(lftj.DistributedError) as caught:
        one.compact()
    assert caught.value.code == "E406"
    assert stored_files.state_files(tmp_path) == before
    # It may be overtaken when it looked already: then it is the tasks that are told.
    plain = store.compact_states

    def late(*args: Any) -> int:
        change(third, (2, 100), (100, 2))
        return plain(*args)

    third = again_over(InlineExecutor(tmp_path, 2))
    other = again_over(InlineExecutor(tmp_path, 2))
    monkeypatch.setattr(store, "compact_states", late)
    with pytest.raises(lftj.DistributedError) as caught:
        other.compact()
    assert caught.value.code == "E406"
    monkeypatch.undo()
    rows |= {(1, 100), (100, 1), (2, 100), (100, 2)}
    assert set(third["v"]) == expected(rules, rows)
    assert third.verify() == []


@pytest.mark.parametrize("moment", [1, 3, 6, 10, 15, 21, 28, 40, 60])
def test_a_compaction_that_is_killed_loses_nothing(moment: int, tmp_path: Path) -> None:
    """Driver and worker are one process here, and die at some write or removal of a file."""
    executor, rules = InlineExecutor(tmp_path, 2), RULES["triangles"]
    rows = set(edges(400, 60))
    workspace = opened(executor, rules, sorted(rows))
    for number in range(20):
        change(workspace, (number, 100 + number))
    rows |= {(number, 100 + number) for number in range(20)}
    workspace.close()
    if (child := os.fork()) == 0:
        try:
            left = [moment]

            def dying(plain: Any) -> Any:
                def call(*args: Any, **named: Any) -> Any:
                    left[0] -= 1
                    if not left[0]:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return plain(*args, **named)

                return call

            with again_over(executor) as again:
                for name in ("fsync", "replace", "unlink"):
                    setattr(os, name, dying(getattr(os, name)))
                Path.unlink = dying(Path.unlink)  # type: ignore[method-assign]
                again.compact()
        finally:
            os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -signal.SIGKILL)
    assert ended or moment > 20, "the moment came"
    with again_over(executor) as workspace:
        executor.forget()
        change(workspace, *(more := [(1, 2), (2, 3), (3, 1)]))
        assert set(workspace["v"]) == expected(rules, rows | set(more))
        assert workspace.verify() == []
        workspace.compact()
        executor.forget()
        assert change(workspace, (5, 6), (6, 7))["built"] == 0
