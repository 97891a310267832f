"""Commits of one edge in the closure of a power-law graph with cycles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.engine import CLOSURE
from bench.figure import Report
from bench.graphs import Edges, rmat
from bench.recursion.changes import Change, Changes, Following, in_turn, table_of_rows, verify

# Edges and scale of the graph; RMAT1K has a thousand nodes and ten times as many edges.
GRAPHS = {"s": (1_000, 8), "m": (3_000, 9), "l": (10_000, 10)}
COMMITS = {"s": 10, "m": 40, "l": 100}  # of deletions, and of insertions
WARM = 3


def pairs(edges: Edges) -> np.ndarray:
    """Edges as rows."""
    return np.stack(edges, axis=1)


def closure_of(rows: np.ndarray, **options: float) -> Following:
    """The closure of these edges."""
    return Following(CLOSURE, {"edge": table_of_rows(rows, ("x", "y"))}, **options)


def measure(report: Report, data: Path | None) -> None:
    """Record the median of all commits, once the closure was seen to be right after them."""
    edges, scale = GRAPHS[report.size]
    rows, spare = (
        pairs(rmat(edges, scale, oriented=False)),
        pairs(rmat(edges, scale, 2, oriented=False)),
    )
    known = set(map(tuple, rows.tolist()))
    spare = np.array([row for row in spare.tolist() if tuple(row) not in known])
    closure = closure_of(rows)
    for change in (Change("edge", rows[:0], rows[:1]), Change("edge", rows[:1], rows[:0])) * WARM:
        closure.commit([change])
    taken: dict[str, list[float]] = {"deletes": [], "inserts": []}
    for change in in_turn(Changes("edge", rows, spare), COMMITS[report.size]):
        taken["deletes" if len(change.deleted) else "inserts"].append(
            closure.commit([change]) * 1e3
        )
    verify("closure after the edits", closure)
    report.add("rmat1k_edit_ms", float(np.median([*taken["deletes"], *taken["inserts"]])))
    worst = {f"{kind}_worst_ms": max(times) for kind, times in taken.items()}
    medians = {f"{kind}_median_ms": float(np.median(times)) for kind, times in taken.items()}
    report.note(
        figure="rmat1k_edit_ms",
        edges=len(rows),
        rows=len(closure.workspace["path"]),
        **medians,
        **worst,
    )
