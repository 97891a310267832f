"""Looking at limits where no kernel runs: while a program is read, checked and planned, and while
kernels are compiled.

What reads or plans says how far it came (`look`), as often as it likes; the caller gets a report
now and then (`attending`) and raises when a limit is passed. What a thread does is its own affair.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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


@contextmanager
def attending(report: Callable[[int], None]) -> Iterator[None]:
    """Call `report` with the steps within, `STEPS` or more at a time."""
    before = _here.report, _here.steps
    _here.report, _here.steps = report, 0
    try:
        yield
    finally:
        _here.report, _here.steps = before
