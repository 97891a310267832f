"""Cliffs: sizes at which a query of everyday analytics suddenly takes longer for each row."""

from __future__ import annotations

import gc
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


def sizes(last: int) -> Iterator[int]:
    """Numbers of rows, each larger than the one before by a step."""
    rows = float(FIRST)
    while rows <= last:
        yield round(rows)
        rows *= STEP


def seconds_of(shape: Shape) -> float:
    """The least processor seconds of the commit that adds the rule to tables just loaded."""
    taken: list[float] = []
    for _ in range(TURNS):
        workspace = loaded(shape)
        gc.collect()
        taken.append(processor_seconds(lambda w=workspace: w.add_rules(shape.rule)))
    return min(taken)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `cliffs`."""
    before: dict[str, tuple[int, float]] = {}
    steps: dict[str, tuple[float, int]] = {}
    for rows in sizes(LAST[report.size]):
        for shape in chain(facts.of_rows(rows), joins.of_rows(rows)):
            seconds = seconds_of(shape)
            if shape.name in before:
                less, taken = before[shape.name]
                step = (seconds / rows) / (taken / less)
                steps[shape.name] = max(steps.get(shape.name, (0.0, 0)), (step, rows))
            before[shape.name] = rows, seconds
    for name, (step, rows) in steps.items():
        report.note(shape=name, step=step, rows=rows)
    report.add("largest_step", max(step for step, _ in steps.values()))
