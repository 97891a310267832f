"""Python's collector of cycles while a program is read: it finds none, and goes through all that is read so far again and again."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

_stopped: set[object] = set()
"""One for each time that it was going on and was stopped, until it goes on."""


@contextmanager
def no_cyclic_garbage() -> Iterator[None]:
    """Have no cycles collected within, in any thread. What is read are trees; of a text with many facts looking for cycles in them was most
    of the time. Several threads may be within at once: the one that came first lets the collector go on.
    """
    stopping = object() if gc.isenabled() else None
    try:
        if stopping is not None:
            _stopped.add(stopping)
            gc.disable()
        yield
    finally:
        if stopping is not None:
            _stopped.discard(stopping)
            gc.enable()


def _go_on() -> None:
    """In a child that another thread forked meanwhile nobody else would."""
    if _stopped:
        _stopped.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_go_on)
