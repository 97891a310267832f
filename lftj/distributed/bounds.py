# SPDX-License-Identifier: Apache-2.0
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
from lftj.engine.calls import Limits
from lftj.errors import LimitError
from lftj.join import Budget, timed_out, worked_out
from lftj.partition import Executor

GRACE = 1.0
"""Seconds that tasks are given to see for themselves that their time is over."""


@dataclass
class Bounds:
    """The limits of one commit or query, from now on. `budget`: kernel steps of all parts so far,
    and words of programs that were read here.
    """

    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        limits = self.limits
        self.budget = Budget(
            work_limit=limits.work, deadline=limits.deadline, memory_limit=limits.memory
        )

    def left(self) -> Limits:
        """Limits left for a task that begins now. Raises LimitError (E330, E331) when nothing is
        left.
        """
        self.budget.look()
        work, until, memory = self.limits.work, self.budget.deadline, self.limits.memory
        return Limits(
            None if work is None else work - self.budget.work,
            None if until is None else until - time.monotonic(),
            memory,
        )

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
            if (until := self.budget.deadline) is None or isinf(until)
            else max(0.0, until - time.monotonic()) + GRACE
        )
        try:
            return checked(guarded(lambda: job(seconds)))
        except TimeoutError:
            raise timed_out() from None
