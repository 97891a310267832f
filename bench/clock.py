"""Timing: the least of a few runs for whole evaluations, the median for single commits.

Ratios between things of this process are taken in processor seconds where other programs on the
machine would be in the way.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def once(run: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds and result of one run. The garbage of earlier runs is collected before the clock
    starts.
    """
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


def processor_seconds(run: Callable[[], object]) -> float:
    """Processor seconds that this process, all its threads together, spends on one run."""
    start = time.process_time()
    run()
    return time.process_time() - start
