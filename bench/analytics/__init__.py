"""Everyday analytics against DuckDB on one thread: the commit that adds a rule to tables that were
just loaded, so that nothing about them is known yet, in processor seconds.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from bench.analytics import facts, joins, warehouse
from bench.analytics.again import in_a_process, second
from bench.analytics.loads import measure_loads
from bench.analytics.shape import Shape, loaded
from bench.analytics.threads import measure_threads
from bench.clock import processor_seconds
from bench.figure import Report, ResultsDiffer

QUERIES = (
    "analytics_geomean",
    "analytics_worst",
    "second_geomean",
    "second_worst",
    "fresh_worst",
)
TURNS = {"s": 1, "m": 5, "l": 3}
_CLOSE = 1e-9  # between our float sums, rounded once, and theirs


def shapes(size: str) -> Iterator[Shape]:
    """All queries, one table set after the other."""
    yield from facts.shapes(size)
    yield from warehouse.shapes(size)
    yield from joins.shapes(size)


def peer(shape: Shape) -> duckdb.DuckDBPyConnection:
    """DuckDB on one thread with the same tables."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    for name, table in shape.tables.items():
        connection.register("source", table)
        connection.execute(f'create table "{name}" as select * from source')
    return connection


def require_same(name: str, ours: pa.Table, theirs: pa.Table) -> None:
    """Stop the run unless both have the same rows; floats may differ in their last digits."""
    theirs = theirs.rename_columns(ours.column_names).cast(ours.schema)
    keys = [(each.name, "ascending") for each in ours.schema if each.type != pa.float64()]
    ours, theirs = (table.sort_by(keys) if keys else table for table in (ours, theirs))
    for column in ours.column_names:
        left, right = ours[column], theirs[column]
        if left.type == pa.float64() and len(left) == len(right):
            same = np.allclose(np.asarray(left), np.asarray(right), rtol=_CLOSE)
        else:
            same = left.combine_chunks().equals(right.combine_chunks())
        if not same:
            raise ResultsDiffer(f"{name}: column {column} differs")


class Compared(NamedTuple):
    """Median processor seconds of both sides, ours also `again`, and the rows of the result."""

    ours: float
    again: float
    theirs: float
    rows: int


def compare(shape: Shape, turns: int) -> Compared:
    """Measure a query, once the results of both sides were seen to agree."""
    connection = peer(shape)
    query = f"create or replace table found as {shape.query}"
    ours: list[float] = []
    again: list[float] = []
    theirs: list[float] = []
    rows = 0
    for turn in range(turns):
        workspace = loaded(shape)
        gc.collect()
        ours.append(processor_seconds(lambda w=workspace: w.add_rules(shape.rule)))
        theirs.append(processor_seconds(lambda: connection.execute(query)))
        rows = len(workspace["found"])
        if not turn:
            found = connection.sql("from found").to_arrow_table()
            require_same(shape.name, workspace["found"].arrow(), found)
        again.append(second(shape, workspace))
    connection.close()
    return Compared(
        statistics.median(ours), statistics.median(again), statistics.median(theirs), rows
    )


def _measure_queries(report: Report) -> None:
    """Each query asked first, again, and first thing in a process."""
    for shape in shapes("s") if report.size != "s" else ():  # kernels and their loading
        compare(shape, 1)
    ratios: dict[str, list[float]] = {figure: [] for figure in ("analytics", "second", "fresh")}
    for shape in shapes(report.size):
        found = compare(shape, TURNS[report.size])
        fresh = in_a_process(report.size, shape.name) if report.wants("fresh_worst") else 0.0
        seconds = (found.ours, found.again, fresh)
        for listed, taken in zip(ratios.values(), seconds, strict=True):
            listed.append(taken / found.theirs)
        report.note(
            shape=shape.name,
            rows=found.rows,
            our_s=found.ours,
            second_s=found.again,
            fresh_s=fresh,
            duckdb_s=found.theirs,
            ratio=found.ours / found.theirs,
        )
    for figure in QUERIES:
        taken = ratios[figure.partition("_")[0]]
        worst = figure.endswith("worst")
        report.add(figure, max(taken) if worst else statistics.geometric_mean(taken))


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `analytics`."""
    if report.wants(*QUERIES):
        _measure_queries(report)
    if report.wants("load_worst", "load_peak"):
        measure_loads(report)
    if report.wants("threads_worst", "threads_geomean"):
        measure_threads(report, shapes(report.size))
