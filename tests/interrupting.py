"""Ctrl-C at chosen points where Python may handle it, so that a test can go through them all."""

from __future__ import annotations

import _thread
import dis
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FrameType

import pytest

CHECKS = {
    dis.opmap[name]
    for name in ("RESUME", "CALL", "CALL_FUNCTION_EX", "JUMP_BACKWARD")
    if name in dis.opmap
}
"""Instructions at whose end, or beginning, an interrupt that has come is handled."""


class Interrupt:
    """Comes the moment it is forgotten. Nothing here runs in the interpreter, which would handle it
    on the spot.
    """

    __del__ = staticmethod(_thread.interrupt_main)


class Interrupting:
    """A trace function that lets an interrupt come before one instruction of the watched files, the
    `at`-th that handles one.
    """

    def __init__(self, at: int, watched: tuple[str, ...]):
        self.left = at
        self._watched = watched
        self._checks: dict[CodeType, set[int]] = {}

    def __call__(self, frame: FrameType, _event: str, _argument: object):
        if (
            not frame.f_code.co_filename.endswith(self._watched)
            or "lftj" not in frame.f_code.co_filename
        ):
            return None
        frame.f_trace_opcodes = True
        return self._instruction

    def _instruction(self, frame: FrameType, event: str, _argument: object):
        code = frame.f_code
        if code not in self._checks:
            self._checks[code] = {
                one.offset for one in dis.get_instructions(code) if one.opcode in CHECKS
            }
        if event == "opcode" and frame.f_lasti in self._checks[code]:
            self.left -= 1
            if self.left == -1:
                interrupt = Interrupt()  # noqa: F841 — it is forgotten when this ends
        return self._instruction


@pytest.fixture
def heeding_interrupts():
    """A process started in the background ignores SIGINT; a test of it does not. Nothing is traced
    afterwards that was not before.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    traced = sys.gettrace()
    yield
    sys.settrace(traced)
    signal.signal(signal.SIGINT, before)


def interrupted(action: Callable[[], object], at: int, watched: tuple[str, ...]) -> bool:
    """Do this, with an interrupt at one point in files whose names end so; False when it ends
    before.
    """
    interrupting = Interrupting(at, watched)
    with suppress(KeyboardInterrupt):
        sys.settrace(interrupting)
        action()
    sys.settrace(None)
    return interrupting.left < 0


def heard(changes) -> set[tuple[int, ...]]:
    """Rebuild a view from the changes that its subscriber saw: every change once and in order."""
    rows: set[tuple[int, ...]] = set()
    for *row, sign, _ in (row for result in changes for row in result.fetchall()):
        assert (tuple(row) in rows) == (sign < 0)
        rows ^= {tuple(row)}
    versions = [result.version for result in changes]
    assert versions == sorted(set(versions))
    return rows
