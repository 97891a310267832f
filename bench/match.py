"""Patterns over a column of strings, against DuckDB on one thread: strings that are all different,
and ten thousand that come again and again. Processor seconds of a question, the pattern in it new
each time, so that nothing of the answer is known.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import lftj
from bench.clock import processor_seconds
from bench.figure import Report, require_equal

ROWS = {"s": 10_000, "m": 100_000, "l": 1_000_000}
FEW = 10_000
PATTERNS = ("user12.*", ".*7", "(a|u)*ser.*9.*", ".*host7[0-9][.]example.*", "x.*")


def _table(rows: int, distinct: int) -> pa.Table:
    numbers = np.random.default_rng(1).permutation(rows) % distinct
    texts = [f"user{number * 7919 % 10**9}@host{number % 97}.example.org" for number in numbers]
    return pa.table({"i": np.arange(rows), "t": texts})


def _compare(table: pa.Table) -> tuple[float, float]:
    """Seconds that all patterns take us, and DuckDB."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.register("given", table)
    connection.execute("create table s as select * from given")
    workspace = lftj.connect(executor=lftj.ThreadExecutor(1))
    workspace.relation("s", {"i": int, "t": str})
    workspace.load("s", table)
    workspace.query('s(i, t), match("none", t)')  # compiles what there is to compile
    ours = theirs = 0.0
    for pattern in PATTERNS:
        found: dict[str, int] = {}

        def ask(pattern: str = pattern, found: dict[str, int] = found) -> None:
            found["ours"] = len(workspace.query(f's(i, t), match("{pattern}", t)'))

        def select(pattern: str = pattern, found: dict[str, int] = found) -> None:
            text = "create or replace table r as select * from s where regexp_full_match(t, ?)"
            connection.execute(text, [pattern])
            (count,) = connection.execute("select count(*) from r").fetchall()[0]
            found["theirs"] = count

        ours += processor_seconds(ask)
        theirs += processor_seconds(select)
        require_equal(f"rows of {pattern}", found["ours"], found["theirs"])
    return ours, theirs


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `match`."""
    rows = ROWS[report.size]
    for figure, distinct in (
        ("match_vs_duckdb", rows),
        ("match_few_vs_duckdb", min(FEW, rows // 10)),
    ):
        ours, theirs = _compare(_table(rows, distinct))
        report.add(figure, ours / theirs)
        report.note(figure=figure, rows=rows, distinct=distinct, our_s=ours, duckdb_s=theirs)
