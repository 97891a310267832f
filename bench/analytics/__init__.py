"""Everyday analytics against DuckDB on one thread: the commit that adds a rule to tables that were
just loaded, so that nothing about them is known yet, in processor seconds.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from bench.analytics import facts, joins, warehouse
from bench.analytics.loads import measure_loads
from bench.analytics.shape import Shape, loaded
from bench.analytics.threads import measure_threads
from bench.clock import processor_seconds
from bench.figure import Report, ResultsDiffer

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


def compare(shape: Shape, turns: int) -> tuple[float, float, int]:
    """Median processor seconds of both sides, and the rows of the result."""
    connection = peer(shape)
    query = f"create or replace table found as {shape.query}"
    ours: list[float] = []
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
    connection.close()
    return statistics.median(ours), statistics.median(theirs), rows


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `analytics`."""
    if report.wants("analytics_geomean", "analytics_worst"):
        for shape in shapes("s") if report.size != "s" else ():  # kernels and their loading
            compare(shape, 1)
        ratios: list[float] = []
        for shape in shapes(report.size):
            ours, theirs, rows = compare(shape, TURNS[report.size])
            ratios.append(ours / theirs)
            report.note(shape=shape.name, rows=rows, our_s=ours, duckdb_s=theirs, ratio=ratios[-1])
        report.add("analytics_geomean", statistics.geometric_mean(ratios))
        report.add("analytics_worst", max(ratios))
    if report.wants("load_worst", "load_peak"):
        measure_loads(report)
    if report.wants("threads_worst", "threads_geomean"):
        measure_threads(report, shapes(report.size))
