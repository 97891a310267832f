"""Fixpoints against DuckDB: closures with its recursive queries, a mutually recursive analysis with
rounds written by hand in SQL.

One thread each, tables loaded before the clock starts, the results materialised on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

import lftj
from bench.cases import CASES
from bench.clock import once
from bench.engine import Engine, connect, program, rows_of, warm_up
from bench.figure import Report, require_equal
from bench.graphs import random_forest, random_graph
from bench.peers.duckdb import Peer
from bench.peers.duckdb_cspa import VIEWS, Analysis

# Nodes and edge probability of the random graph; edges, edges of one tree and seed of the random
# forest.
SIZES = {
    "s": ((100, 0.03), (1_000, 100, 3)),
    "m": ((300, 0.02), (10_000, 1_000, 3)),
    "l": ((1_000, 0.01), (100_000, 4_000, 3)),
}
# Cases on published data: a closure and a points-to analysis.
PUBLISHED = {
    "s": ("closure_email-Eu-core", "cspa_1k"),
    "m": ("closure_email-Eu-core", "cspa_1k"),
    "l": ("closure_Wiki-Vote", "cspa_10k"),
}
REPEATS = 3
TURNS = 7  # of the analysis, which takes a tenth of a second


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
    report.note(
        figure=figure,
        edges=len(edges[0]),
        rows=len(rows[0]),
        our_s=our_seconds,
        duckdb_s=peer_seconds,
    )


def _analyse(tables: dict[str, pa.Table]) -> tuple[float, lftj.Workspace]:
    """Seconds to add the rules of the analysis to a workspace that holds its facts, and the
    workspace.
    """
    workspace = connect()
    for name, table in tables.items():
        workspace.relation(name, dict.fromkeys(table.column_names, int))
        workspace.load(name, table)
    return once(lambda: workspace.add_rules(program("cspa")))[0], workspace


def compare_analysis(report: Report, figure: str, tables: dict[str, pa.Table]) -> None:
    """The same for the points-to analysis and its three views."""
    peer = Analysis(tables)
    counts = peer.run()
    _, workspace = _analyse(tables)
    for view in VIEWS:
        same = map(np.array_equal, rows_of(workspace, view), peer.rows(view))
        require_equal(f"{figure}, every row of {view}", all(same), True)
    our_seconds = peer_seconds = float("inf")
    for _ in range(TURNS):
        our_seconds = min(our_seconds, _analyse(tables)[0])
        peer_seconds = min(peer_seconds, once(Analysis(tables).run)[0])
    report.add(figure, peer_seconds / our_seconds)
    report.note(figure=figure, rows=sum(counts.values()), our_s=our_seconds, duckdb_s=peer_seconds)


def measure(report: Report, data: Path | None) -> None:
    """Record the figures that are asked for."""
    graph, forest = SIZES[report.size]
    warm_up()
    if report.wants("rand1k_vs_duckdb"):
        _compare(report, "rand1k_vs_duckdb", random_graph(*graph))
    if report.wants("forest_vs_duckdb"):
        _compare(report, "forest_vs_duckdb", random_forest(*forest))
    if data is None:
        return
    closure, analysis = (
        next(case for case in CASES if case.name == name) for name in PUBLISHED[report.size]
    )
    if report.wants("wikivote_vs_duckdb"):
        edges = closure.tables(data)["edge"]
        _compare(report, "wikivote_vs_duckdb", [edges["x"].to_numpy(), edges["y"].to_numpy()])
    if report.wants("cspa10k_vs_duckdb"):
        compare_analysis(report, "cspa10k_vs_duckdb", analysis.tables(data))
