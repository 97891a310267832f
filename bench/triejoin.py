"""Counting small patterns in large graphs, against DuckDB: one thread each, edges loaded, the
commit that adds the rule on the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import engine
from bench.clock import best_of
from bench.engine import Engine, warm_up
from bench.figure import Report, require_equal
from bench.graphs import rmat, skewed
from bench.peers import duckdb
from bench.peers.duckdb import Peer

# Edges and scale of the two power-law graphs, and nodes of the skewed one.
SIZES = {
    "s": ((5_000, 9), (2_000, 8), 500),
    "m": ((100_000, 13), (20_000, 11), 4_000),
    "l": ((1_000_000, 16), (200_000, 14), 20_000),
}


def _ours(edges: Sequence[np.ndarray], rule: str, times: int = 2) -> tuple[float, int]:
    """The least seconds over fresh workspaces, so that no run finds the view of the one before."""
    seconds, count = float("inf"), 0
    for _ in range(times):
        loaded = Engine(edges)
        taken, count = best_of(1, lambda loaded=loaded: loaded.count(rule))
        seconds = min(seconds, taken)
    return seconds, count


def _compare(
    report: Report, figure: str, edges: Sequence[np.ndarray], rule: str, query: str, times: int = 2
) -> None:
    """Record how many times faster our count is than the peer's."""
    peer = Peer(edges)
    our_seconds, ours = _ours(edges, rule, times)
    peer_seconds, theirs = best_of(times, lambda: peer.count(query))
    require_equal(figure, ours, theirs)
    report.add(figure, peer_seconds / our_seconds)
    report.note(
        figure=figure, edges=len(edges[0]), count=ours, our_s=our_seconds, duckdb_s=peer_seconds
    )


def _skew(report: Report, n: int) -> None:
    """The skewed graph at n and 2n: growth of our time, and the peer at n only, whose plan is
    quadratic.
    """
    _compare(report, "skew_vs_duckdb", skewed(n), engine.TRIANGLES, duckdb.TRIANGLES)
    single, _ = _ours(skewed(n), engine.TRIANGLES, times=5)
    double, count = _ours(skewed(2 * n), engine.TRIANGLES, times=5)
    require_equal("triangles of the skewed graph, 3 a node but for both ends", count, 6 * n - 3)
    report.add("skew_growth", double / single)
    report.note(figure="skew_growth", nodes=n, count=count, our_s=single, our_s_doubled=double)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `triejoin`."""
    large, small, nodes = SIZES[report.size]
    warm_up()
    _compare(report, "triangle_vs_duckdb", rmat(*large), engine.TRIANGLES, duckdb.TRIANGLES)
    _skew(report, nodes)
    graph = rmat(*small)
    _compare(report, "paths_vs_duckdb", graph, engine.PATHS, duckdb.PATHS)
    _compare(report, "fourcycle_vs_duckdb", graph, engine.FOUR_CYCLES, duckdb.FOUR_CYCLES)
    _compare(
        report, "clique_vs_duckdb_by_hand", graph, engine.FOUR_CLIQUES, duckdb.FOUR_CLIQUES_BY_HAND
    )
    # Once: the peer takes minutes at the full size.
    _compare(report, "clique_vs_duckdb", graph, engine.FOUR_CLIQUES, duckdb.FOUR_CLIQUES, times=1)
