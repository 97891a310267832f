"""A graph with maintained views: its triangles per vertex and in total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import require_equal
from bench.maintenance.edit import Edit

VIEWS = """
.decl per_vertex(x: number, n: number)
per_vertex(x, count()) :- edge(x, y), edge(y, z), edge(x, z).

.decl total(n: number)
total(count()) :- edge(x, y), edge(y, z), edge(x, z).
"""
# Edges and scale of the power-law graph of each size.
GRAPHS = {"s": (20_000, 12), "m": (100_000, 13), "l": (1_000_000, 16)}
AS_TABLE = 100  # rows from which on a change is handed over as an Arrow table


class Graph:
    """A workspace with `edge` loaded. `options` are those of `lftj.connect`."""

    def __init__(self, edges: Sequence[np.ndarray], **options: Any):
        self.workspace = connect(**options)
        self.edge = self.workspace.relation("edge", {"x": int, "y": int})
        self.workspace.load(self.edge, pa.table({"x": edges[0], "y": edges[1]}))

    def evaluate(self) -> float:
        """Add the views; returns the processor seconds of their first evaluation."""
        return processor_seconds(lambda: self.workspace.add_rules(VIEWS))

    def commit(self, edit: Edit) -> float:
        """Commit an edit and return the processor seconds from the start of the transaction to its
        end.
        """
        inserted, deleted = _rows(edit.inserted), _rows(edit.deleted)

        def run() -> None:
            with self.workspace.transaction() as transaction:
                transaction.delete(self.edge, deleted)
                transaction.insert(self.edge, inserted)

        return processor_seconds(run)

    def verify(self) -> float:
        """Evaluate the views from nothing, keeping nothing, and compare; returns the processor
        seconds. Raises ResultsDiffer.
        """
        found: list[object] = []
        seconds = processor_seconds(lambda: found.extend(self.workspace.verify()))
        require_equal("views that differ", found, [])
        return seconds

    def views(self) -> dict[str, list[tuple[int, ...]]]:
        """The rows of both views, sorted."""
        return {name: sorted(self.workspace[name].fetchall()) for name in ("per_vertex", "total")}


def _rows(edges: np.ndarray) -> Any:
    """Rows as a user would have them: a few as tuples, many as a table."""
    if len(edges) < AS_TABLE:
        return [(int(x), int(y)) for x, y in edges]
    return pa.table({"x": edges[:, 0], "y": edges[:, 1]})


def recomputed(edges: Sequence[np.ndarray]) -> Graph:
    """The views of these edges, evaluated from nothing."""
    graph = Graph(edges)
    graph.evaluate()
    return graph


def check(graph: Graph, edges: Sequence[np.ndarray]) -> None:
    """The edges are these, and both views what they are when evaluated from nothing. Raises
    ResultsDiffer.
    """
    require_equal("edges after the commits", len(graph.workspace["edge"]), len(edges[0]))
    for name, rows in recomputed(edges).views().items():
        require_equal(f"{name} after the commits", graph.views()[name] == rows, True)


def warm_up() -> None:
    """Compile, or read from the cache, every kernel that evaluation and maintenance use."""
    ring = [np.array([1, 1, 2, 3, 3], np.int64), np.array([2, 3, 3, 4, 5], np.int64)]
    graph = Graph(ring)
    graph.evaluate()
    for kept in (np.array([[1, 4], [2, 4]]), np.array([[4, 5]])):
        graph.commit(Edit(inserted=kept, deleted=kept[:0]))
        graph.commit(Edit(inserted=kept[:0], deleted=kept[:1]))
