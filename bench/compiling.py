"""Counts what Numba compiles. A function that is read from the cache on disk is not compiled and
not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event


class _Compilations(event.Listener):
    """Keeps the name of every function whose compilation starts."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: event.Event) -> None:
        """A compilation begins."""
        self.names.append(str((event.data or {}).get("dispatcher")))

    def on_end(self, event: event.Event) -> None:
        """A compilation ends: it was counted at its start."""


@contextmanager
def count_compilations() -> Iterator[list[str]]:
    """A list that grows by one name per function compiled inside the block."""
    listener = _Compilations()
    with event.install_listener("numba:compile", listener):
        yield listener.names
