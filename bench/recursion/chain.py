"""A chain as long as there are nodes: an edge at its beginning goes and comes, and everything
behind it with it, one node an iteration.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.figure import Report, require_equal
from bench.recursion.changes import UPDATE, Change, Following, table_of_rows

# Iterations.
DEPTHS = {"s": 10_000, "m": 100_000, "l": 1_000_000}
RULES = """
.decl even(x: int)
.decl odd(x: int)
even(x) :- first(x).
odd(y) :- even(x), edge(x, y).
even(y) :- odd(x), edge(x, y).
"""


def measure(report: Report, data: Path | None) -> None:
    """Record what an iteration of the slower of the two commits took."""
    depth = DEPTHS[report.size]
    nodes = np.arange(depth)
    edges = np.stack([nodes, nodes + 1], axis=1)
    facts = {
        "edge": table_of_rows(edges, ("x", "y")),
        "first": table_of_rows(np.zeros((1, 1), np.int64), ("x",)),
    }
    chain = Following(RULES, facts, UPDATE)
    last, first = (Change("edge", edges[:0], rows) for rows in (edges[-1:], edges[:1]))
    chain.commit([last])  # which counts
    taken: dict[str, float] = {}
    for name, change, even in ("delete", first, 1), ("insert", first.undone, (depth + 1) // 2):
        taken[f"{name}_us"] = chain.commit([change]) * 1e6 / depth
        require_equal(f"even nodes after the {name}", len(chain.workspace["even"]), even)
        require_equal(f"strategy of the {name}", chain.strategy(), "update")
    report.add("chain_us_per_round", max(taken.values()))
    report.note(
        figure="chain_us_per_round",
        iterations=depth,
        bootstrap_us=chain.evaluated * 1e6 / depth,
        **taken,
    )
