"""Gain of two threads: each query and each load of everyday analytics on one thread and on
two, in elapsed seconds.

Both take turns, and the least of each counts: a machine that is busy for a while spoils neither
side alone. One that is busy all the time spoils the ratio, for two threads then share what one had;
`busy` in the detail is the load before the runs.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator

import pyarrow as pa

from bench.analytics.loads import Ours, tables
from bench.analytics.shape import Shape, loaded
from bench.clock import once
from bench.figure import Report, require_equal

TURNS = {"s": 1, "m": 9, "l": 5}
_SHORT = 0.1  # seconds below which there are three times as many: one other program spoils them
Measured = tuple[float, int]
"""Seconds and rows."""


def queried(shape: Shape, threads: int) -> Measured:
    """The commit that adds the rule to tables just loaded."""
    workspace = loaded(shape, threads)
    seconds, _ = once(lambda: workspace.add_rules(shape.rule))
    return seconds, len(workspace["found"])


def gain(turns: int, run: Callable[[int], Measured]) -> tuple[float, float]:
    """The least seconds on one thread and on two, after so many turns, or three times as many."""
    best = {1: float("inf"), 2: float("inf")}
    for turn in range(3 * turns):
        if turn >= turns and best[1] >= _SHORT:
            break
        found: dict[int, int] = {}
        for threads in (1, 2) if turn % 2 else (2, 1):
            seconds, found[threads] = run(threads)
            best[threads] = min(best[threads], seconds)
        require_equal("rows on two threads", found[2], found[1])
    return best[1], best[2]


def _loaded(table: pa.Table, threads: int) -> Measured:
    loading = Ours(table, threads)
    seconds, _ = once(loading.load)
    return seconds, len(loading.workspace["given"])


def workloads(
    size: str, shapes: Iterator[Shape]
) -> Iterator[tuple[str, Callable[[int], Measured]]]:
    """Queries and loads by name."""
    for shape in shapes:
        yield shape.name, lambda threads, shape=shape: queried(shape, threads)
    for name, table in tables(size).items():
        yield f"load of {name}", lambda threads, table=table: _loaded(table, threads)


def measure_threads(report: Report, shapes: Iterator[Shape]) -> None:
    """Add `threads_worst` and `threads_geomean`."""
    gains: list[float] = []
    for name, run in workloads(report.size, shapes):
        busy = os.getloadavg()[0]
        one, two = gain(TURNS[report.size], run)
        gains.append(one / two)
        report.note(threads=name, one_s=one, two_s=two, gain=gains[-1], busy=busy)
    report.add("threads_worst", min(gains))
    report.add("threads_geomean", statistics.geometric_mean(gains))
