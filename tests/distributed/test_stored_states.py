"""Workers that never saw a part open it as another one stored it: the work of a commit is that of
its change.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lftj
from lftj.distributed.work import worker
from lftj.distributed.work.warm import warm
from tests.distributed.inline import InlineExecutor
from tests.distributed.stored import RULES, change, expected, graph, opened


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_a_worker_that_starts_anew_opens_what_was_stored(tmp_path: Path, rules: str) -> None:
    executor = InlineExecutor(tmp_path, 3)
    edges = set(graph())
    workspace = opened(executor, rules, sorted(edges))
    for step in range(4):
        executor.forget()
        new, old = (step, 70 + step), sorted(edges)[7 * step]
        with workspace.transaction() as tx:
            tx.insert("e", [new])
            tx.delete("e", [old])
        edges = (edges | {new}) - {old}
        assert {tuple(row) for row in workspace["v"]} == expected(rules, edges)
        last = workspace.profile(last=1).iloc[0]
        assert last["built"] == 0
        assert last["opened"] >= 1
    workspace.close()


@pytest.mark.parametrize("rules", [RULES["the next"], RULES["the last"]], ids=["next", "last"])
def test_what_was_stored_of_a_search_for_least_values_finds_the_one_after(
    tmp_path: Path, rules: str
) -> None:
    executor = InlineExecutor(tmp_path, 2)
    edges = {(3 * x, 3 * x + 1) for x in range(200)}
    workspace = opened(executor, rules, sorted(edges))
    for gone in (30, 300, 303):
        executor.forget()
        with workspace.transaction() as tx:
            tx.delete("e", [(gone, gone + 1)])
        edges.remove((gone, gone + 1))
        assert {tuple(row) for row in workspace["v"]} == expected(rules, edges)
        assert workspace.profile(last=1).iloc[0]["built"] == 0
    workspace.close()


def mapped_kilobytes() -> tuple[int, int]:
    """Of the segments that this process maps, all of them and what it has read of them."""
    size = read = 0
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, *rest = line.split()
        if not name.endswith(":"):
            inside = line.endswith(".pages")
        elif inside:
            size += int(rest[0]) if name == "Size:" else 0
            read += int(rest[0]) if name == "Rss:" else 0
    return size, read


def test_what_is_read_and_done_follows_the_change_not_the_part(tmp_path: Path) -> None:
    costs: list[Any] = []
    for number, rows in enumerate((20_000, 320_000)):
        executor = InlineExecutor(tmp_path / f"{number}", 1)
        nodes = np.random.default_rng(3).integers(0, rows // 4, (2, rows))
        workspace = opened(executor, RULES["triangles"], list(zip(*nodes.tolist(), strict=True)))
        change(workspace, (1, 2))  # makes the key orders that commits need
        executor.forget()
        costs.append(change(workspace, (5, 7), (7, 9)))
        assert costs[-1]["opened"] == 1
        if rows > 100_000 and Path("/proc/self/smaps").exists():
            size, read = mapped_kilobytes()
            assert 3 * read < 2 * size
        workspace.close()
    assert [cost["read"] for cost in costs] == [4, 4]  # two rows, sliced and whole
    assert costs[1]["steps"] < 3 * costs[0]["steps"]


def test_strings_of_several_workers_mean_the_same_to_those_that_come_after(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 5, workers=2)
    rules = (
        ".decl v(x: symbol, n: number, least: symbol, all: symbol) v(x, count(), min(y), "
        'concat(y, ",")) :- e(x, y).'
    )
    rows = {(f"n{x}", f"m{y}") for x, y in graph(60)}

    def both() -> list[Any]:
        return [lftj.connect(executor=executor), lftj.connect()]

    workspaces = both()
    for each in workspaces:
        each.relation("e", {"x": str, "y": str})
        each.load("e", sorted(rows))
        each.add_rules(rules)
    for step in range(5):
        executor.forget()
        for each in workspaces:
            with each.transaction() as tx:
                tx.insert(
                    "e", [(f"n{step}", f"new{step}"), (f"other{step}", "m1"), ("n1", f"a{step}")]
                )
                tx.delete("e", [sorted(rows)[step]])
        assert set(workspaces[0]["v"]) == set(workspaces[1]["v"])
        assert workspaces[0].profile(last=1)["built"].iloc[0] == 0


def test_old_records_and_pages_go(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 2)
    workspace = opened(executor, RULES["triangles"], graph())
    for number in range(40):
        change(workspace, (number, 1000 + number), (1000 + number, number), (1, number))
    assert len(list((tmp_path / "state").glob("*.json"))) <= 4
    workspace.close()
    workspace = lftj.connect(executor=executor)
    assert len(list((tmp_path / "state").glob("*.json"))) == 2
    executor.forget()
    assert change(workspace, (3, 2000), (2000, 3), (2, 2000))["built"] == 0


def test_a_process_that_is_warm_may_be_forked() -> None:
    before = threading.active_count()
    warm()
    assert threading.active_count() == before


def test_a_commit_reads_the_strings_it_names_not_all_that_are_known(tmp_path: Path) -> None:
    read: list[int] = []
    for number, rows in enumerate((10_000, 100_000)):
        executor = InlineExecutor(tmp_path / f"{number}", 1)
        workspace = lftj.connect(executor=executor)
        workspace.relation("e", {"x": str, "y": str})
        workspace.load(
            "e",
            pa.table(
                {
                    "x": [f"n{x % 100}" for x in range(rows)],
                    "y": [f"a much longer name, {y}" for y in range(rows)],
                }
            ),
        )
        workspace.add_rules(".decl v(x: symbol, n: number) v(x, count()) :- e(x, _).")
        for name in ("before", "after"):
            executor.forget()
            with workspace.transaction() as tx:
                tx.insert("e", [("n7", name), ("new", name)])
        assert workspace.profile(last=1)["opened"].iloc[0] == 1
        host = worker._worker.checkpoints._hosts[0]
        assert len(host.dictionary) > rows
        assert len(host.dictionary._codes) <= 3
        read.append(host.arena.watch.read)
        counts = dict(workspace["v"])
        assert (counts["n7"], counts["new"], counts["n8"]) == (rows // 100 + 2, 2, rows // 100)
        workspace.close()
    assert read[1] < 3 * read[0]
