"""Medians, quantiles, ends, ranks and running sums: what stands in order, evaluated first beside
DuckDB's window functions on one thread, and followed beside a plain sum.
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
    return Case(name, f"g: number, z: {type}", rule, _BY_GROUP.format(sql))


_ROWS = "g: number, t: number, z: number"
CASES = (
    _of_group("sum", "number", "sum(x)", "sum(x)"),
    _of_group("median", "float", "median(x)", "quantile_cont(x, 0.5)"),
    _of_group("p95", "float", "quantile(x, 0.95)", "quantile_cont(x, 0.95)"),
    _of_group("count_distinct", "number", "count_distinct(x)", "count(DISTINCT x)"),
    _of_group("arg_max", "number", "arg_max(t, x)", "arg_max(t, x)"),
    Case("rank", _ROWS, "v(g, t, n) :- s(g, t, _), n = count : { s(g, u, _), u < t }.",
        "SELECT g, t, rank() OVER (PARTITION BY g ORDER BY t) AS z FROM s"),
    Case("running sum", _ROWS, "v(g, t, n) :- s(g, t, _), n = sum x : { s(g, u, x), u <= t }.",
        "SELECT g, t, sum(x) OVER (PARTITION BY g ORDER BY t) AS z FROM s"),
)  # fmt: skip


class Measured(NamedTuple):
    """A case: its time : DuckDB's, and the milliseconds of a commit of one row."""

    name: str
    groups: int
    vs_duckdb: float
    commit_ms: float


def measured(rows: int, groups: int) -> Iterator[Measured]:
    """All cases over rows in so many groups. The rows of commits come last in their groups."""
    draw = np.random.default_rng(1)
    columns = (
        draw.integers(0, groups, rows),
        draw.permutation(rows),
        draw.integers(0, 100_000, rows),
    )
    table = pa.table(dict(zip("gtx", columns, strict=True)))
    for case in CASES:
        with duckdb.connect() as base, lftj.connect() as workspace:
            base.execute("SET threads = 1")
            base.register("given", table)
            base.execute("CREATE TABLE s AS FROM given")
            query = f"CREATE OR REPLACE TABLE v AS {case.sql}"
            theirs = min(processor_seconds(partial(base.execute, query)) for _ in range(2))
            workspace.add_rules(
                f".decl s(g: number, t: number, x: number)\n.decl v({case.columns})"
            )
            workspace.load("s", table)
            ours = processor_seconds(partial(workspace.add_rules, case.rule))
            more = [(turn % groups, rows + turn, 7) for turn in range(COMMITS)]
            commits = [processor_seconds(partial(workspace.load, "s", [row])) for row in more]
        yield Measured(case.name, groups, ours / theirs, statistics.median(commits) * 1e3)


def commit_share(found: list[Measured]) -> float:
    """The greatest time of a commit : the larger of a millisecond and three times a sum's."""
    plain = {each.groups: each.commit_ms for each in found if each.name == "sum"}
    return max(
        each.commit_ms / max(LEAST_MS, MORE_THAN_A_SUM * plain[each.groups]) for each in found
    )
