"""Fixpoints that would go on for ever are broken off by limits and by Ctrl-C, and leave everything
as it was.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

import lftj
from tests.unit.workspace.reading import everything

ENDLESS = """
.decl start(x: int)
.decl nat(x: int)
.decl even(x: int)
.decl odd(x: int)
nat(x) :- start(x).
nat(x + 1) :- nat(x), x != 7.
even(x) :- start(x).
odd(x + 1) :- even(x), x != 7.
even(x + 1) :- odd(x), x != 7.
"""

IMPROVING = """
.decl source(x: int)
.decl edge(x: int, y: int, w: int)
.decl dist(x: int, d: int)
dist(y, min(0)) :- source(y).
dist(y, min(e)) :- dist(x, d), edge(x, y, w), e = d + w.
source(0). edge(0, 1, 1).
"""
"""Goes on for ever once there is a cycle of negative length."""


@pytest.fixture
def counting() -> Iterator[lftj.Workspace]:
    """Counts up to 7; from 8 on it would not stop."""
    with lftj.connect() as ws:
        ws.add_rules(ENDLESS)
        ws.load("start", [(0,)])
        ws.load("start", [(1,)])  # so that updates are compiled too
        yield ws


def usable(ws: lftj.Workspace, before: object) -> bool:
    """Is everything as it was, and does it go on from there?"""
    same = everything(ws) == before
    ws.load("start", [(-2,)])
    return same and (-1,) in ws["nat"].fetchall() and ws.verify() == []


@pytest.mark.parametrize("limits", [{"work": 20_000}, {"seconds": 0.2}])
def test_limits_break_off(counting: lftj.Workspace, limits: dict[str, int]):
    before = everything(counting)
    with counting.limits(**limits), pytest.raises(lftj.LimitError):
        counting.load("start", [(9,)])
    assert usable(counting, before)


@pytest.mark.usefixtures("heeding_interrupts")
def test_ctrl_c_breaks_off(counting: lftj.Workspace):
    before = everything(counting)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt), counting.limits(seconds=60):
        counting.load("start", [(9,)])
    assert usable(counting, before)


@pytest.mark.usefixtures("heeding_interrupts")
def test_ctrl_c_breaks_off_a_value_that_improves_for_ever():
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with lftj.connect() as ws:
        ws.add_rules(IMPROVING)
        timer.start()
        with pytest.raises(KeyboardInterrupt), ws.limits(seconds=60):
            ws.load("edge", [(1, 0, -2)])
        assert (set(ws["dist"].fetchall()), len(ws["edge"])) == ({(0, 0), (1, 1)}, 1)
        ws.load("edge", [(1, 2, 3)])
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 1), (2, 4)}


def test_limits_break_off_a_value_that_improves_for_ever():
    with lftj.connect() as ws:
        ws.add_rules(IMPROVING)
        with ws.limits(work=2000), pytest.raises(lftj.LimitError, match="work limit"):
            ws.load("edge", [(1, 0, -2)])
        with ws.limits(seconds=0.1), pytest.raises(lftj.LimitError, match="time limit"):
            ws.load("edge", [(1, 0, -2)])
        with pytest.raises(lftj.ValueRangeError, match="out of range"):
            ws.load("edge", [(1, 0, -(2**62))])
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 1)}
        ws.load("edge", [(1, 2, 1)])
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 1), (2, 2)}
