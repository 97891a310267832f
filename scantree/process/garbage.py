# SPDX-License-Identifier: Apache-2.0
"""Python's collector of cyclic garbage, paused where what is made lives on or forms no cycles.

It starts once some hundred objects more were made than given back, goes through all young ones, now
and then through all there are, and takes what lives then for old. While a program is read or a
commit is computed it finds nothing, again and again.
"""

from __future__ import annotations

import gc
import math
import os
import time

_pauses: dict[collector_paused, float] = {}
"""The pauses that stopped the collector and last, and when each is to end, by `time.monotonic`."""


class collector_paused:
    """Context manager: no cycles are collected within, in any thread, where they were before.

    `most`: seconds after which the collector goes on at the next call of `resume_in_time`. Several
    threads may be within at once: the one that came first lets the collector go on.
    """

    __slots__ = ("_most",)

    def __init__(self, most: float = math.inf):
        self._most = most

    def __enter__(self) -> None:
        if gc.isenabled():
            _pauses[self] = time.monotonic() + self._most
            gc.disable()

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """Have the collector go on, if it is this one that stopped it. Harmless when repeated."""
        if self in _pauses:
            gc.enable()  # first: an interrupt that comes in between must not leave it stopped
            _pauses.pop(self, None)


def resume_in_time() -> None:
    """End the pauses that have lasted as long as they may. What takes long calls this often."""
    if _pauses:
        now = time.monotonic()
        for pause, until in [*_pauses.items()]:
            if until < now:
                pause.end()


def _resume() -> None:
    """Restart the collector in a forked child; another thread of the parent may have stopped it."""
    if _pauses:
        gc.enable()
        _pauses.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_resume)
