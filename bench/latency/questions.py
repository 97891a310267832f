"""Questions with a parameter, each time with another value."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

import lftj
from bench.engine import connect
from bench.figure import Report, require_equal
from bench.graphs import rmat

QUESTIONS = {"s": 200, "m": 2_000, "l": 20_000}
EDGES = {"s": (2_000, 9), "m": (20_000, 12), "l": (200_000, 15)}
WARM = 20
_RNG = 3


def graph(size: str) -> tuple[lftj.Workspace, dict[int, set[tuple[int]]]]:
    """A graph with a view of its steps of two, and what each node reaches in two steps."""
    edges, scale = EDGES[size]
    columns = rmat(edges, scale, oriented=False)
    workspace = connect()
    workspace.add_rules(
        ".decl edge(x: number, y: number)\n.decl reach(x: number, y: number)\n"
        "reach(x, y) :- edge(x, y).\nreach(x, z) :- edge(x, y), edge(y, z), x < 50.\n"
    )
    workspace.load("edge", pa.table({"x": columns[0], "y": columns[1]}))
    found: dict[int, set[tuple[int]]] = {}
    for x, y in workspace["reach"].fetchall():
        found.setdefault(x, set()).add((y,))
    return workspace, found


def measure_questions(report: Report) -> None:
    """Record the median and the 99th percentile of `ws.query("reach(?, y)", x)`, its rows
    read.
    """
    workspace, expected = graph(report.size)
    nodes = np.random.default_rng(_RNG).choice(sorted(expected), QUESTIONS[report.size]).tolist()
    taken = []
    for node in (*nodes[:WARM], *nodes):
        began = time.perf_counter()
        rows = workspace.query("reach(?, y)", node).fetchall()
        taken.append(time.perf_counter() - began)
        require_equal(f"reach({node}, y)", set(rows), expected[node])
    taken = taken[len(nodes[:WARM]) :]
    p50, p99 = np.quantile(taken, [0.5, 0.99]) * 1e3
    report.add("bound_query_ms", p50)
    report.add("bound_query_p99_ms", p99)
    report.note(figure="bound_query_ms", questions=len(taken), worst_ms=max(taken) * 1e3)
