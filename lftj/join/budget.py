# SPDX-License-Identifier: Apache-2.0
"""Budget of an evaluation: the work it has done, the limits that users set, and the steps that what
goes on now may still take.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import NamedTuple

from lftj.errors import LimitError
from lftj.partition.split import KeyRange
from lftj.scantree.frozen import record
from lftj.scantree.process.garbage import resume_in_time

_LOOKED = 1 << 16
"""Kernel steps between two looks at the clock: some tenth of a millisecond."""
_CALL = 1 << 11
"""Steps that stand for the Python around the kernel that spent some."""
WORD_READ = 200
"""Bytes about that a word of a program takes as a tree, with its place."""


class AllowanceSpentError(Exception):
    """More steps than a budget allows. Never leaves the engine: the caller goes another way."""


class Grant:
    """Steps allowed to one block of work, what a kernel's step costs there, and the steps that it
    took, known when it ends. A commit has several for each view, and a generator in its place takes
    three times as long.
    """

    __slots__ = ("_before", "_budget", "_outer", "allowed", "price", "spent")

    def __init__(self, budget: Budget, allowed: int | None, price: int):
        self.allowed, self.price, self.spent = allowed, price, 0
        self._budget = budget

    def __enter__(self) -> Grant:
        budget = self._budget
        self._outer, self._before = (budget.left, budget.price), budget.spent
        budget.left, budget.price = self.allowed, self.price
        return self

    def __exit__(self, *error: object) -> None:
        budget = self._budget
        (budget.left, budget.price), self.spent = self._outer, budget.spent - self._before


class Divided(NamedTuple):
    """The parts of one evaluation, and the kernel steps that each took."""

    ranges: Sequence[KeyRange]
    steps: Sequence[int]


@record
class Budget:
    """Work done and work allowed. All counts only grow; limits are None when there are none.

    `left`: steps left for what goes on now. `spent`: every step and charge, bounded or not.
    `price`: what a kernel's step costs of them. `lost`: steps allowed to what was given up.
    """

    left: int | None = None
    spent: int = 0
    price: int = 1
    lost: int = 0
    beside: int = 0
    """Steps that may be taken, beside those left, for what later changes use too."""
    work_limit: int | None = None
    """Kernel steps, the same on every machine."""
    deadline: float | None = None
    """Seconds of `time.monotonic`."""
    memory_limit: int | None = None
    """Bytes of tree pages, of rows on their way there, and of strings."""
    memory: Callable[[], tuple[int, int]] = lambda: (0, 0)
    """Bytes of tree pages and of strings now."""
    on_steps: Callable[[int], None] | None = None
    """Listener for steps that were spent."""
    work: int = 0
    """Kernel steps."""
    unseen: int = 0
    """Kernel steps since the clock was looked at, and some more for each time that they were
    spent.
    """
    read: int = 0
    """Words of programs that were read."""
    planned: int = 0
    """Steps of planning: values of variables and atoms that orders were compared by."""
    found: int = 0
    """Satisfying assignments that recursive rules found, but for those of an `Update`, which counts
    them itself.
    """
    laid: int = 0
    """Cost of keeping the rows of semi-naïve iterations, in sets and in trees, in kernel steps
    (`lftj.maintenance.cost.cost_model`).
    """
    iterated: int = 0
    """Cost of these iterations however little they find, in kernel steps."""
    divided: list[Divided] = field(default_factory=list)
    """Every evaluation that was divided."""

    def allow(self, steps: int | None, price: int = 1) -> Grant:
        """Allow the block so many steps of its own, of which one of a kernel takes `price`; after
        it, however it ends, the budget from before holds again. The block raises
        AllowanceSpentError when it takes more.
        """
        return Grant(self, steps, price)

    def charge(self, steps: int) -> None:
        """Take steps from what is left. Raises AllowanceSpentError when they are more."""
        self.spent += steps
        if self.left is not None:
            self.left -= steps
            if self.left < 0:
                raise AllowanceSpentError

    def invest(self, steps: int) -> None:
        """Take steps for what later changes use too: beside what is left, as far as that goes.
        Raises AllowanceSpentError.
        """
        beside = min(steps, self.beside)
        self.beside -= beside
        self.spent += beside
        self.charge(steps - beside)

    def foresee(self, steps: int) -> None:
        """Take no steps. Raises AllowanceSpentError where more are to come than are left."""
        if self.left is not None and steps > self.left:
            raise AllowanceSpentError

    def extend(self, steps: int) -> None:
        """Leave so many more steps to what goes on now, where it is bounded."""
        if self.left is not None:
            self.left += steps

    def slice(self, steps: int) -> int:
        """Number of steps that a kernel may run between two charges: at most `steps`, and one more
        than is left.
        """
        return steps if self.left is None else max(1, min(steps, self.left // self.price + 1))

    def within(self, steps: int) -> int:
        """Number of `steps` to account, where the work of several threads is accounted: beyond the
        budget none, so that the count does not depend on timing.
        """
        return steps if self.left is None else min(steps, self.left // self.price + 1)

    def spend(self, steps: int, charged: int = 0) -> None:
        """Count work, and raise LimitError when a limit is passed. Called between slices of a
        kernel's run. `charged`: what is taken besides of the steps that are left.
        """
        self.work += steps
        if self.on_steps is not None:
            self.on_steps(steps)
        taken = self.price * steps + charged
        self.spent += taken
        if self.left is not None:
            self.left -= taken
            if self.left < 0:
                raise AllowanceSpentError
        if self.work_limit is not None and self.work > self.work_limit:
            raise worked_out(self.work_limit)
        self.unseen += _CALL + steps
        if self.unseen > _LOOKED or self.deadline is not None:
            self.look()
        if self.memory_limit is not None:
            self.check_memory()

    def look(self) -> None:
        """Raise LimitError (E331) when the time is over. A collector that was paused for a short
        commit goes on.
        """
        self.unseen = 0
        resume_in_time()
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise timed_out()

    def read_on(self, steps: int) -> None:
        """Steps of reading a program were made: they count as work, and what they leave as memory.
        Raises LimitError.
        """
        self.read += steps
        self.spend(steps)
        self.check_memory(program=self.read * WORD_READ)

    def plan_on(self, steps: int) -> None:
        """Steps of planning were made. No work of kernels; but the time may be over. Raises
        LimitError.
        """
        self.planned += steps
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise timed_out()

    def check_memory(self, beside: int = 0, program: int = 0) -> None:
        """Raise LimitError (E332) when pages, strings, and so many bytes of rows that are in no
        page yet and of a program that is read, take more than they may.
        """
        if self.memory_limit is None:
            return
        pages, strings = self.memory()
        if pages + strings + beside + program > self.memory_limit:
            taken = f"rows take {pages + beside:,}, strings {strings:,}"
            if program:
                taken += f", the program {program:,}"
            raise out_of_memory(self.memory_limit, taken)


def worked_out(steps: int) -> LimitError:
    """The error for more kernel steps than these."""
    return LimitError(
        f"the work limit of {steps:,} steps was reached", hint="raise `work` in ws.limits(…)"
    )


def out_of_memory(limit: int, taken: str) -> LimitError:
    """The error for more bytes than these, of which it says what takes them."""
    return LimitError(
        f"the memory limit of {limit:,} bytes was reached: {taken}",
        code="E332",
        hint="raise `memory` in ws.limits(…)",
    )


def timed_out() -> LimitError:
    """The error for a deadline that has passed."""
    return LimitError(
        "the time limit was reached", code="E331", hint="raise `seconds` in ws.limits(…)"
    )
