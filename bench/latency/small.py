"""Small commits: the share of a view in a long chain, and rows per second in tens."""

from __future__ import annotations

import statistics
import time

from bench.engine import connect
from bench.figure import Report, require_equal

CHAIN = {"s": 20, "m": 200, "l": 500}
COMMITS = {"s": 30, "m": 300, "l": 1_000}
TENS = {"s": 100, "m": 2_000, "l": 20_000}
ROWS = 10_000


def seconds_of_chain(views: int, commits: int) -> float:
    """The median seconds of a commit of one row that goes through a chain of views."""
    workspace = connect()
    lines = [".decl v0(x: number, y: number)"]
    for n in range(1, views + 1):
        lines += [f".decl v{n}(x: number, y: number)", f"v{n}(x, y) :- v{n - 1}(x, y), x != {-n}."]
    workspace.add_rules("\n".join(lines))
    workspace.load("v0", [(each, each % 97) for each in range(ROWS)])
    taken = []
    for number in range(commits):
        row = [(ROWS + number // 2, 1)]
        began = time.perf_counter()
        with workspace.transaction() as tx:
            (tx.delete if number % 2 else tx.insert)("v0", row)
        taken.append(time.perf_counter() - began)
    require_equal("rows at the end of the chain", len(workspace[f"v{views}"]), ROWS + commits % 2)
    return statistics.median(taken[commits // 10 :])


def measure_chain(report: Report) -> None:
    """Record the time that one more view of a chain takes: that of a long chain less that of a
    short one.
    """
    views, commits = CHAIN[report.size], COMMITS[report.size]
    long, short = seconds_of_chain(views, commits), seconds_of_chain(1, commits)
    report.add("per_view_ms", (long - short) / (views - 1) * 1e3)
    report.note(figure="per_view_ms", views=views, long_ms=long * 1e3, short_ms=short * 1e3)


def measure_rows(report: Report) -> None:
    """Record the rows per second of commits that insert ten rows each into a relation."""
    workspace, commits = connect(), TENS[report.size]
    workspace.add_rules(".decl event(id: number, kind: number)")
    workspace.load("event", [(each, each % 7) for each in range(ROWS)])
    batches = [
        [(ROWS + 10 * number + each, each) for each in range(10)] for number in range(commits)
    ]
    began = time.perf_counter()
    for rows in batches:
        with workspace.transaction() as tx:
            tx.insert("event", rows)
    taken = time.perf_counter() - began
    require_equal("rows", len(workspace["event"]), ROWS + 10 * commits)
    report.add("rows_per_s", 10 * commits / taken)
    report.note(figure="rows_per_s", commits=commits, ms_per_commit=taken / commits * 1e3)
