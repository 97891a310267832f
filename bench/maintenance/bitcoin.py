"""Trust between users of Bitcoin OTC: ratings committed one by one in the order in which they were
given, three views maintained.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import Report
from bench.files import DataPathNeeded, delimited
from bench.maintenance.recomputation import Recomputation, require_same_views

VIEWS = """
// Triangles by the signs of their three ratings.
.decl triangles(first: number, second: number, closing: number, n: number)
triangles(a, b, c, count()) :- rating(x, y, r), rating(y, z, s), rating(x, z, t),
    a = max(-1, min(1, r)), b = max(-1, min(1, s)), c = max(-1, min(1, t)).

.decl reputation(member: number, mean: float, least: number, most: number)
reputation(y, mean(r), min(r), max(r)) :- rating(_, y, r).

.decl trusted(member: number)
trusted(y) :- rating(_, y, r), r > 0.
.decl member(member: number)
member(x) :- rating(x, _, _).
member(y) :- rating(_, y, _).
.decl untrusted(member: number)
untrusted(x) :- member(x), !trusted(x).
"""
NAMES = ("triangles", "reputation", "untrusted")
RATING = ".decl rating(x: number, y: number, stars: number)\n"
COMMITS = {"s": 200, "m": 3_000, "l": 1_000_000}  # at most; there are 35,592
EVERY = 50  # states from one verified state to the next


def ratings(data: Path | None) -> pa.Table:
    """The columns x, y, stars in order of time."""
    if data is None:
        raise DataPathNeeded(
            "bitcoin_speedup needs --data PATH, a folder with graphs/bitcoin-otc.csv.xz"
        )
    table = delimited(
        data / "graphs" / "bitcoin-otc.csv.xz", ("x", "y", "stars", "time"), pa.float64(), ","
    )
    return (
        table.sort_by("time")
        .select(["x", "y", "stars"])
        .cast(pa.schema([(name, pa.int64()) for name in ("x", "y", "stars")]))
    )


def measure(report: Report, data: Path | None) -> None:
    """Seconds of recomputing at every commit, from every fiftieth state, over the seconds of all
    commits. Those states are verified.
    """
    rows = list(zip(*(column.to_pylist() for column in ratings(data).columns), strict=True))[
        : COMMITS[report.size]
    ]
    workspace = connect()
    workspace.add_rules(RATING + VIEWS)
    recomputation = Recomputation(RATING, VIEWS, ["rating"])
    maintained = recomputed = 0.0
    for number, row in enumerate(rows, 1):
        maintained += processor_seconds(lambda row=row: workspace.load("rating", [row]))
        if number % EVERY == 0:
            seconds, anew = recomputation.evaluate(workspace)
            recomputed += seconds * EVERY
            require_same_views(NAMES, f"after {number} commits", workspace, anew)
    report.add("bitcoin_speedup", recomputed / maintained)
    report.note(
        figure="bitcoin_speedup",
        commits=len(rows),
        maintained_s=maintained,
        recomputed_s=recomputed,
    )
