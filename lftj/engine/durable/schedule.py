# SPDX-License-Identifier: Apache-2.0
"""Schedule of checkpoints: a thread writes one, a moment after enough has changed."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from lftj.tuning import Tuning

_PAUSE = 0.2  # seconds in which more commits may come before a checkpoint


class Checkpoints:
    """Schedule of checkpoints: a thread writes one, a moment after enough has changed."""

    delayed = True
    """False: none is written but by `close`."""

    def __init__(self, write: Callable[[], None], tuning: Callable[[], Tuning]):
        """`tuning`: of the workspace, which may take on a stored one when it is opened."""
        self._write = write
        self._tuning = tuning
        self._commits = self._rows = self._steps = 0
        self._writing = False
        self._wake = threading.Event()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def changed(self, rows: int, steps: int, commits: int = 1) -> None:
        """Note commits that changed so many rows and took so many kernel steps."""
        self._commits += commits
        self._rows += rows
        self._steps += steps
        tuning = self._tuning()
        due = (
            self._commits >= tuning.checkpoint_commits
            or self._rows >= tuning.checkpoint_rows
            or self._steps >= tuning.checkpoint_steps
        )
        if not (due and self.delayed):
            return
        self._commits = self._rows = self._steps = 0
        if self._thread is None:
            thread = threading.Thread(target=self._go_on, name="checkpoints", daemon=True)
            with suppress(RuntimeError):  # the system allows no more: close() writes one
                thread.start()
                self._thread = thread
                atexit.register(self.wait)  # of a program that ends without close()
        self._wake.set()

    def _go_on(self) -> None:
        while not self._over.is_set():
            self._wake.wait()
            self._over.wait(_PAUSE)
            self._writing = True
            self._wake.clear()
            if not self._over.is_set():
                self._write()
            self._writing = False

    def wait(self) -> None:
        """Wait until nothing is due."""
        thread = self._thread
        while thread is not None and thread.is_alive() and (self._wake.is_set() or self._writing):
            time.sleep(0.001)

    def stop(self) -> None:
        """End the thread, once it has written what it is writing."""
        self._over.set()
        self._wake.set()
        atexit.unregister(self.wait)
        if self._thread is not None:
            self._thread.join()
