"""Kernels of workers on other machines are compiled by a job of their own, when rules are added and
when a path is opened: never in a commit or a query, once, and counted apart.
"""

from __future__ import annotations

import itertools
import logging
from pathlib import Path

import pytest

import lftj
from lftj.distributed import compiling_workers as driver
from lftj.distributed.work import compiling, stage
from lftj.distributed.work.compiling import CompileTask
from lftj.syntax.attention import look_now
from tests.distributed.inline import InlineExecutor

EDGES = ".decl e(x: number, y: number) .decl p(x: number) p(x) :- e(x, _)."
CYCLE = ".decl t(x: number, y: number) t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z)."


class Elsewhere(InlineExecutor):
    """An executor whose workers are on other machines."""

    local = False

    def asked(self) -> list[CompileTask]:
        """Compiling tasks since the last call."""
        found = [task for task in self.tasks if isinstance(task, CompileTask)]
        self.tasks.clear()
        return found


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Workers lack 7 kernels of whatever they are asked for; the groups that they compiled."""
    compiled = list[tuple[str, ...]]()

    def compile_named(names: tuple[str, ...]) -> float:
        compiled.append(names)
        return 1.5

    monkeypatch.setattr(compiling, "missing", lambda names: 7)
    monkeypatch.setattr(compiling, "compile_named", compile_named)
    return compiled


def test_workers_compile_when_rules_are_added_and_never_in_a_commit(
    tmp_path: Path, lacking: list[tuple[str, ...]], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "lftj")
    executor = Elsewhere(tmp_path, 3)
    with lftj.connect(executor=executor) as many:
        assert [task.groups for task in executor.asked()] == [("parts", "rows")] * 6
        many.add_rules(EDGES)
        assert [task.groups for task in executor.asked()] == [("rules",)] * 6
        assert many.profile()["compile_seconds"].tolist()[-1] >= 1.5
        assert caplog.text.count("compiling 7 kernels, once for this machine") == 2
        compiled = len(lacking)
        for number in range(3):
            many.load("e", [(number, number + 1)])
        assert sorted(many.query("e(x, y), p(y)").fetchall()) == [(0, 1), (1, 2)]
        many.add_rules("p(y) :- e(_, y).")
        assert executor.asked() == []
        many.query("n = count : { e(x, y), x < y }")
        assert {task.groups for task in executor.asked()} == {("sums",)}
        many.add_rules(CYCLE)
        assert {task.groups for task in executor.asked()} == {("recursion",)}
        assert lacking[compiled:] == [("sums",)] * 3 + [("recursion",)] * 3
    with lftj.connect(executor=executor):
        assert {task.groups for task in executor.asked()} == {
            ("parts", "recursion", "rows", "rules")
        }


@pytest.fixture
def lacking_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have all kernels; nobody was asked before."""
    monkeypatch.setattr(compiling, "missing", lambda names: 0)
    monkeypatch.setattr(driver, "compile_named", lambda names: 0.0)
    monkeypatch.setattr(driver, "_complete", set())


@pytest.mark.usefixtures("lacking_nothing")
def test_workers_that_have_all_kernels_are_asked_once_and_nothing_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "lftj")
    executor = Elsewhere(tmp_path, 3)
    with lftj.connect(executor=executor) as many:
        many.add_rules(EDGES)
        assert len(executor.asked()) == 3
        assert "kernels, once for this machine" not in caplog.text


class AtHomes(Elsewhere):
    """One that tells where parts live."""

    names = frozenset({"app 0", "app 1"})

    def homes(self) -> frozenset[str]:
        return self.names

    def end_keeping(self) -> None:
        pass


@pytest.mark.usefixtures("lacking_nothing")
def test_executors_that_lacked_nothing_are_not_asked_again(tmp_path: Path) -> None:
    executors = [AtHomes(tmp_path / name, 3) for name in "abcd"]
    executors[2].names = frozenset({"app 0", "app 2"})  # one of them is new
    executors[3].names = frozenset()  # nobody knows
    found = list[int]()
    for executor in executors:
        with lftj.connect(executor=executor) as many:
            many.add_rules(EDGES)
        found.append(len(executor.asked()))
    assert found == [3, 0, 3, 3]


def test_a_machine_that_compiles_in_a_commit_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "lftj")
    seconds = itertools.count(step=2)
    with lftj.connect(executor=InlineExecutor(tmp_path, 3)) as many:
        many.add_rules(EDGES)
        many.load("e", [(1, 2)])
        assert "a machine is new here" not in caplog.text
        monkeypatch.setattr(stage, "compile_seconds", lambda: next(seconds))
        many.load("e", [(2, 3)])
        assert "workers compiled kernels for 2 s in commit 3: a machine is new here" in caplog.text
        assert many.profile(last=1)["compile_seconds"].tolist() == [2]


def test_a_limit_of_time_ends_compilation_on_workers(
    tmp_path: Path, lacking: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = Elsewhere(tmp_path, 3)
    with lftj.connect(executor=executor) as many:
        monkeypatch.setattr(compiling, "compile_named", _compile_for_ever)
        with many.limits(seconds=0.1), pytest.raises(lftj.LimitError) as raised:
            many.add_rules(EDGES)
        assert raised.value.code == "E331"
        assert list(many.relations) == []
        monkeypatch.setattr(compiling, "compile_named", lambda names: 0.0)
        many.add_rules(EDGES)
        many.load("e", [(1, 2)])
        assert many["p"].fetchall() == [(1,)]


def _compile_for_ever(names: tuple[str, ...]) -> float:
    while True:
        look_now()


def test_a_program_over_parts_is_read_under_limits(tmp_path: Path) -> None:
    brackets = "(" * 3000 + "x" + ")" * 3000
    with lftj.connect(executor=InlineExecutor(tmp_path, 2)) as many:
        many.add_rules(EDGES)
        for limits, code in (
            ({"work": 1000}, "E330"),
            ({"seconds": 0.0}, "E331"),
            ({"memory": 1000}, "E332"),
        ):
            with many.limits(**limits), pytest.raises(lftj.LimitError) as raised:
                many.add_rules(f"p(x) :- e(x, _), x = {brackets} + 1.")
            assert raised.value.code == code
            with many.limits(**limits), pytest.raises(lftj.LimitError) as raised:
                many.query(f"e(x, _), x = {brackets}")
            assert raised.value.code == code
