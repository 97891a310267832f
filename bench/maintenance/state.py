"""Cost of keeping a trace: time of the first evaluation, and bytes of everything that is kept."""

from __future__ import annotations

from pathlib import Path

from bench.figure import Report, require_equal
from bench.graphs import rmat
from bench.maintenance.edit import Edits
from bench.maintenance.graph import GRAPHS, Graph, warm_up

TIMES = 3
COMMITS = 10  # before the bytes are taken: what only commits need is made by the first of them


def measure(report: Report, data: Path | None) -> None:
    """Record both figures; the views are the same with and without a trace."""
    warm_up()
    edges = rmat(*GRAPHS[report.size])
    logged = bare = float("inf")
    with_trace = Graph(edges)
    for _ in range(TIMES):
        with_trace, without = Graph(edges), Graph(edges, trace_budget=0)
        logged = min(logged, with_trace.evaluate())
        bare = min(bare, without.evaluate())
        require_equal("views with and without a trace", with_trace.views() == without.views(), True)
    edits = Edits(edges)
    for number in range(COMMITS):
        with_trace.commit(edits.of_size(1, number))
    state, one_order = _bytes(with_trace)
    report.add("logging_overhead", logged / bare)
    report.add("state_ratio", state / one_order)
    report.note(
        part="state",
        edges=len(edges[0]),
        logged_s=logged,
        bare_s=bare,
        state_bytes=state,
        key_order_bytes=one_order,
    )


def _bytes(graph: Graph) -> tuple[int, int]:
    """Bytes of the whole maintained state, the edges among it, and of the rows of the one key order
    in which the edges are loaded.

    The whole is what the report lists or all pages in use, whichever is more: pages have free room,
    and what is listed may lie elsewhere.
    """
    columns = graph.workspace.memory().arrow().to_pydict()
    rows = list(zip(columns["relation"], columns["bytes"], strict=True))
    orders = [size for name, size in rows if name == "edge"]
    listed = sum(size for name, size in rows if not name.startswith("("))
    return max(listed, dict(rows)["(pages)"]), min(size for size in orders if size)
