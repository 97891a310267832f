# SPDX-License-Identifier: Apache-2.0
"""Word of new versions to those who wait for one, in threads and in event loops."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


class Waking:
    """Whoever waits for a new version is called after each commit, by the thread that committed."""

    def __init__(self) -> None:
        self._waiting: set[Callable[[], object]] = set()
        self.ended = False
        """True once the workspace is closed: there are no more versions."""

    def notify(self) -> None:
        """Wake all who wait. Never blocks."""
        for wake in tuple(self._waiting):
            with suppress(RuntimeError):  # an event loop that is closed waits no more
                wake()

    def end(self) -> None:
        """Have nobody wait any more. Harmless when repeated."""
        self.ended = True
        self.notify()

    @contextmanager
    def waking(self, wake: Callable[[], object]) -> Iterator[None]:
        """For the length of a block, call `wake` when there may be a new version."""
        self._waiting.add(wake)
        try:
            yield
        finally:
            self._waiting.discard(wake)

    def wait(self, there: Callable[[], bool], timeout: float | None) -> bool:
        """Wait until something is there, for so many seconds at most; False where it is not,
        or there are no more versions.
        """
        event = threading.Event()
        end = None if timeout is None else time.monotonic() + timeout
        with self.waking(event.set):
            while not (found := there()) and not self.ended:
                # a commit that changed nothing wakes too
                if not event.wait(None if end is None else max(0.0, end - time.monotonic())):
                    return there()
                event.clear()
        return found
