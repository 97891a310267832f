"""Ctrl-C at every point where Python may handle it, from the start of a transaction to the last callback."""

from __future__ import annotations

import _thread
import dis
import signal
import sys
from contextlib import suppress
from types import CodeType, FrameType

import pytest

import lftj

CHECKS = {dis.opmap[name] for name in ("RESUME", "CALL", "CALL_FUNCTION_EX", "JUMP_BACKWARD") if name in dis.opmap}
"""Instructions at whose end, or beginning, an interrupt that has come is handled."""
WATCHED = ("writer.py", "transaction.py", "engine.py", "subscription.py", "workspace.py")


class Interrupt:
    """Comes the moment it is forgotten. Nothing here runs in the interpreter, which would handle it on the spot."""

    __del__ = staticmethod(_thread.interrupt_main)


class Interrupting:
    """A trace function that lets an interrupt come before one instruction of the watched files, the `at`-th that handles one."""

    def __init__(self, at: int):
        self.left = at
        self._checks: dict[CodeType, set[int]] = {}

    def __call__(self, frame: FrameType, _event: str, _argument: object):
        if not frame.f_code.co_filename.endswith(WATCHED) or "lftj" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = True
        return self._instruction

    def _instruction(self, frame: FrameType, event: str, _argument: object):
        code = frame.f_code
        if code not in self._checks:
            self._checks[code] = {one.offset for one in dis.get_instructions(code) if one.opcode in CHECKS}
        if event == "opcode" and frame.f_lasti in self._checks[code]:
            self.left -= 1
            if self.left == -1:
                interrupt = Interrupt()  # noqa: F841 — it is forgotten when this ends
        return self._instruction


@pytest.fixture
def heeding_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    traced = sys.gettrace()
    yield
    sys.settrace(traced)
    signal.signal(signal.SIGINT, before)


def interrupted(action, at: int) -> bool:
    """Do this, with an interrupt at one point; False when it ends before."""
    interrupting = Interrupting(at)
    with suppress(KeyboardInterrupt):
        sys.settrace(interrupting)
        action()
    sys.settrace(None)
    return interrupting.left < 0


@pytest.fixture
def told():
    """A workspace that gives up at once when it cannot write, and the change sets that a subscriber of `far` was given."""
    ws = lftj.connect(writer_timeout=0)
    ws.add_rules(".decl edge(x: number, y: number)\n.decl far(x: number, y: number)\nfar(x, z) :- edge(x, y), edge(y, z).")
    changes = []
    ws.subscribe("far", changes.append)
    return ws, changes


def heard(changes) -> set[tuple[int, ...]]:
    """What the view is, by what its subscriber was told: every change once and in order."""
    rows: set[tuple[int, ...]] = set()
    for *row, sign, _ in (row for result in changes for row in result.fetchall()):
        assert (tuple(row) in rows) == (sign < 0)
        rows ^= {tuple(row)}
    versions = [result.version for result in changes]
    assert versions == sorted(set(versions))
    return rows


@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.filterwarnings("ignore:a transaction was dropped")
def test_a_transaction_happens_whole_or_not_at_all_whenever_ctrl_c_comes(told):
    ws, changes = told
    number, transactions = 0, []

    def write():
        with ws.transaction() as tx:
            transactions.append(tx)
            tx.insert("edge", [(number, number + 1)])

    coming = True
    while coming:
        transactions.clear()
        number, before = number + 1, ws.version
        coming = interrupted(write, number - 1)
        happened = "committed" in repr(transactions[:1])
        assert ws.version == before + happened
        assert ((number, number + 1) in set(ws["edge"])) == happened
        transactions.clear()
        ws.load("edge", [(-number, number)])  # the lock is free
        assert heard(changes) == set(ws["far"])
    assert number > 30
    assert ws.verify() == []


@pytest.mark.usefixtures("heeding_interrupts")
def test_a_subscription_is_cancelled_when_ctrl_c_comes_before_anyone_has_it(told):
    ws, _ = told
    ws.load("edge", [(0, 1), (1, 2)])

    def interrupt(_changes):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ws.subscribe("far", interrupt, snapshot=True)
    ws.load("edge", [(2, 3)])  # nobody interrupts


def test_a_transaction_that_is_forgotten_gives_the_lock_back_where_warnings_are_errors(told):
    ws, _ = told
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", raising)
        patch.setattr(sys, "unraisablehook", lambda _: None)
        ws.transaction()
    assert ws.load("edge", [(0, 1)]) == 1


def raising(message, kind, **_rest):
    raise kind(message)
