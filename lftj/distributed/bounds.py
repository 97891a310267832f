"""Limits on a commit or a query over parts: tasks get the limits that are left, and a job that goes
on for too long is cancelled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isinf
from typing import Any

from lftj.distributed.parts.failure import checked, guarded
from lftj.engine.limits import Limits
from lftj.errors import LimitError
from lftj.join.budget import WORD_READ, out_of_memory, timed_out, worked_out
from partition.executor import Executor

GRACE = 1.0
"""Seconds that tasks are given to see for themselves that their time is over."""


@dataclass
class Bounds:
    """The limits of one commit or query, from now on. `work`: kernel steps of all parts so far;
    `read`: words of programs that were read here.
    """

    limits: Limits = field(default_factory=Limits)
    work: int = 0
    read: int = 0

    def __post_init__(self) -> None:
        self.deadline = self.limits.deadline

    def left(self) -> Limits:
        """Limits left for a task that begins now. Raises LimitError (E330, E331) when nothing is
        left.
        """
        limits = self.limits
        self.look()
        seconds = None if self.deadline is None else self.deadline - time.monotonic()
        return Limits(
            None if limits.work is None else limits.work - self.work, seconds, limits.memory
        )

    def look(self) -> None:
        """Raise LimitError (E330, E331) when nothing is left."""
        if self.limits.work is not None and self.work > self.limits.work:
            raise worked_out(self.limits.work)
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise timed_out()

    def read_on(self, steps: int) -> None:
        """Steps of reading a program were made: they count as work, and what they leave as memory.
        Raises LimitError (E330 to E332).
        """
        self.read += steps
        self.work += steps
        self.look()
        self.check_memory(self.read * WORD_READ)

    def check_memory(self, size: int) -> None:
        """Raise LimitError (E332) when so many bytes in this process are too many."""
        if self.limits.memory is not None and size > self.limits.memory:
            raise out_of_memory(self.limits.memory, f"the program takes {size:,}")

    def run(
        self, executor: Executor, task: Callable[[Any], Any], payloads: Sequence[Any]
    ) -> list[Any]:
        """A job of tasks that have a `part`, and what they give. Raises what users did wrong,
        LimitError (E330 to E332) when a limit was reached, DistributedError (E401) when the job
        failed.
        """
        places = [payload.part for payload in payloads]
        try:
            return self.timed(lambda seconds: executor.map(task, payloads, places, seconds=seconds))
        except LimitError as error:
            limit = self.limits.work
            raise (
                worked_out(limit) if error.code == "E330" and limit is not None else error
            ) from None

    def timed(self, job: Callable[[float | None], list[Any]]) -> list[Any]:
        """Run a job that is cancelled after the seconds left. Raises as `run`."""
        seconds = (
            None
            if self.deadline is None or isinf(self.deadline)
            else max(0.0, self.deadline - time.monotonic()) + GRACE
        )
        try:
            return checked(guarded(lambda: job(seconds)))
        except TimeoutError:
            raise timed_out() from None

    def spent(self, steps: int) -> None:
        """Count work that was done. Raises LimitError as `left`."""
        self.work += steps
        self.look()
