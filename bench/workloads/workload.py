"""The running of a workload, and what is counted meanwhile."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple
from unittest.mock import patch

import lftj
from bench.figure import require_equal
from bench.resident import forget_freed, peak_bytes, resident_bytes
from lftj.join.budget import Budget
from lftj.tuning import Tuning

Steps = Callable[[lftj.Workspace], Iterator[None]]
"""Sets a workspace up, yields once, and goes on with what is measured."""


class Cost(NamedTuple):
    """Kernel steps of all evaluations, seconds of the processor, bytes that are kept in the end,
    and the most resident bytes beyond those before.
    """

    steps: int
    seconds: float
    kept: int = 0
    peak: int = 0


class Outcome(NamedTuple):
    """The cost of a workload, and the number of rows of each relation after it."""

    cost: Cost
    rows: dict[str, int]


def outcome_of(workload: Steps, without: frozenset[str] = frozenset()) -> Outcome:
    """Run a workload on one thread. Raises ResultsDiffer where a view is not what its rules
    derive.
    """
    steps, spend = 0, Budget.spend

    def counting(budget: Budget, more: int, charged: int = 0) -> None:
        nonlocal steps
        steps += more
        spend(budget, more, charged)

    ws = lftj.connect(executor=lftj.ThreadExecutor(threads=1), tuning=Tuning(without=without))
    measured = workload(ws)
    next(measured)
    gc.collect()
    forget_freed()
    before = resident_bytes()
    with patch.object(Budget, "spend", counting):
        started = time.process_time()
        for _ in measured:
            pass
        seconds = time.process_time() - started
    peak = peak_bytes() - before
    kept = sum(int(row[-1]) for row in ws.memory().fetchall())
    require_equal("views that differ", ws.verify(), [])
    rows = {name: len(ws[name]) for name in sorted(ws.relations)}
    return Outcome(Cost(steps, seconds, kept, peak), rows)
