"""Commits of one edge under a spanning tree of a power-law graph with cycles, in which every node
chooses the first that reaches it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.figure import Report, require_equal
from bench.graphs import rmat
from bench.recursion.changes import (
    BOOTSTRAP,
    Change,
    Changes,
    Following,
    in_turn,
    require_same_views,
    table_of_rows,
    verify,
)

RULES = """
.decl parent(y: int, x: int) choice-domain y
parent(y, y) :- root(y).
parent(y, x) :- parent(x, _), edge(x, y).
"""
# Edges and scale of the graph.
GRAPHS = {"s": (3_000, 9), "m": (20_000, 12), "l": (200_000, 15)}
COMMITS = {"s": 10, "m": 40, "l": 60}  # of deletions, and of insertions
WARM = 3
_ANEW = 10  # commits that are evaluated anew: they take much the same time


def measure(report: Report, data: Path | None) -> None:
    """Record the median commit over the median of those that evaluate anew, of the same changes,
    once both were seen to agree.
    """
    edges, scale = GRAPHS[report.size]
    rows, spare = (np.stack(rmat(edges, scale, seed, oriented=False), axis=1) for seed in (1, 2))
    spare = spare[~np.isin(spare @ [1 << 32, 1], rows @ [1 << 32, 1])]
    facts = {
        "edge": table_of_rows(rows, ("x", "y")),
        "root": table_of_rows(np.zeros((1, 1), np.int64), ("y",)),
    }
    followed, anew = Following(RULES, facts), Following(RULES, facts, BOOTSTRAP)
    for change in (Change("edge", rows[:0], rows[:1]), Change("edge", rows[:1], rows[:0])) * WARM:
        followed.commit([change])
        anew.commit([change])
    taken: dict[str, list[float]] = {"followed": [], "anew": []}
    for number, change in enumerate(in_turn(Changes("edge", rows, spare), COMMITS[report.size])):
        taken["followed"].append(followed.commit([change]))
        if number < _ANEW:
            taken["anew"].append(anew.commit([change]))
            require_same_views("tree after an edit", followed, anew)
    require_equal(
        "strategies of the last edit",
        (followed.strategy() or "update", anew.strategy() or "bootstrap"),
        ("update", "bootstrap"),
    )
    verify("tree after the edits", followed)
    medians = {name: float(np.median(seconds)) for name, seconds in taken.items()}
    report.add("choice_edit", medians["followed"] / medians["anew"])
    worst = max(taken["followed"]) * 1e3
    millis = {f"{name}_ms": seconds * 1e3 for name, seconds in medians.items()}
    report.note(
        figure="choice_edit",
        edges=len(rows),
        rows=len(followed.workspace["parent"]),
        **millis,
        followed_worst_ms=worst,
    )
