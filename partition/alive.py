# SPDX-License-Identifier: Apache-2.0
"""Workers that outlive a rest: a small job from time to time, while there is no other.

Spark ends the idle Python workers of a pool a minute after the pool did its last task, a constant
that no setting changes (`PythonWorkerFactory`). What they kept goes with them. A task that does
nothing, one for each pool, is a use as any other.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakMethod

PERIOD = 20.0
"""Seconds without a job after which one is made; Spark looks for idle workers every ten."""
LONGEST = 5.0
"""Seconds after which such a job is given up: a commit may wait for it."""


class KeepAlive:
    """Calls `beat` every so often, by a thread, for `seconds` after the last job; with 0 never.

    The thread ends by itself then, when the object that `beat` is a method of is gone, or a beat
    failed; the next job starts another. No job begins during a beat: two at once would have Spark
    start further processes.
    """

    def __init__(self, beat: Callable[[], Any], seconds: float):
        self._beat, self._seconds = WeakMethod(beat), seconds
        self._changed = threading.Condition()
        self._jobs, self._last, self._ended = 0, 0.0, False
        self._beating = False
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

    @contextmanager
    def job(self) -> Iterator[None]:
        """A job in the block."""
        if self._process != os.getpid():  # a forked child has no thread of its parent
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._beating)
            self._jobs += 1
        try:
            yield
        finally:
            with self._changed:
                self._jobs -= 1
                self._last, self._ended = time.monotonic(), False
                if self._thread is None and self._seconds > 0:
                    self._begin()

    def end(self) -> None:
        """No more beats until there is another job."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _begin(self) -> None:
        """Start the thread; a system that allows no more has workers end as Spark likes."""
        thread = threading.Thread(target=self._go_on, name="keep-alive", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return
        self._thread = thread

    def _go_on(self) -> None:
        try:
            while self._wait():
                try:
                    beat = self._beat()
                    if beat is None:
                        return
                    beat()
                    del beat
                except Exception:
                    return
                finally:
                    with self._changed:
                        self._beating = False
                        self._changed.notify_all()
        finally:
            with self._changed:
                self._thread = None

    def _wait(self) -> bool:
        """Until it is time for a beat; False where there is to be none any more."""
        due = time.monotonic() + PERIOD
        with self._changed:
            while True:
                now = time.monotonic()
                if self._ended or now > self._last + self._seconds or self._beat() is None:
                    return False
                if self._jobs:
                    due = now + PERIOD
                elif now >= (due := max(due, self._last + PERIOD)):
                    self._beating = True
                    return True
                self._changed.wait(min(PERIOD, max(due - now, 0.01)))
