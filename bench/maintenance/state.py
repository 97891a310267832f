"""What keeping a trace costs: time of the first evaluation, and bytes of everything that is kept."""

from __future__ import annotations

import inspect
from pathlib import Path

import lftj
from bench.figure import Report, require_equal
from bench.graphs import rmat
from bench.maintenance.graph import GRAPHS, Graph, warm_up

TIMES = 3
NO_TRACE = {"trace_budget": 0} if "trace_budget" in inspect.signature(lftj.connect).parameters else {}


def measure(report: Report, data: Path | None) -> None:
    """Record both figures; the views are the same with and without a trace."""
    warm_up()
    edges = rmat(*GRAPHS[report.size])
    logged = bare = float("inf")
    state = one_order = 0
    for _ in range(TIMES):
        with_trace, without = Graph(edges), Graph(edges, **NO_TRACE)
        logged = min(logged, with_trace.evaluate())
        bare = min(bare, without.evaluate())
        require_equal("views with and without a trace", with_trace.views() == without.views(), True)
        state, one_order = _bytes(with_trace)
    report.add("logging_overhead", logged / bare)
    report.add("state_ratio", state / one_order)
    report.note(part="state", edges=len(edges[0]), logged_s=logged, bare_s=bare, state_bytes=state, key_order_bytes=one_order)


def _bytes(graph: Graph) -> tuple[int, int]:
    """Bytes of the whole maintained state, the edges among it, and of the one key order in which the edges are loaded."""
    columns = graph.workspace.memory().arrow().to_pydict()
    rows = list(zip(columns["relation"], columns["bytes"], strict=True))
    orders = [size for name, size in rows if name == "edge"]
    return sum(size for name, size in rows if not name.startswith("(")), min(size for size in orders if size)
