"""Speed-up by two threads, and the balance of parts: the same evaluation on one thread and on two,
in elapsed time.

Runs on one thread and on two take turns, and the least of each counts, so a machine that is busy
for a while spoils neither side alone. One that is busy all the time spoils the ratio: two threads
then share what one had. `busy` in the detail is the load before the runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import lftj
from bench.cases import CASES
from bench.clock import once
from bench.engine import TRIANGLES, program
from bench.figure import Report, require_equal
from bench.graphs import rmat
from bench.partition import revenues

# Edges and scale of the power-law graph.
SIZES = {"s": (5_000, 9), "m": (100_000, 13), "l": (1_000_000, 16)}
CSPA = {"s": "cspa_1k", "m": "cspa_1k", "l": "cspa_10k"}
CSPA_COPIES = {"threads2_cspa": 1, "threads2_cspa_x8": 8}
REPEATS = 5
PARTS = 64
Measured = tuple[float, list[int]]
"""Seconds, and rows or counts that have to be equal."""


def _triangles(edges: pa.Table, executor: lftj.ThreadExecutor) -> tuple[float, lftj.Workspace]:
    """Seconds to count the triangles of a graph that is loaded, and the workspace."""
    workspace = lftj.connect(executor=executor)
    workspace.relation("edge", {"x": int, "y": int})
    workspace.load("edge", edges)
    return once(lambda: workspace.add_rules(".decl n(n: number)\n" + TRIANGLES))[0], workspace


def _count(edges: pa.Table, threads: int) -> Measured:
    seconds, workspace = _triangles(edges, lftj.ThreadExecutor(threads))
    return seconds, [row[0] for row in workspace["n"].fetchall()]


def _analysis(tables: dict[str, pa.Table], threads: int) -> Measured:
    workspace = lftj.connect(executor=lftj.ThreadExecutor(threads))
    for name, table in tables.items():
        workspace.relation(name, dict.fromkeys(table.column_names, int))
        workspace.load(name, table)
    seconds = once(lambda: workspace.add_rules(program("cspa")))[0]
    return seconds, [len(workspace[name]) for name in ("valueFlow", "valueAlias", "memoryAlias")]


def _side_by_side(tables: dict[str, pa.Table], copies: int) -> dict[str, pa.Table]:
    """So many copies of the facts, the values of each shifted beyond those of the one before."""
    columns = [np.asarray(column) for table in tables.values() for column in table.columns]
    step = 1 + max(int(column.max()) for column in columns)

    def repeated(table: pa.Table) -> pa.Table:
        shifted = (
            np.concatenate([np.asarray(column) + copy * step for copy in range(copies)])
            for column in table.columns
        )
        return pa.table(dict(zip(table.column_names, shifted, strict=True)))

    return {name: repeated(table) for name, table in tables.items()}


def _compare(report: Report, figure: str, run: Callable[[int], Measured]) -> None:
    """Record how many times faster two threads are than one."""
    busy = os.getloadavg()[0]
    best = {1: float("inf"), 2: float("inf")}
    found: dict[int, list[int]] = {}
    for _ in range(REPEATS):
        for threads in best:
            seconds, found[threads] = run(threads)
            best[threads] = min(best[threads], seconds)
    require_equal(figure, found[2], found[1])
    report.add(figure, best[1] / best[2])
    report.note(
        figure=figure,
        results=found[1],
        one_s=best[1],
        two_s=best[2],
        cores=os.cpu_count(),
        busy=busy,
    )


def _balance(report: Report, edges: pa.Table) -> None:
    """Divide the count into parts from its first steps on, and compare the largest part's kernel
    steps with the average.
    """
    _, workspace = _triangles(edges, lftj.ThreadExecutor(2, parts=PARTS, patience=1000))
    work = workspace.profile(last=1).iloc[0]
    report.add("balance64", work["largest_part"] * work["parts"] / work["steps"])
    report.note(
        figure="balance64",
        parts=int(work["parts"]),
        steps=int(work["steps"]),
        largest=int(work["largest_part"]),
    )


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `partition`. The analysis runs on published data, which `data` holds."""
    x, y = rmat(*SIZES[report.size])
    edges = pa.table({"x": x, "y": y})
    if report.wants("threads2_triangle"):
        _compare(report, "threads2_triangle", lambda threads: _count(edges, threads))
    if report.wants("threads2_join", "threads2_groups"):
        for figure, (text, tables) in revenues.cases(report.size).items():
            if report.wants(figure):
                _compare(report, figure, partial(revenues.evaluated, text, tables))
    if report.wants("balance64"):
        _balance(report, edges)
    for figure, copies in CSPA_COPIES.items():
        if report.wants(figure) and data is None:
            report.note(left_out=figure, because="no --data")
        elif report.wants(figure) and data is not None:
            case = next(case for case in CASES if case.name == CSPA[report.size])
            tables = _side_by_side(case.tables(data), copies)
            _compare(report, figure, partial(_analysis, tables))
