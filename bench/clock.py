"""Timing: the least of a few runs for whole evaluations, the median for single commits."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def once(run: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds and result of one run. The garbage of earlier runs is collected before the clock starts."""
    gc.collect()
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def best_of(times: int, run: Callable[[], Result]) -> tuple[float, Result]:
    """The least seconds of `times` runs, with the last result."""
    seconds, result = once(run)
    for _ in range(times - 1):
        again, result = once(run)
        seconds = min(seconds, again)
    return seconds, result


def median_ms(runs: list[Callable[[], object]]) -> float:
    """The median milliseconds of runs that each do a different piece of the same work."""
    taken = []
    for run in runs:
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1e3
