"""Garbage that commits leave to Python's collector: no cycles, few objects to go through; and the
collector, which waits until a short commit is over.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

import lftj
from lftj.maintenance.inputs.rule_work import RuleWork, WorkHistory
from lftj.types.sources import Role, Source

PROGRAM = """
.decl e(x: number, y: number)
.decl name(x: number, n: symbol)
.decl two(x: number, z: number)
.decl reach(x: number, y: number)
.decl sums(x: number, s: number)
.decl alone(x: number)
.decl near(x: number, d: number)
.decl called(n: symbol)
two(x, z) :- e(x, y), e(y, z), x != z.
reach(x, y) :- e(x, y).
reach(x, z) :- reach(x, y), e(y, z).
sums(x, sum(y)) :- e(x, y).
alone(x) :- e(x, _), !e(_, x).
near(x, min(0)) :- e(0, x).
near(y, min(d + 1)) :- near(x, d), e(x, y), d < 9.
called(n) :- e(x, _), name(x, n), match("a.*", n).
"""


@pytest.fixture
def quiet() -> Iterator[None]:
    """Have the collector run only when it is asked to."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _changes(ws: lftj.Workspace) -> Iterator[Callable[[int], object]]:
    def rolled_back(n: int) -> None:
        tx = ws.transaction()
        tx.insert("e", [(n, n)])
        tx.rollback()

    def upsert(n: int) -> None:
        with ws.transaction() as tx:
            tx.delete("e", [(n % 7, n % 5)])
            tx.insert("name", [(n % 7, f"a{n}")])

    yield lambda n: ws.load("e", [(n % 7, n % 11)])
    yield upsert
    yield rolled_back
    yield lambda n: ws.query(f"reach({n % 7}, y)").fetchall()
    yield lambda n: ws["called"].fetchall()


@pytest.mark.usefixtures("quiet")
def test_commits_and_questions_make_no_cycles() -> None:
    ws = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
    ws.add_rules(PROGRAM)
    ws.load("e", [(each % 7, each % 11) for each in range(40)])
    changes = list(_changes(ws))
    for number in range(20):
        for change in changes:
            change(number)
    gc.collect()
    for change in changes:
        for number in range(20, 40):
            change(number)
        assert gc.collect() == 0


@pytest.mark.usefixtures("quiet")
def test_a_commit_leaves_few_tracked_objects_behind() -> None:
    """Before the collector sees them, too, as otherwise it goes through all since it last did."""
    ws = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
    views = 30
    ws.add_rules(
        ".decl e(x: number, y: number)\n"
        + "".join(
            f".decl v{n}(x: number, y: number)\nv{n}(x, y) :- e(x, y), x != {-n}.\n"
            for n in range(1, views + 1)
        )
    )
    ws.load("e", [(each, each) for each in range(100)])

    def commit(number: int) -> None:
        ws.load("e", [(100 + number, 1)])

    for number in range(10):
        commit(number)
    gc.collect()
    before = len(gc.get_objects())
    for number in range(10, 60):
        commit(number)
    assert len(gc.get_objects()) - before < 50 * views / 4  # far from one for each view


def _collections_within(function: str, load: Callable[[int], object]) -> int:
    """Count the runs of the collector within a function during ten loads."""
    within = 0

    def note(phase: str, info: dict[str, int]) -> None:
        nonlocal within
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code.co_name != function:
            frame = frame.f_back
        within += phase == "start" and frame is not None

    enabled, before = gc.isenabled(), gc.get_threshold()
    gc.enable()
    gc.set_threshold(50)
    gc.callbacks.append(note)
    try:
        for number in range(10):
            load(number)
            assert gc.isenabled()
            assert gc.get_threshold()[0] == 50
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*before)
        (gc.enable if enabled else gc.disable)()
    return within


def test_the_collector_waits_for_short_commits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ws = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
    ws.add_rules(PROGRAM)
    ws.load("e", [(each % 7, each % 11) for each in range(40)])

    def load(number: int) -> None:
        ws.load("e", [(number % 3, 100 + number)])

    monkeypatch.setattr("lftj.engine.transaction.transaction_life._PAUSE", 60.0)
    assert _collections_within("carry_out", load) == 0
    monkeypatch.setattr("lftj.engine.transaction.transaction_life._PAUSE", -1.0)
    monkeypatch.setattr("lftj.join.budget._LOOKED", 0)  # as after many steps
    assert _collections_within("carry_out", load) > 0


def test_the_collector_waits_while_few_rows_of_a_list_are_read() -> None:
    ws = lftj.connect()
    ws.add_rules(".decl name(x: number, n: symbol)")

    def rows(many: int, number: int) -> list[tuple[int, str]]:
        return [(each, f"{number} {each}") for each in range(many)]

    def as_they_come(number: int) -> None:
        ws.load("name", ((x, [n][0]) for x, n in rows(2000, number)))

    assert _collections_within("framed", lambda number: ws.load("name", rows(200, number))) == 0
    assert _collections_within("framed", lambda number: ws.load("name", rows(2000, number))) > 0
    assert _collections_within("framed", as_they_come) > 0


def test_work_is_kept_as_plain_values() -> None:
    history = WorkHistory(2)
    hidden = Source("v", Role.HIDDEN, "1")
    works = [RuleWork(hidden, "#1", "trace", steps=7, seconds=0.5), RuleWork("w", "#2", "update")]
    for version in (1, 2, 3):
        history.append((version, works))
    assert len(history) == 2
    assert list(history) == [(2, tuple(works)), (3, tuple(works))]
    assert history[-1] == (3, tuple(works))
    gc.collect()
    assert not any(map(gc.is_tracked, history._kept))
