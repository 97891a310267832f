"""Commits of one, ten and a thousand edges, over one full evaluation of the views they change."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.figure import Report
from bench.graphs import rmat
from bench.maintenance.edit import Edits
from bench.maintenance.graph import GRAPHS, Graph, check, warm_up
from bench.maintenance.series import seconds_of_commits

# Edges of a commit and how many commits.
COMMITS = {1: 400, 10: 60, 1000: 12}
FIGURES = {1: ("edit1_median", "edit1_p99"), 10: ("edit10",), 1000: ("edit1000",)}


def measure(report: Report, data: Path | None) -> None:
    """Record the figures once the views were seen to be right after all commits."""
    warm_up()
    edges = rmat(*GRAPHS[report.size])
    graph, edits = Graph(edges), Edits(edges)
    full = graph.evaluate()
    taken = {
        size: seconds_of_commits(graph, edits, size, commits)
        for size, commits in COMMITS.items()
        if report.wants(*FIGURES[size])
    }
    check(graph, edits.edges())
    anew, verified = Graph(edges).evaluate(), graph.verify()
    full = min(full, anew, verified)
    for size, seconds in taken.items():
        ratios = (float(np.median(seconds)) / full, float(np.percentile(seconds, 99)) / full)
        for figure, ratio in zip(FIGURES[size], ratios, strict=False):
            report.add(figure, ratio)
        milliseconds = seconds * 1e3
        report.note(
            part=f"{size} edges",
            edges=len(edges[0]),
            commits=len(seconds),
            median_ms=float(np.median(milliseconds)),
            p99_ms=float(np.percentile(milliseconds, 99)),
            worst_ms=float(milliseconds.max()),
            full_s=full,
            anew_s=anew,
            verified_s=verified,
        )
