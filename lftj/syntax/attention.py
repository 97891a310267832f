# SPDX-License-Identifier: Apache-2.0
"""Looking at limits where no kernel runs: while a program is read, checked and planned, and while
kernels are compiled.

What reads or plans says how far it came (`look`), as often as it likes; the caller gets a report
now and then (`attending`) and raises when a limit is passed. What a thread does is its own affair.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

STEPS = 1024
"""Number of steps between looks, a few milliseconds."""


class _Here(threading.local):
    report: Callable[[int], None] | None = None
    steps: int = 0


_here = _Here()


def look(steps: int = 1) -> None:
    """Count steps. Raises the error of the attending caller: LimitError."""
    if _here.report is not None:
        _here.steps += steps
        if _here.steps >= STEPS:
            steps, _here.steps = _here.steps, 0
            _here.report(steps)


def look_now() -> None:
    """Have the caller look, where what goes on takes time and no steps. Raises as `look`."""
    if _here.report is not None:
        _here.report(0)


class attending:
    """Context manager that calls `report` with the steps within, `STEPS` or more at a time."""

    __slots__ = ("before", "report")

    def __init__(self, report: Callable[[int], None]):
        self.report = report

    def __enter__(self) -> None:
        self.before = _here.report, _here.steps
        _here.report, _here.steps = self.report, 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _here.report, _here.steps = self.before
