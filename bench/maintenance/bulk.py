"""Half of the edges replaced in one commit, against storing the same change without views and
evaluating them from nothing.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.figure import Report, require_equal
from bench.graphs import rmat
from bench.maintenance.edit import Edit
from bench.maintenance.graph import GRAPHS, Graph, warm_up

TIMES = 2


def half_replaced(edges: int, scale: int) -> tuple[tuple[np.ndarray, np.ndarray], Edit]:
    """A power-law graph, and an edit that deletes half of its edges and inserts as many of another
    such graph.
    """
    before, other = rmat(edges, scale), rmat(edges, scale, seed=2)
    random = np.random.default_rng(3)
    packed = [x << 32 | y for x, y in (before, other)]
    absent = np.setdiff1d(packed[1], packed[0], assume_unique=True)
    count = min(len(packed[0]) // 2, len(absent))
    picked = [random.choice(codes, count, replace=False) for codes in (absent, packed[0])]
    inserted, deleted = (np.stack((codes >> 32, codes & 0xFFFFFFFF), axis=1) for codes in picked)
    return before, Edit(inserted, deleted)


def measure(report: Report, data: Path | None) -> None:
    """The least of a few runs on both sides, each in a workspace of its own."""
    warm_up()
    edges, edit = half_replaced(*GRAPHS[report.size])
    maintained = recomputed = float("inf")
    for _ in range(TIMES):
        ours = Graph(edges)
        ours.evaluate()
        maintained = min(maintained, ours.commit(edit))
        bare = Graph(edges)
        recomputed = min(recomputed, bare.commit(edit) + bare.evaluate())
        require_equal("views after the bulk commit", ours.views() == bare.views(), True)
    report.add("bulk_ratio", maintained / recomputed)
    report.note(
        figure="bulk_ratio",
        edges=len(edges[0]),
        changed=len(edit),
        commit_s=maintained,
        recomputed_s=recomputed,
    )
