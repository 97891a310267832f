"""Fixpoints that would go on for ever are broken off by limits and by Ctrl-C, and leave everything as it was."""

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


@pytest.fixture
def counting() -> Iterator[lftj.Workspace]:
    """Counts up to 7; from 8 on it would not stop."""
    with lftj.connect() as ws:
        ws.add_rules(ENDLESS)
        ws.load("start", [(0,)])
        ws.load("start", [(1,)])  # so that updates are compiled too
        yield ws


@pytest.fixture
def heeding_interrupts() -> Iterator[None]:
    """A process started in the background ignores SIGINT; a test of it does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
