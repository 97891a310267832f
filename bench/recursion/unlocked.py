"""One fact without which a recursive view is empty, and a base rule that comes after its step rule:
each brings the whole view at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import Report, require_equal

DECLARED = """
.decl on(k: number)
.decl e(x: number, y: number)
.decl p(x: number, y: number)
"""
BASE = "p(x, y) :- on(_), e(x, y)."
STEPS = {
    "closure": "p(x, z) :- p(x, y), e(y, z).",
    "closure of pairs": "p(x, z) :- p(x, y), p(y, z).",
    "two relations": ".decl q(x: number, y: number)\n"
    "q(x, z) :- p(x, y), e(y, z). p(x, z) :- q(x, y), e(y, z).",
}
# Nodes and edges of the random graph.
GRAPHS = {"s": (400, 2_400), "m": (700, 5_000), "l": (1_000, 10_000)}
TIMES = 5


def _workspace(edges: np.ndarray, on: bool, *rules: str):
    workspace = connect()
    workspace.add_rules(DECLARED)
    workspace.load("e", list(map(tuple, edges.tolist())))
    if on:
        workspace.load("on", [(1,)])
    for text in rules:
        workspace.add_rules(text)
    return workspace


def _unlocked(edges: np.ndarray, step: str) -> Iterator[tuple[str, float]]:
    """Seconds of commits that bring the view, and of its evaluation, again and again."""
    gated = _workspace(edges, False, BASE + step)
    for _ in range(TIMES):
        whole = _workspace(edges, True)
        yield "evaluation", processor_seconds(lambda whole=whole: whole.add_rules(BASE + step))
        yield "fact", processor_seconds(lambda: gated.load("on", [(1,)]))
        require_equal("rows that a fact unlocked", len(gated["p"]), len(whole["p"]))
        with gated.transaction() as tx:
            tx.delete("on", [(1,)])
        later = _workspace(edges, True, step)
        yield "rule", processor_seconds(lambda later=later: later.add_rules(BASE))
        require_equal("rows of a base rule", len(later["p"]), len(whole["p"]))
    require_equal("views that differ", gated.verify(), [])


def measure(report: Report, data: Path | None) -> None:
    """Record the worst median of what a fact or a rule brings over that of the evaluation."""
    nodes, count = GRAPHS[report.size]
    code = np.random.default_rng(3).choice(nodes * nodes, count, replace=False)
    edges = np.stack((code // nodes, code % nodes), axis=1)
    worst = 0.0
    for name, step in STEPS.items():
        taken: dict[str, list[float]] = {}
        for what, seconds in _unlocked(edges, step):
            taken.setdefault(what, []).append(seconds)
        medians = {what: float(np.median(seconds)) for what, seconds in taken.items()}
        worst = max(worst, *(medians[what] / medians["evaluation"] for what in ("fact", "rule")))
        millis = {f"{what}_ms": seconds * 1e3 for what, seconds in medians.items()}
        report.note(figure="unlocked_worst", program=name, edges=count, **millis)
    report.add("unlocked_worst", worst)
