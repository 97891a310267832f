"""Commits of one edge under shortest paths from one node of a power-law graph: edges that lie on
such paths go and come back.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.figure import Report, require_equal
from bench.graphs import rmat
from bench.recursion.changes import (
    BOOTSTRAP,
    Change,
    Following,
    require_same_views,
    table_of_rows,
    verify,
)

RULES = """
.decl dist(y: int, d: int)
dist(y, min(0)) :- root(y).
dist(y, min(d + w)) :- dist(x, d), edge(x, y, w).
"""
# Edges and scale of the graph.
GRAPHS = {"s": (3_000, 9), "m": (20_000, 12), "l": (200_000, 15)}
COMMITS = {"s": 10, "m": 40, "l": 60}  # of deletions, and of insertions
WEIGHTS = 100
WARM = 3
_ANEW = 5  # edges whose commits are evaluated anew: they take much the same time


def measure(report: Report, data: Path | None) -> None:
    """Record the median commit over the median of those that evaluate anew, of the same changes,
    once both were seen to agree.
    """
    edges, scale = GRAPHS[report.size]
    draw = np.random.default_rng(1)
    ends = np.stack(rmat(edges, scale, 1, oriented=False), axis=1)
    rows = np.column_stack([ends, draw.integers(1, WEIGHTS, len(ends))])
    facts = {
        "edge": table_of_rows(rows, ("x", "y", "w")),
        "root": table_of_rows(np.zeros((1, 1), np.int64), ("y",)),
    }
    followed, anew = Following(RULES, facts), Following(RULES, facts, BOOTSTRAP)
    tight = _on_shortest_paths(followed, rows)
    chosen = tight[draw.permutation(len(tight))[: COMMITS[report.size] + WARM]]
    taken: dict[str, list[float]] = {"deleted": [], "inserted": [], "anew": []}
    for number in range(len(chosen)):
        gone = Change("edge", rows[:0], chosen[number : number + 1])
        seconds = followed.commit([gone]), followed.commit([gone.undone])
        if number >= WARM:
            taken["deleted"].append(seconds[0])
            taken["inserted"].append(seconds[1])
        if number < WARM + _ANEW:
            before = [anew.commit([gone])]
            require_equal("strategy of a deletion evaluated anew", anew.strategy(), "bootstrap")
            anew.commit([gone.undone])
            taken["anew"] += before if number >= WARM else []
    require_equal("strategy of the last edit", followed.strategy() or "update", "update")
    require_same_views("paths after the edits", followed, anew)
    verify("paths after the edits", followed)
    medians = {name: float(np.median(seconds)) for name, seconds in taken.items()}
    report.add("shortest_edit", medians["deleted"] / medians["anew"])
    worst = max(taken["deleted"] + taken["inserted"]) * 1e3
    millis = {f"{name}_ms": seconds * 1e3 for name, seconds in medians.items()}
    report.note(
        figure="shortest_edit",
        edges=len(rows),
        rows=len(followed.workspace["dist"]),
        **millis,
        worst_ms=worst,
    )


def _on_shortest_paths(followed: Following, rows: np.ndarray) -> np.ndarray:
    """The edges by which some node has its distance."""
    found = np.full(int(rows[:, :2].max()) + 1, np.iinfo(np.int64).max // 2)
    for node, distance in followed.workspace["dist"].fetchall():
        found[node] = distance
    return rows[(found[rows[:, 0]] + rows[:, 2] == found[rows[:, 1]])]
