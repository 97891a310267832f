"""Our commits beside those of DuckDB with delta queries written by hand for the same views."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.clock import processor_seconds
from bench.figure import Report, require_equal
from bench.graphs import rmat
from bench.maintenance.edit import Edits
from bench.maintenance.graph import GRAPHS, Graph, warm_up
from bench.peers.duckdb_delta import DeltaPeer

WARM = 3
COMMITS = {1: 40, 10: 12, 1000: 4}


def _side_by_side(ours: Graph, peer: DeltaPeer, edits: Edits, size: int) -> tuple[float, float]:
    """The median seconds of both sides over the same edits."""
    taken = []
    for number in range(WARM + COMMITS[size]):
        edit = edits.of_size(size, number)
        taken.append(
            (
                ours.commit(edit),
                processor_seconds(lambda edit=edit: peer.commit(edit.inserted, edit.deleted)),
            )
        )
    median = np.median(taken[WARM:], axis=0)
    return float(median[0]), float(median[1])


def measure(report: Report, data: Path | None) -> None:
    """The bar is for one edge; ten and a thousand are in the detail."""
    warm_up()
    edges = rmat(*GRAPHS[report.size])
    ours, peer, edits = Graph(edges), DeltaPeer(edges), Edits(edges)
    ours.evaluate()
    medians = {size: _side_by_side(ours, peer, edits, size) for size in COMMITS}
    for name, rows in peer.views().items():
        require_equal(f"{name} after the same commits", ours.views()[name] == rows, True)
    report.add("vs_duckdb_delta", medians[1][1] / medians[1][0])
    for size, (our_seconds, peer_seconds) in medians.items():
        report.note(
            figure="vs_duckdb_delta",
            edges=len(edges[0]),
            changed=size,
            our_ms=our_seconds * 1e3,
            duckdb_ms=peer_seconds * 1e3,
        )
