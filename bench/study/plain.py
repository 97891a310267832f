"""The plain program for one task: ten lines of Numba on one thread."""

from __future__ import annotations

import numba
import numpy as np
import pyarrow as pa


@numba.njit(cache=True)
def _reached(start: np.ndarray, target: np.ndarray, sources: np.ndarray, nodes: int) -> int:
    """Pairs of a source and a node that a walk of at least one step from it reaches."""
    seen = np.full(nodes, -1, np.int64)
    queue = np.empty(nodes, np.int64)
    pairs = 0
    for number in range(len(sources)):
        head, tail = 0, 0
        node = sources[number]
        while True:
            for place in range(start[node], start[node + 1]):
                found = target[place]
                if seen[found] != number:
                    seen[found] = number
                    queue[tail] = found
                    tail += 1
            if head == tail:
                break
            node = queue[head]
            head += 1
        pairs += tail
    return pairs


def _adjacency(x: np.ndarray, y: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(x, kind="stable")
    start = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(x, minlength=nodes), out=start[1:])
    return start, y[order]


def _columns(table: pa.Table) -> list[np.ndarray]:
    return [np.asarray(column, np.int64) for column in table.columns]


def closure(tables: dict[str, pa.Table]) -> dict[str, int]:
    """Rows of the transitive closure."""
    x, y = _columns(tables["edge"])
    nodes = int(max(x.max(), y.max())) + 1
    return {"path": _reached(*_adjacency(x, y, nodes), np.unique(x), nodes)}


def nulls(tables: dict[str, pa.Table]) -> dict[str, int]:
    """Rows of `null`: a step of `NullEdge`, then a walk over `Arc`. Each source gets a node of its
    own, whose edges are its steps.
    """
    x, y = _columns(tables["NullEdge"])
    a, b = _columns(tables["Arc"])
    nodes = int(max(x.max(), y.max(), a.max(), b.max())) + 1
    sources, place = np.unique(x, return_inverse=True)
    starts = np.append(place + nodes, a), np.append(y, b)
    more = nodes + len(sources)
    roots = np.arange(nodes, more)
    return {"null": _reached(*_adjacency(*starts, more), roots, more)}


PROGRAMS = {"closure, sparse": closure, "closure, dense": closure, "CSDA": nulls}
