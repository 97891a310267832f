"""Spark on two cores against two threads of this process, and what a commit of one edge costs
there, ships and touches.

Elapsed time, since the work is done by other processes; sides take turns, and the least of each
counts. `busy` in the detail is the load of the machine before the runs: beside other work, times
tell about the machine.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import lftj
from bench.clock import once
from bench.figure import Report, require_equal
from bench.partition.spark_graph import (
    SIZES,
    count_triangles,
    spark_executor,
    triangles,
    write_graph,
)
from lftj.distributed.partitioning.cuts import slots
from lftj.types import INT
from lftj.types.dictionary import Dictionary

REPEATS = 2
COMMITS = 15
START = 5.0
"""Seconds that Spark may take for itself."""
SLICED_PARTS = 8
_FIRST = 10_000_000  # nodes from here on are new


def measure(report: Report, data: Path | None) -> None:
    """Fill in the figures of Spark; the results of both sides are compared first."""
    with TemporaryDirectory() as folder:
        file = write_graph(Path(folder), *SIZES[report.size][1])
        _warm_up(Path(folder))
        if report.wants("spark_overhead", "spark_commit_s", "shipped_per_change"):
            _triangles(report, Path(folder), file)
        if report.wants("untouched_parts_read"):
            _untouched(report, Path(folder), file)


def _warm_up(folder: Path) -> None:
    """The session started, workers forked, kernels loaded on both sides."""
    count_triangles(lftj.connect(executor=lftj.ThreadExecutor(2)), [(1, 2), (2, 3), (1, 3)])
    with lftj.connect(executor=spark_executor(folder / "warm")) as workspace:
        count_triangles(workspace, [(1, 2), (2, 3), (1, 3)])


def _triangles(report: Report, folder: Path, file: Path) -> None:
    busy = os.getloadavg()[0]
    best = {"threads": float("inf"), "spark": float("inf")}
    for number in range(REPEATS):
        local = lftj.connect(executor=lftj.ThreadExecutor(2))
        seconds, expected = once(lambda local=local: count_triangles(local, file))
        best["threads"] = min(best["threads"], seconds)
        with lftj.connect(executor=spark_executor(folder / f"count{number}")) as workspace:
            seconds, found = once(lambda workspace=workspace: count_triangles(workspace, file))
            require_equal("triangles on Spark", found, expected)
            best["spark"] = min(best["spark"], seconds)
            if number + 1 == REPEATS:
                report.add("spark_overhead", (best["spark"] - START) / best["threads"])
                report.note(
                    figure="spark_overhead",
                    triangles=found,
                    spark_s=best["spark"],
                    threads_s=best["threads"],
                    busy=busy,
                )
                _commits(report, workspace, local)


def _commits(report: Report, workspace: lftj.Workspace, local: lftj.Workspace) -> None:
    """Commits of one edge, each of which makes triangles or takes some away. The first makes
    further key orders: it counts too.
    """
    hub = _hub(local)
    for number in range(COMMITS):
        for each in (workspace, local):
            with each.transaction() as tx:
                new = _FIRST + number - number % 3
                if number % 3 == 2:
                    tx.delete("edge", [(hub[0], new)])
                else:
                    tx.insert("edge", [(hub[number % 3], new)])
    require_equal("triangles after the commits", triangles(workspace), triangles(local))
    reports = workspace.profile(last=COMMITS)
    report.add("spark_commit_s", statistics.median(reports["seconds"]))
    report.add("shipped_per_change", float((reports["bytes"] / reports["rows"]).max()))
    report.note(
        figure="spark_commit_s",
        commits=COMMITS,
        parts_built=int(reports["built"].sum()),
        parts_behind=int(reports["behind"].sum()),
        slowest_s=float(reports["seconds"].max()),
        bytes=int(reports["bytes"].sum()),
        rows=int(reports["rows"].sum()),
    )


def _hub(local: lftj.Workspace) -> list[int]:
    """The two ends of an edge at the vertex of the highest degree: a new vertex behind both makes a
    triangle.
    """
    table = local["edge"].arrow()
    x, y = (np.asarray(table.column(place)) for place in range(2))
    values, counts = np.unique(x, return_counts=True)
    first = int(values[np.argmax(counts)])
    return [first, int(y[x == first][0])]


def _untouched(report: Report, folder: Path, file: Path) -> None:
    """A view whose rule holds the leading variable in its atom: an edge is the business of one
    part. Tasks in other parts are counted.
    """
    with lftj.connect(executor=spark_executor(folder / "sliced", SLICED_PARTS)) as workspace:
        workspace.relation("edge", {"x": int, "y": int})
        workspace.load("edge", file)
        workspace.add_rules(".decl d(x: number, n: number)\nd(x, count()) :- edge(x, y).")
        others: list[int] = []
        for number in range(COMMITS):
            ran = _parts_run(workspace, [(number, _FIRST + number)])
            own = slots(np.array([number]), INT, Dictionary(), SLICED_PARTS).tolist()
            others.append(len(ran.difference(own)))
        report.add("untouched_parts_read", sum(others))
        report.note(
            figure="untouched_parts_read",
            commits=COMMITS,
            parts=SLICED_PARTS,
            read=int(workspace.profile(last=COMMITS)["parts"].sum()),
        )


def _parts_run(workspace: lftj.Workspace, rows: list[tuple[int, int]]) -> set[int]:
    """The parts that a commit gave a task to: no other part is looked at by anybody."""
    executor: Any = workspace._backend.executor
    plain, ran = executor.map, set[int]()

    def noting(
        task: Any, payloads: Any, places: Any = None, *, seconds: float | None = None
    ) -> list[Any]:
        payloads = list(payloads)
        ran.update(payload.part for payload in payloads)
        return plain(task, payloads, places, seconds=seconds)

    executor.map = noting
    try:
        workspace.load("edge", rows)
    finally:
        executor.map = plain
    return ran
