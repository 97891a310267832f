"""Medians, quantiles, ends, the ten greatest, ranks, running sums, values before and windows: what
stands in order, evaluated first beside DuckDB's window functions on one thread, and followed beside
a plain sum.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

import lftj
from bench.clock import processor_seconds
from bench.figure import require_equal

COMMITS = 30
LEAST_MS = 1.0
MORE_THAN_A_SUM = 3
_BY_GROUP = "SELECT DISTINCT g, {0} OVER (PARTITION BY g) AS z FROM s"


class Case(NamedTuple):
    """A view of rows s(g, t, x), and the SQL of the same."""

    name: str
    columns: str
    rule: str
    sql: str


def _of_group(name: str, type: str, call: str, sql: str) -> Case:
    rule = f"v(g, {call}) :- s(g, t, x)."
    return Case(name, f"g: GROUP, z: {type}", rule, _BY_GROUP.format(sql))


_ROWS = "g: GROUP, t: number, z: number"
_IN_ORDER = "OVER (PARTITION BY g ORDER BY t)"
CASES = (
    _of_group("sum", "number", "sum(x)", "sum(x)"),
    _of_group("median", "float", "median(x)", "quantile_cont(x, 0.5)"),
    _of_group("p95", "float", "quantile(x, 0.95)", "quantile_cont(x, 0.95)"),
    _of_group("count_distinct", "number", "count_distinct(x)", "count(DISTINCT x)"),
    _of_group("arg_max", "number", "arg_max(t, x)", "arg_max(t, x)"),
    Case("two medians", "g: GROUP, z: float, y: float", "v(g, median(x), median(t)) :- s(g, t, x).",
        "SELECT DISTINCT g, quantile_cont(x, 0.5) OVER (PARTITION BY g) AS z, "
        "quantile_cont(t, 0.5) OVER (PARTITION BY g) AS y FROM s"),
    Case("top 10", _ROWS, "v(g, t, n) :- s(g, t, _), n = count : { s(g, u, _), u > t }, n < 10.",
        "SELECT * FROM (SELECT g, t, rank() OVER (PARTITION BY g ORDER BY t DESC) - 1 AS z FROM s) "
        "WHERE z < 10"),
    Case("rank", _ROWS, "v(g, t, n) :- s(g, t, _), n = count : { s(g, u, _), u < t }.",
        f"SELECT g, t, rank() {_IN_ORDER} AS z FROM s"),
    Case("running sum", _ROWS, "v(g, t, n) :- s(g, t, _), n = sum x : { s(g, u, x), u <= t }.",
        f"SELECT g, t, sum(x) {_IN_ORDER} AS z FROM s"),
    Case("lag", _ROWS, "v(g, t, n) :- s(g, t, _), n = last(x, u) : { s(g, u, x), u < t }.",
        f"SELECT g, t, lag(x) {_IN_ORDER} AS z FROM s"),
    Case("7-day window", "g: GROUP, z: number",
        "v(g, sum(x)) :- now(d), s(g, t, x), t <= d, t > d - 7 * DAY.",
        "SELECT g, sum(x) AS z FROM s, now WHERE t <= d AND t > d - 7 * DAY GROUP BY g"),
)  # fmt: skip


class Shape(NamedTuple):
    """Rows s(g, t, x) by shape: the type of groups, and the data. Of the plain ones all t are
    different; others have ties, groups of very different sizes, and groups by text.
    """

    name: str
    group: str


SHAPES = (Shape("plain", "number"), Shape("skewed", "symbol"))


class Measured(NamedTuple):
    """A case: its time : DuckDB's, and of a commit of one row the milliseconds and kernel steps."""

    name: str
    shape: str
    groups: int
    vs_duckdb: float
    commit_ms: float
    commit_steps: float


def _rows(shape: Shape, rows: int, groups: int) -> tuple[pa.Table, list[object]]:
    """The rows of a shape, and the groups that commits add to."""
    draw = np.random.default_rng(1)
    x = draw.integers(0, 100_000, rows)
    if shape.group == "number":
        g, t = draw.integers(0, groups, rows), draw.permutation(rows)
        return pa.table({"g": g, "t": t, "x": x}), list(range(groups))
    g = np.minimum(draw.zipf(1.3, rows) - 1, groups - 1)
    names = [f"group {number}" for number in range(groups)]
    t = np.sort(draw.integers(0, rows // 4, rows))
    return pa.table({"g": pa.array(names).take(pa.array(g)), "t": t, "x": x}), list(names)


def measured(rows: int, groups: int) -> Iterator[Measured]:
    """All cases over rows in so many groups, in each shape. The rows of commits come last in their
    groups; of a window the clock moves by as much.
    """
    for shape in SHAPES:
        table, names = _rows(shape, rows, groups)
        for case in CASES:
            yield _measured(case, shape, table, names)


def _measured(case: Case, shape: Shape, table: pa.Table, names: list[object]) -> Measured:
    """Of first evaluations the better of two, each in a workspace of its own, and as much of
    DuckDB: the first in a process pays for memory that the system gives for the first time.
    """
    rows = len(table)
    last = int(np.max(table["t"].to_numpy()))
    day = max(1, last // 1_000)
    with duckdb.connect() as base:
        base.execute("SET threads = 1")
        base.register("given", table)
        base.execute("CREATE TABLE s AS SELECT DISTINCT * FROM given")
        base.execute(f"CREATE TABLE now AS SELECT {last // 2} AS d")
        query = f"CREATE OR REPLACE TABLE v AS {case.sql}".replace("DAY", str(day))
        theirs = min(processor_seconds(partial(base.execute, query)) for _ in range(2))
        expected = base.execute("SELECT count(*) FROM (SELECT DISTINCT * FROM v)").fetchone()
    rule = case.rule.replace("7 * DAY", str(7 * day))
    with _loaded(case, shape, table, last // 2) as workspace:
        first = processor_seconds(partial(workspace.add_rules, rule))
    with _loaded(case, shape, table, last // 2) as workspace:
        ours = min(first, processor_seconds(partial(workspace.add_rules, rule)))
        if case.name != "lag":  # which has NULL for the first rows, and one of those with ties
            require_equal(case.name, (len(workspace["v"]),), expected)

        def commit(turn: int) -> None:
            with workspace.transaction() as tx:
                if "now(" in case.rule:
                    tx.delete("now", [(last // 2 + turn,)])
                    tx.insert("now", [(last // 2 + turn + 1,)])
                else:
                    tx.insert("s", [(names[turn % len(names)], rows + turn, 7)])

        commits = [processor_seconds(partial(commit, turn)) for turn in range(COMMITS)]
        steps = float(workspace.profile(last=1).df()["steps"].sum())
    milliseconds = statistics.median(commits) * 1e3
    return Measured(case.name, shape.name, len(names), ours / theirs, milliseconds, steps)


def _loaded(case: Case, shape: Shape, table: pa.Table, now: int) -> lftj.Workspace:
    """A workspace with the rows and the clock, without the view."""
    workspace = lftj.connect()
    workspace.add_rules(
        f".decl s(g: {shape.group}, t: number, x: number)\n.decl now(d: number)\n"
        f".decl v({case.columns.replace('GROUP', shape.group)})"
    )
    workspace.load("s", table)
    workspace.load("now", [(now,)])
    return workspace


def commit_share(found: list[Measured]) -> float:
    """The greatest time of a commit : the larger of a millisecond and three times a sum's."""
    plain = {(each.shape, each.groups): each.commit_ms for each in found if each.name == "sum"}
    return max(
        each.commit_ms / max(LEAST_MS, MORE_THAN_A_SUM * plain[each.shape, each.groups])
        for each in found
    )
