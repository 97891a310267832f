# SPDX-License-Identifier: Apache-2.0
"""The lock under which something is made on demand, which a forked child finds free.

A child has the locks of its parent as they were, and those that other threads held, nobody gives
back.
"""

from __future__ import annotations

import os
import threading

from lftj.scantree.process.forking import held_while_forking


class Making:
    """Something that is made on demand: use as `with self.lock:`. Who holds it may take it again.

    The lock is made when it is first asked for. Most versions of a relation never need one, and a
    commit makes versions of many: each lock would be one object more for Python's collector.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: tuple[threading.RLock, int] | None = None

    @property
    def lock(self) -> threading.RLock:
        """The lock of this process."""
        held, process = self._held, os.getpid()
        if held is None or held[1] != process:
            with _renewing:
                held = self._held
                if held is None or held[1] != process:
                    held = self._held = threading.RLock(), process
        return held[0]


_renewing = threading.Lock()
held_while_forking(_renewing)
