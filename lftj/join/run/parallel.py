# SPDX-License-Identifier: Apache-2.0
"""The parts of one evaluation on several threads, their rows and records in the order of the parts.

Kernels release the GIL, and while they run they only read: trees exist before, each part has a
state, buffers and a bitmap of its own. A failure inside a part is raised when its turn comes, so it
is the one that a single run would have met first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, cast

import numpy as np

from lftj.join.budget import Divided
from lftj.join.context import Context
from lftj.join.kernels import layout_kernels as at
from lftj.join.plan.plan import RulePlan
from lftj.join.run.division import Division, leading_levels
from lftj.join.run.log_buffer import Sink
from lftj.join.run.run import Run, evaluation_failure
from lftj.join.shared_work import SharedWork
from lftj.partition.split import KeyRange

Compact = Callable[[np.ndarray], np.ndarray]
"""Function from rows of shape (outputs + 1) × n to fewer that mean the same; may be called on any
thread, and more than once for the same rows.
"""
_THREAD_ROWS = 1_000_000
"""Rows gathered on a thread before repeated ones are taken out: memory against sorting."""


class PartedSink(Protocol):
    """A sink that takes the records of parts which are logged at the same time."""

    def __call__(self, records: np.ndarray, /) -> None: ...

    def fresh(self) -> PartedSink:
        """An empty sink for the records of one part."""
        ...

    def absorb(self, part: Any, /) -> None:
        """Take what such a sink was given."""
        ...


class Parts:
    """The parts of one evaluation: what is left of the run that was cut, and the ranges behind the
    cut.
    """

    def __init__(
        self,
        division: Division,
        run: Run,
        ranges: Sequence[KeyRange],
        context: Context,
        log: PartedSink | None,
        compact: Compact | None,
    ):
        """`ranges` as `Division.cut` gives them, the first that of `run`."""
        self.ranges = ranges
        self._division = division
        self._run = run
        self._context = context
        self._log = log
        self._compact = compact
        self._work = SharedWork(context, len(ranges))
        self._idle: list[Run] = []

    def rows(self) -> Iterator[np.ndarray]:
        """The rows of the parts, in order, as `chunks` gives them."""
        plan = self._division.assembly.plan
        shared = plan.emit_level <= self._division.leading + 1 and self._compact is None
        yield from _without_seams(self._found()) if shared else self._found()

    def _found(self) -> Iterator[np.ndarray]:
        for number, (rows, log) in enumerate(self._work.results(self._do)):
            self._work.held[number] = 0  # from here on whoever takes them counts them
            if self._log is not None and log is not None:
                self._log.absorb(log)
            yield from rows
        self._context.budget.divided.append(Divided(self.ranges, self._work.steps))
        for run in self._idle:
            run.close()

    def _do(self, number: int) -> tuple[list[np.ndarray], PartedSink | None]:
        """One part, on any thread: its rows in pieces, and its log if there is one."""
        run = self._run if number == 0 else self._begun(self.ranges[number])
        log = None if self._log is None else self._log.fresh()
        sink = None if log is None else self._division.within(self.ranges[number], log)
        pieces = _Pieces(self._compact, _THREAD_ROWS)
        while run.status != at.DONE:
            self._work.spend(number, run.go(self._context.tuning.shared_run_steps))
            if run.status == at.FAILED:
                raise evaluation_failure(self._division.assembly.plan, run.state, self._context)
            run.hand_over(sink)
            if run.complete_rows:
                pieces.add(run.rows())
                self._work.held[number] = pieces.bytes
                run.make_room()
        run.unset_bitmap()
        rows = pieces.all()
        self._work.held[number] = pieces.bytes
        self._idle.append(run)
        return rows, log

    def _begun(self, part: KeyRange) -> Run:
        """A run at the beginning of a part, with the buffers of one that went to its end if there
        is any.
        """
        try:
            run = self._idle.pop()
        except IndexError:
            run = Run(self._division.assembly, self._context)
        run.begin(self._division.state(part))
        return run


class _Pieces:
    """The rows of one part as they come."""

    def __init__(self, compact: Compact | None, most: int):
        self._compact, self._most = compact, most
        self._pieces: list[np.ndarray] = []
        self._gathered = 0
        self._enough = most

    def add(self, rows: np.ndarray) -> None:
        """Take rows, which are copied."""
        self._pieces.append(rows.copy())
        self._gathered += rows.shape[1]
        if self._compact is not None and self._gathered > self._enough:
            self._keep(self._compact(np.concatenate(self._pieces, axis=1)))
            self._enough = max(self._most, 2 * self._gathered)

    @property
    def bytes(self) -> int:
        """Bytes of the rows so far. O(1)."""
        return (
            self._gathered * self._pieces[0].itemsize * len(self._pieces[0]) if self._pieces else 0
        )

    def all(self) -> list[np.ndarray]:
        """All rows, none of the pieces without any."""
        if self._compact is not None and self._pieces:
            self._keep(self._compact(np.concatenate(self._pieces, axis=1)))
        return [piece for piece in self._pieces if piece.shape[1]]

    def _keep(self, rows: np.ndarray) -> None:
        self._pieces, self._gathered = [rows], rows.shape[1]


def _without_seams(parts: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """The same with one row where a binding was shared by parts side by side: its
    proofs added up.
    """
    waiting: np.ndarray | None = None
    for rows in parts:
        if waiting is not None:
            if np.array_equal(waiting[:-1, -1], rows[:-1, 0]):
                rows[-1, 0] += waiting[-1, -1]
                waiting = waiting[:, :-1]
            if waiting.shape[1]:
                yield waiting
        waiting = rows
    if waiting is not None:
        yield waiting


def patience_with(plan: RulePlan, context: Context, log: Sink | None) -> int | None:
    """Number of kernel steps before an evaluation is divided; None when it never is."""
    threads = context.resources.threads
    if threads is None or threads.workers == 1 or (log is not None and not hasattr(log, "fresh")):
        return None
    return max(1, threads.patience) if may_divide(plan) else None


def may_divide(plan: RulePlan) -> bool:
    """Test for a plan with a variable to divide by, and more work below it than to output it or to
    find one proof of all.
    """
    levels = leading_levels(plan)
    return (
        levels is not None
        and levels[0] + 1 < len(plan.levels)
        and (plan.count or plan.group_level > levels[0])
    )


def parts_of(run: Run, context: Context, log: Sink | None, compact: Compact | None) -> Parts | None:
    """Divide what is left of a run; None when there is not much, or the run stands where it cannot
    be cut.
    """
    levels = leading_levels(run.assembly.plan)
    assert levels is not None
    assert context.resources.threads is not None
    division = Division(
        run.assembly,
        context.resources.threads.parts,
        *levels,
        logged=log is not None,
    )
    if not division.possible or not division.worthwhile(run, context.resources.threads.patience):
        return None
    ranges = division.cut(run)
    if not ranges:
        return None
    return Parts(division, run, ranges, context, cast("PartedSink | None", log), compact)
