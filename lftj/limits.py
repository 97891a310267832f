"""How much an evaluation may take before it is stopped and rolled back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Per commit or query: `work` in kernel steps (the same on every machine), `seconds`, and `memory` in bytes of all pages in use."""

    work: int | None = None
    seconds: float | None = None
    memory: int | None = None

    @property
    def deadline(self) -> float | None:
        """The time limit from now on, on the clock of `time.monotonic`."""
        return None if self.seconds is None else time.monotonic() + self.seconds

    def within(self, outer: Limits) -> Limits:
        """These limits, with those of `outer` where these say nothing."""
        return Limits(
            outer.work if self.work is None else self.work,
            outer.seconds if self.seconds is None else self.seconds,
            outer.memory if self.memory is None else self.memory,
        )


class LimitStack:
    """The limits in force, for each thread its own: `with` blocks nest, and the inner one decides."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def current(self) -> Limits:
        """The limits of this thread."""
        return getattr(self._local, "limits", Limits())

    @contextmanager
    def set(self, limits: Limits) -> Iterator[None]:
        """These limits inside the `with` block."""
        before = self.current
        self._local.limits = limits.within(before)
        try:
            yield
        finally:
            self._local.limits = before
