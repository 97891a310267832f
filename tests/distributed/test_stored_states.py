"""Workers that never saw a part open it as another one stored it: the work of a commit is that of its change."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lftj
from lftj.distributed.stored import checkpoints, stored_part
from lftj.distributed.work import worker
from lftj.distributed.work.warm import warm
from scantree import segment_map
from tests.distributed.inline import InlineExecutor

RULES = {
    "triangles": ".decl v(x: number, n: number) v(x, count()) :- e(x, y), e(y, z), e(x, z).",
    "a projection": ".decl v(x: number, z: number) v(x, z) :- e(x, y), e(y, z).",
    "sums and means": ".decl v(x: number, s: number, m: float, a: number, b: number) "
    "v(x, sum(w), mean(w), min(w), max(w)) :- e(x, y), w = 2 * y.",
    "over everything": ".decl v(n: number, s: number, m: float, b: number) v(count(), sum(y), mean(y), max(x)) :- e(x, y).",
    "negation": ".decl v(x: number, y: number) v(x, y) :- e(x, y), !e(y, x).",
    "recursion": ".decl v(x: number, y: number) v(x, y) :- e(x, y). v(x, z) :- v(x, y), e(y, z).",
    "rounds": ".decl v(x: number, y: number) v(x, y) :- e(x, y). v(x, z) :- v(x, y), v(y, z).",
    "a choice": ".decl v(x: number, y: number) choice-domain y v(x, y) :- e(x, z), e(z, y).",
    "choices": ".decl v(x: number, y: number) choice-domain x, y v(x, y) :- e(x, y).",
    "a choice in a cycle": ".decl v(r: number, x: number, y: number) choice-domain (r, y) "
    "v(r, r, r) :- e(r, _), r < 9. v(r, x, y) :- v(r, _, x), e(x, y).",
    "best values": ".decl v(x: number, y: number, n: number) v(x, y, min(1)) :- e(x, y). v(x, z, min(n + 1)) :- v(x, y, n), e(y, z).",
    "the next": ".decl v(x: number, y: number) v(x, y) :- e(x, _), y = min z : { e(z, _), z > x }.",
    "the last": ".decl v(x: number, y: number) v(x, y) :- e(x, _), y = max z : { e(_, z), z < x }.",
    "two rules": ".decl v(x: number, y: number) .decl u(x: number, n: number) "
    "v(x, y) :- e(x, y). v(y, x) :- e(x, y), e(y, _). u(x, count()) :- v(x, _).",
}


def graph(rows: int = 400, seed: int = 1) -> list[tuple[int, int]]:
    found = np.random.default_rng(seed).integers(0, 60, (rows, 2))
    return [(int(x), int(y)) for x, y in found]


def opened(executor: InlineExecutor, rules: str, edges: list[tuple[int, int]]) -> Any:
    workspace = lftj.connect(executor=executor)
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", edges)
    workspace.add_rules(rules)
    return workspace


def expected(rules: str, edges: set[tuple[int, int]], name: str = "v") -> set[tuple[Any, ...]]:
    workspace = lftj.connect()
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", sorted(edges))
    workspace.add_rules(rules)
    return set(workspace[name])


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
def test_what_was_stored_of_a_search_for_least_values_finds_the_one_after(tmp_path: Path, rules: str) -> None:
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


def change(workspace: Any, *edges: tuple[int, int]) -> Any:
    """Insert edges; what the commit cost."""
    with workspace.transaction() as tx:
        tx.insert("e", list(edges))
    return workspace.profile(last=1).iloc[0]


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


def test_a_damaged_file_means_building_from_rows(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 2)
    edges = set(graph())
    workspace = opened(executor, RULES["a projection"], sorted(edges))
    for file in (tmp_path / "state").glob("part0-*.pages"):
        content = bytearray(file.read_bytes())
        content[20_000] ^= 1
        file.write_bytes(content)
    next((tmp_path / "state").glob("1.*.json")).write_text("{")
    executor.forget()
    cost = change(workspace, *(new := [(0, 99), (99, 0), (1, 99)]))
    assert (cost["built"], cost["opened"]) == (2, 0)
    edges.update(new)
    assert set(workspace["v"]) == expected(RULES["a projection"], edges)
    executor.forget()
    cost = change(workspace, *(new := [(2, 98), (98, 2), (3, 98)]))  # stored again
    assert (cost["built"], cost["opened"]) == (0, 2)
    assert set(workspace["v"]) == expected(RULES["a projection"], edges | set(new))


def test_a_byte_flipped_in_an_early_append_is_no_wrong_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "COMMITS", 0)
    monkeypatch.setattr(segment_map, "_CHECKED", 0)  # pages are checked as those of large parts are: when someone looked at them
    executor = InlineExecutor(tmp_path, 1)
    edges = {(x, y) for x in range(3000) for y in range(2)}
    rules = ".decl v(x: number, s: number) v(x, sum(y)) :- e(x, y)."
    workspace = opened(executor, rules, sorted(edges))
    for step in range(3):
        change(workspace, (step, 1000 + step))
    edges |= {(step, 1000 + step) for step in range(3)}
    executor.forget()
    assert change(workspace, (5, 2000))["opened"] == 1
    edges.add((5, 2000))
    file = min((tmp_path / "state").glob("part0-*.pages"), key=lambda file: file.stat().st_mtime_ns)  # all records need the first one
    content = bytearray(file.read_bytes())
    content[content.index(np.arange(2000, 2003).tobytes())] ^= 1  # a leaf of groups that no commit has changed yet
    file.write_bytes(content)
    executor.forget()
    assert change(workspace, (2000, 3000), (2001, 3000))["built"] == 1
    edges |= {(2000, 3000), (2001, 3000)}
    assert set(workspace["v"]) == expected(rules, edges)
    assert len(list((tmp_path / "state").glob("damaged-*"))) == 1
    executor.forget()
    assert change(workspace, (2002, 3000))["opened"] == 1  # stored again
    assert set(workspace["v"]) == expected(rules, edges | {(2002, 3000)})


def test_after_a_worker_that_died_all_is_checked_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_map, "_CHECKED", 0)
    executor = InlineExecutor(tmp_path, 1)
    workspace = opened(executor, RULES["a projection"], edges := [(x, x + 1) for x in range(3000)])
    change(workspace, (1, 5000))
    trial = tmp_path / "state" / "0.trial"
    assert not trial.exists()
    file = max((tmp_path / "state").glob("part0-*.pages"), key=lambda file: file.stat().st_size)
    content = bytearray(file.read_bytes())
    content[-20_000] ^= 1
    file.write_bytes(content)
    trial.touch()
    executor.forget()
    assert change(workspace, new := (2, 5000))["built"] == 1
    assert not trial.exists()
    assert set(workspace["v"]) == expected(RULES["a projection"], {*edges, (1, 5000), new})


def test_where_no_thread_can_be_started_parts_are_stored_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    executor = InlineExecutor(tmp_path, 1)
    workspace = opened(executor, RULES["a projection"], graph())
    executor.forget()
    for file in (tmp_path / "state").glob("*"):
        file.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        patch.setattr("tests.distributed.inline.at_once", nullcontext)
        assert change(workspace, (0, 99))["built"] == 1
    assert list((tmp_path / "state").glob("0.*.json"))
    executor.forget()
    assert change(workspace, (0, 98))["opened"] == 1


def test_that_somebody_died_with_a_part_is_known_when_the_path_is_opened_again(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 1)
    opened(executor, RULES["a projection"], graph()).close()
    trial = tmp_path / "state" / "0.trial"
    trial.touch()  # in one process with its driver, say
    with lftj.connect(executor=executor) as workspace:
        assert trial.exists()
        executor.forget()
        assert change(workspace, (0, 99))["opened"] == 1
        assert not trial.exists()
        assert workspace.verify() == []


def test_states_of_other_versions_of_the_code_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executor = InlineExecutor(tmp_path, 1)
    workspace = opened(executor, RULES["a projection"], graph())
    monkeypatch.setattr(stored_part, "stored_format", lambda: "another")
    executor.forget()
    assert change(workspace, (2, 5000))["built"] == 1


def test_states_of_commits_that_never_became_true_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "COMMITS", 0)
    executor = InlineExecutor(tmp_path, 2)
    edges = set(graph())
    workspace = opened(executor, RULES["triangles"], sorted(edges))

    def fails(payload: Any) -> None:
        if getattr(payload, "part", 0) == 1:
            raise RuntimeError("a fault")

    executor.before = fails
    with pytest.raises(RuntimeError, match="a fault"):
        change(workspace, *((x, y) for x in range(10) for y in range(90, 95)))
    executor.before = lambda payload: None
    assert len(list((tmp_path / "state").glob("0.*.json"))) == 2
    executor.forget()
    cost = change(workspace, *(new := [(0, 99), (99, 0), (1, 99)]))
    assert (cost["built"], cost["opened"]) == (0, 2)
    assert set(workspace["v"]) == expected(RULES["triangles"], edges | set(new))


def test_strings_of_several_workers_mean_the_same_to_those_that_come_after(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 5, workers=2)
    rules = '.decl v(x: symbol, n: number, least: symbol, all: symbol) v(x, count(), min(y), concat(y, ",")) :- e(x, y).'
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
                tx.insert("e", [(f"n{step}", f"new{step}"), (f"other{step}", "m1"), ("n1", f"a{step}")])
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
        workspace.load("e", pa.table({"x": [f"n{x % 100}" for x in range(rows)], "y": [f"a much longer name, {y}" for y in range(rows)]}))
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
