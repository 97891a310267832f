"""The same one-edge commit on graphs of growing size."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.figure import Report
from bench.graphs import rmat
from bench.maintenance.edit import Edits
from bench.maintenance.graph import Graph, check, warm_up
from bench.maintenance.series import seconds_of_commits

SIZES = {
    "s": ((5_000, 10), (20_000, 12)),
    "m": ((20_000, 11), (100_000, 13)),
    "l": ((100_000, 13), (1_000_000, 16), (4_000_000, 18)),
}
COMMITS = 200


def _median(edges: int, scale: int) -> float:
    graph_edges = rmat(edges, scale)
    graph, edits = Graph(graph_edges), Edits(graph_edges)
    graph.evaluate()
    seconds = seconds_of_commits(graph, edits, 1, COMMITS)
    check(graph, edits.edges())
    return float(np.median(seconds))


def measure(report: Report, data: Path | None) -> None:
    """The largest over the smallest median of the sizes."""
    warm_up()
    medians = {size[0]: _median(*size) for size in SIZES[report.size]}
    report.add("growth", max(medians.values()) / min(medians.values()))
    report.note(
        figure="growth", **{f"ms_{edges}": seconds * 1e3 for edges, seconds in medians.items()}
    )
