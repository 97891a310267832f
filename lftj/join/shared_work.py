# SPDX-License-Identifier: Apache-2.0
"""Work that several threads do for one evaluation: its steps counted, its limits kept and its end
seen to by the thread that waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from threading import Event, get_ident
from typing import NamedTuple, TypeVar

from lftj.join.budget import Budget
from lftj.join.context import Context
from lftj.scantree.sharing import Span, equal_spans

Result = TypeVar("Result")
_STAR_STEPS = 2
"""Kernel steps in the time of one step of a scan, at least: what it does with a row takes 3 to 50
nanoseconds.
"""
_STAR_SPANS = 2
"""Spans for each thread, so that one that is held up does not hold up all."""
_STAR_SPAN = 1 << 17
"""Facts for each thread of a scan, fewer the more is looked up for each: work against the start of
a thread.
"""


def spans_of(rows: int, steps: int, context: Context) -> list[Span]:
    """Equal spans of so many rows, for tasks that spend so many steps on each row: one where that
    is little, or nobody helps.
    """
    threads = context.resources.threads
    count = 1
    spent = rows * steps
    if threads is not None and threads.workers > 1 and spent * _STAR_STEPS > threads.patience:
        most = min(_STAR_SPANS * threads.workers, rows)
        count = min(most, max(1, spent // _STAR_SPAN))
    return equal_spans(rows, count)


class Account(NamedTuple):
    """Account of one of several tasks: what it calls with the steps that it has spent since the
    last time, and with the bytes that it holds.
    """

    spend: Callable[[int], None]
    hold: Callable[[int], None]


def each_of(tasks: int, do: Callable[[int, Account], Result], context: Context) -> list[Result]:
    """The result of each of so many tasks, in their order, by all threads: of `do`, which is given
    its number and its account.
    """
    threads = context.resources.threads
    if tasks < 2 or threads is None or threads.workers == 1:
        account = Account(context.budget.spend, context.budget.check_memory)
        return [do(number, account) for number in range(tasks)]
    work = SharedWork(context, tasks)

    def task(number: int) -> Result:
        held = partial(work.held.__setitem__, number)
        return do(number, Account(partial(work.spend, number), held))

    return work.all(task)


class _StoppedError(Exception):
    """Another task failed or the caller gave up. Never seen by anybody: the reason is raised
    instead.
    """


class SharedWork:
    """Work of so many tasks, numbered from 0. A limit's error stops all of them at the end of their
    slice, and so does an interrupt.
    """

    def __init__(self, context: Context, tasks: int):
        self.steps = [0] * tasks
        """Kernel steps that each task has spent so far."""
        self.held = [0] * tasks
        """The bytes of rows that each task has gathered and nobody took yet."""
        self._context = context
        self._stop = Event()
        self._accounted = 0
        self._caller: int | None = None  # its thread, where the caller works on tasks too

    def spend(self, task: int, steps: int) -> None:
        """Count the steps of a task, on its own thread, and stop it here if it has to."""
        self.steps[task] += steps
        if self._stop.is_set():
            raise _StoppedError
        if get_ident() == self._caller:
            self._account()

    def surroundings(self, task: int) -> Context:
        """Context of a task, with its own count of work; the task divides nothing any further."""
        return replace(
            self._context,
            resources=replace(self._context.resources, threads=None),
            budget=Budget(on_steps=lambda steps: self.spend(task, steps)),
        )

    def results(self, do: Callable[[int], Result]) -> Iterator[Result]:
        """The result of `do` for every task, in their order. A task that raises does so in its
        turn.
        """
        threads = self._context.resources.threads
        assert threads is not None
        yield from threads.map(do, range(len(self.steps)), stop=self._stop, meanwhile=self._account)
        self._account()

    def all(self, do: Callable[[int], Result]) -> list[Result]:
        """As `results`, for tasks so small that the caller has to work too."""
        threads = self._context.resources.threads
        assert threads is not None
        self._caller = get_ident()
        found = threads.together(
            do, range(len(self.steps)), stop=self._stop, meanwhile=self._account
        )
        self._account()
        return found

    def _account(self) -> None:
        """Tell the context what was spent since the last time."""
        total = sum(self.steps)
        spent, self._accounted = total - self._accounted, total
        self._context.budget.spend(self._context.budget.within(spent))
        # tasks know no limits: who waits for the first of them would not see how much all gather
        # meanwhile
        self._context.budget.check_memory(sum(self.held))
