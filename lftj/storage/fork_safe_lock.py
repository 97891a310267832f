"""The lock under which something is made on demand, which a forked child finds free.

A child has the locks of its parent as they were, and those that other threads held, nobody gives
back.
"""

from __future__ import annotations

import os
import threading

from scantree.forking import held_while_forking


class Making:
    """Use as `with making.lock:`. Who holds it may take it again."""

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock, self._process = threading.RLock(), os.getpid()

    @property
    def lock(self) -> threading.RLock:
        """The lock of this process."""
        if self._process != (process := os.getpid()):
            with _renewing:
                if self._process != process:
                    self._lock, self._process = threading.RLock(), process
        return self._lock


_renewing = threading.Lock()
held_while_forking(_renewing)
