"""Stored parts that are damaged, of another version, of a commit that never happened, or that a
worker died with.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lftj
from lftj.distributed.stored import stored_part
from lftj.scantree import segment
from tests.distributed.inline import InlineExecutor
from tests.distributed.stored import RULES, change, expected, graph, opened


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


def test_a_byte_flipped_in_an_early_append_is_no_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        segment, "_CHECKED", 0
    )  # pages are checked as those of large parts are: when someone looked at them
    monkeypatch.setattr(stored_part, "_GROWTH", 100)  # the first file stays
    executor = InlineExecutor(tmp_path, 1)
    edges = {(x, y) for x in range(3000) for y in range(2)}
    rules = ".decl v(x: number, s: number) v(x, sum(y)) :- e(x, y)."
    workspace = opened(executor, rules, sorted(edges), tuning=lftj.Tuning(stored_part_commits=0))
    for step in range(3):
        change(workspace, (step, 1000 + step))
    edges |= {(step, 1000 + step) for step in range(3)}
    executor.forget()
    assert change(workspace, (5, 2000))["opened"] == 1
    edges.add((5, 2000))
    file = min(
        (tmp_path / "state").glob("part0-*.pages"), key=lambda file: file.stat().st_mtime_ns
    )  # all records need the first one
    content = bytearray(file.read_bytes())
    content[content.index(np.arange(2000, 2003).tobytes())] ^= (
        1  # a leaf of groups that no commit has changed yet
    )
    file.write_bytes(content)
    executor.forget()
    assert change(workspace, (2000, 3000), (2001, 3000))["built"] == 1
    edges |= {(2000, 3000), (2001, 3000)}
    assert set(workspace["v"]) == expected(rules, edges)
    assert len(list((tmp_path / "state").glob("damaged-*"))) == 1
    executor.forget()
    assert change(workspace, (2002, 3000))["opened"] == 1  # stored again
    assert set(workspace["v"]) == expected(rules, edges | {(2002, 3000)})


def test_after_a_worker_that_died_all_is_checked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment, "_CHECKED", 0)
    executor = InlineExecutor(tmp_path, 1)
    workspace = opened(executor, RULES["a projection"], edges := [(x, x + 1) for x in range(3000)])
    change(workspace, (1, 5000))
    workspace.compact()  # no older record serves
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


def test_where_no_thread_can_be_started_parts_are_stored_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_that_somebody_died_with_a_part_is_known_when_the_path_is_opened_again(
    tmp_path: Path,
) -> None:
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


def test_states_of_other_versions_of_the_code_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = InlineExecutor(tmp_path, 1)
    workspace = opened(executor, RULES["a projection"], graph())
    monkeypatch.setattr(stored_part, "stored_format", lambda *layers: "another")
    executor.forget()
    assert change(workspace, (2, 5000))["built"] == 1


def test_states_of_commits_that_never_became_true_are_passed_over(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 2)
    edges = set(graph())
    workspace = opened(
        executor, RULES["triangles"], sorted(edges), tuning=lftj.Tuning(stored_part_commits=0)
    )

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
