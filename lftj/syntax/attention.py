"""Looking at limits where no kernel runs: while a program is read, checked and planned.

What reads or plans says how far it came (`look`), as often as it likes; whoever began it is told
now and then (`attending`), and raises when a limit is passed. What a thread does is its own affair.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STEPS = 1024
"""So many steps are made between looks, a few milliseconds."""


class _Here(threading.local):
    told: Callable[[int], None] | None = None
    steps: int = 0


_here = _Here()


def look(steps: int = 1) -> None:
    """So many steps more were made. Raises what the one raises who attends: LimitError."""
    if _here.told is not None:
        _here.steps += steps
        if _here.steps >= STEPS:
            steps, _here.steps = _here.steps, 0
            _here.told(steps)


@contextmanager
def attending(told: Callable[[int], None]) -> Iterator[None]:
    """Within, `told` hears of steps, `STEPS` or more at a time, and of none that went before."""
    before = _here.told, _here.steps
    _here.told, _here.steps = told, 0
    try:
        yield
    finally:
        _here.told, _here.steps = before
