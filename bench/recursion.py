"""Transitive closures, against DuckDB's recursive common table expressions: one thread each, the results materialised on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.clock import once
from bench.engine import Engine, warm_up
from bench.figure import Report, require_equal
from bench.graphs import random_forest, random_graph
from bench.peers.duckdb import Peer

# Nodes and edge probability of the random graph; edges, edges of one tree and seed of the random forest.
SIZES = {
    "s": ((100, 0.03), (1_000, 100, 3)),
    "m": ((300, 0.02), (10_000, 1_000, 3)),
    "l": ((1_000, 0.01), (100_000, 4_000, 3)),
}
REPEATS = 3


def _compare(report: Report, figure: str, edges: Sequence[np.ndarray]) -> None:
    """Compare the closures row by row, then record how many times faster ours is."""
    ours, peer = Engine(edges), Peer(edges)
    require_equal(f"{figure}, rows", ours.closure(), peer.closure())
    rows = ours.rows("path")
    require_equal(f"{figure}, every row", all(map(np.array_equal, rows, peer.rows("path"))), True)
    our_seconds = peer_seconds = float("inf")
    for _ in range(REPEATS):
        our_seconds = min(our_seconds, once(Engine(edges).closure)[0])
        peer_seconds = min(peer_seconds, once(Peer(edges).closure)[0])
    report.add(figure, peer_seconds / our_seconds)
    report.note(figure=figure, edges=len(edges[0]), rows=len(rows[0]), our_s=our_seconds, duckdb_s=peer_seconds)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `recursion`."""
    graph, forest = SIZES[report.size]
    warm_up()
    _compare(report, "rand1k_vs_duckdb", random_graph(*graph))
    _compare(report, "forest_vs_duckdb", random_forest(*forest))
