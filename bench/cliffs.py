"""Cliffs: sizes at which a query of everyday analytics suddenly takes longer for each row."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from bench.analytics import facts, joins
from bench.analytics.shape import Shape, loaded
from bench.clock import processor_seconds
from bench.figure import Report

FIRST = 1000
LAST = {"s": 2_000, "m": 100_000, "l": 10_000_000}
STEP = 1.3
TURNS = 3
"""Evaluations of one size, of which the shortest counts: what disturbs one makes it longer."""
LONG = 0.3
"""Processor seconds after which a size is not evaluated again: little disturbs long ones."""
AGAIN = 1.3
"""Step above which a size is evaluated a few times more after all: something may have disturbed."""


def sizes(last: int) -> Iterator[int]:
    """Numbers of rows, each larger than the one before by a step."""
    rows = float(FIRST)
    while rows <= last:
        yield round(rows)
        rows *= STEP


def seconds_of(shape: Shape) -> float:
    """The least processor seconds of the commit that adds the rule to tables just loaded."""
    taken: list[float] = []
    while len(taken) < TURNS and sum(taken) < LONG:
        workspace = loaded(shape)
        gc.collect()
        taken.append(processor_seconds(lambda w=workspace: w.add_rules(shape.rule)))
    return min(taken)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `cliffs`. A line to the standard error tells of each size."""
    before: dict[str, float] = {}  # seconds for each row
    steps: dict[str, tuple[float, int]] = {}
    started = time.process_time()
    for rows in sizes(LAST[report.size]):
        worst = 0.0, ""
        for shape in chain(facts.of_rows(rows), joins.of_rows(rows)):
            each, less = seconds_of(shape) / rows, before.get(shape.name)
            if less is not None:
                for _ in range(TURNS):
                    if each > AGAIN * less:
                        each = min(each, seconds_of(shape) / rows)
                steps[shape.name] = max(steps.get(shape.name, (0.0, 0)), (each / less, rows))
                worst = max(worst, (each / less, shape.name))
            before[shape.name] = each
        spent = time.process_time() - started
        print(f"{rows:,} rows: {worst[1]} {worst[0]:.2f}; {spent:,.0f} s", file=sys.stderr)
    for name, (step, rows) in steps.items():
        report.note(shape=name, step=step, rows=rows)
    report.add("largest_step", max(step for step, _ in steps.values()))
