"""Our commits of one edge beside delete and re-derive, the other way to maintain
recursive views.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.clock import processor_seconds
from bench.engine import rows_of
from bench.figure import Report, require_equal
from bench.graphs import rmat
from bench.peers.duckdb_dred import RederivingPeer
from bench.recursion.changes import Change
from bench.recursion.edits import GRAPHS, WARM, closure_of, pairs

EDITS = {"s": 3, "m": 4, "l": 5}  # edges deleted, and inserted again


def measure(report: Report, data: Path | None) -> None:
    """The median of theirs over the median of ours, for the same edges; both closures are compared
    at the end.
    """
    edges, scale = GRAPHS[report.size]
    graph = rmat(edges, scale, oriented=False)
    rows = pairs(graph)
    ours, peer = closure_of(rows), RederivingPeer(graph)
    taken: list[tuple[float, float]] = []
    for place in (
        np.random.default_rng(1)
        .choice(len(rows), WARM + EDITS[report.size], replace=False)
        .tolist()
    ):
        row = rows[place : place + 1]
        x, y = row[0].tolist()
        for change, theirs in (
            (Change("edge", row[:0], row), peer.delete),
            (Change("edge", row, row[:0]), peer.insert),
        ):
            taken.append(
                (ours.commit([change]), processor_seconds(lambda act=theirs, x=x, y=y: act(x, y)))
            )
            same = map(np.array_equal, rows_of(ours.workspace, "path"), peer.rows("path"))
            require_equal("closure, every row", all(same), True)
    counted = np.array(taken[2 * WARM :])
    our_seconds, their_seconds = np.median(counted, axis=0).tolist()
    report.add("dred_vs_ours", their_seconds / our_seconds)
    report.note(
        figure="dred_vs_ours",
        our_ms=our_seconds * 1e3,
        dred_ms=their_seconds * 1e3,
        our_delete_ms=float(np.median(counted[::2, 0])) * 1e3,
        dred_delete_ms=float(np.median(counted[::2, 1])) * 1e3,
    )
