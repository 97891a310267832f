"""Context of an evaluation besides its data: memory, the dictionary, limits, and records of
work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from lftj.errors import LimitError
from lftj.join.budget import Budget
from lftj.join.plan.cardinality import Statistics
from lftj.join.plan.index_advisor import IndexAdvisor
from lftj.join.plan.index_upkeep import Upkeep
from lftj.tuning import Tuning
from lftj.types.dictionary import Dictionary
from partition.executor import ThreadExecutor
from partition.split import KeyRange
from scantree import Arena

WORD_READ = 200
"""Bytes about that a word of a program takes as a tree, with its place."""


class Buffer(NamedTuple):
    """An array that runs use one after another, and how kernels are told of it."""

    array: np.ndarray
    address: Any


class Divided(NamedTuple):
    """The parts of one evaluation, and the kernel steps that each took."""

    ranges: Sequence[KeyRange]
    steps: Sequence[int]


@dataclass
class Context:
    """One evaluation's surroundings. `work` counts kernel steps and grows; limits are None when
    there are none.

    `deadline` is in seconds of `time.monotonic`, `work_limit` in kernel steps, `memory_limit` in
    bytes of tree pages, of rows on their way there, and of strings. `orders` forces the variable
    order of a rule (its id → variable names), for tests and experiments.
    """

    arena: Arena
    dictionary: Dictionary
    user_aggregates: Mapping[str, Any] = field(default_factory=dict)
    work_limit: int | None = None
    deadline: float | None = None
    memory_limit: int | None = None
    progress: Callable[[str], None] | None = None
    orders: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    statistics: Statistics = field(default_factory=Statistics)
    work: int = 0
    read: int = 0
    """Words of programs that were read."""
    planned: int = 0
    """Steps of planning: values of variables and atoms that orders were compared by."""
    found: int = 0
    """Satisfying assignments that recursive rules found, but for those of an `Update`, which counts
    them itself. Grows as `work` does.
    """
    laid: int = 0
    """Cost of laying the rows of semi-naïve iterations into trees, in kernel steps
    (`lftj.maintenance.cost.cost_model`). Grows as `work` does.
    """
    keep: bool = True
    """True when states are kept from which views can be updated later; queries keep none."""
    fraction: float = 0.2
    """Share of a full evaluation's work that an update may take before it is given up for one."""
    budget: Budget = field(default_factory=Budget)
    """Kernel steps that what goes on now may still take."""
    trace_budget: int = 0
    """Bytes that all sensitivity indices together may take."""
    traced: Callable[[], int] = lambda: 0
    """Bytes that they took before the commit."""
    trace_override: Any = None
    """A `lftj.maintenance.trace.trace_planner.TraceOverride`, for tests and experiments; None: as
    planned.
    """
    plans: dict[Any, tuple[list[int], Any]] = field(default_factory=dict)
    """Plans made before, with the sizes of what they read: `lftj.join.run.evaluate.plan_rule`."""
    advisor: IndexAdvisor = field(default_factory=IndexAdvisor)
    """Work lost for want of key orders."""
    prepared: dict[Any, Any] = field(default_factory=dict)
    """State that evaluations which come again at many commits keep from one to the next."""
    constant: Callable[[str], bool] = lambda _: False
    """Test for a relation that no commit changes."""
    upkeep: Upkeep | None = None
    """During a commit: what it does for key orders."""
    kept_orders: dict[str, set[tuple[int, ...]]] = field(default_factory=dict)
    """Upkeep of key orders during a commit."""
    threads: ThreadExecutor | None = None
    """Executor of large rules in parts; None: nobody."""
    divided: list[Divided] = field(default_factory=list)
    """Every evaluation that was divided."""
    on_steps: Callable[[int], None] | None = None
    """Listener for steps that were spent."""
    caches: list[Buffer] = field(default_factory=list)
    """Bitmaps without a bit set (`bitmap_kernels`), for the next run to use: making one costs more
    than a small run.
    """
    outputs: list[Buffer] = field(default_factory=list)
    """Room for rows that come out, as `caches`."""

    @property
    def tuning(self) -> Tuning:
        """Thresholds that choose between ways."""
        return self.statistics.tuning

    def spend(self, steps: int) -> None:
        """Count work, and raise LimitError when a limit is passed. Called between slices of a
        kernel's run.
        """
        self.work += steps
        if self.on_steps is not None:
            self.on_steps(steps)
        self.budget.charge(steps)
        if self.work_limit is not None and self.work > self.work_limit:
            raise worked_out(self.work_limit)
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise timed_out()
        self.check_memory()

    def read_on(self, steps: int) -> None:
        """Steps of reading a program were made: they count as work, and what they leave as memory.
        Raises LimitError.
        """
        self.read += steps
        self.spend(steps)
        self.check_memory(self.read * WORD_READ)

    def plan_on(self, steps: int) -> None:
        """Steps of planning were made. No work of kernels; but the time may be over. Raises
        LimitError.
        """
        self.planned += steps
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise timed_out()

    def check_memory(self, beside: int = 0) -> None:
        """Raise LimitError when pages, strings, and so many bytes of rows that are in no page yet,
        take more than they may.
        """
        if self.memory_limit is None:
            return
        pages, strings = self.arena.bytes_in_use, self.dictionary.bytes_in_use
        if pages + strings + beside > self.memory_limit:
            taken = f"rows take {pages + beside:,}, strings {strings:,}"
            raise out_of_memory(self.memory_limit, taken)

    def report(self, message: str) -> None:
        """Tell whoever shows progress what goes on."""
        if self.progress is not None:
            self.progress(message)


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
