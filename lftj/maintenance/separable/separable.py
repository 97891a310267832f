# SPDX-License-Identifier: Apache-2.0
"""Fixpoints part by part, for strata that fall apart [Part-local fixpoints].

The rows of a part agree in the columns that recursion keeps. Its fixpoint is a walk over the steps
that the recursive rules allow, with a table of bytes for a set: in cache, without hashing, and the
rows come out in order. Walks are breadth first, so that the iteration in which a row is found is
the iteration in which semi-naïve evaluation finds it.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations
from lftj.join.strategy import Strategy
from lftj.maintenance.rules.full_evaluation import projected
from lftj.maintenance.semi_naive.closure import Closure
from lftj.maintenance.separable.decomposable import Decomposition, walkable
from lftj.maintenance.separable.walk_kernels import Graph, Parts, Reached, invert, walk
from lftj.maintenance.separable.walks import Walk, walked
from lftj.scantree.rows import distinct_values, equal_runs, sort_rows

WALK_SPARSE = 8
"""Times wider than their number that a range of values is numbered anew for walks."""
_WALK_ROWS = 1 << 20
"""Rows that walks have room for at first: memory against growing."""


class Walks(Strategy[dict[str, Columns]]):
    """A walk for each value that recursion keeps, of a stratum that falls apart so."""

    name = "walks"
    gate = "forest"
    change: Closure

    @cached_property
    def _shape(self) -> Decomposition | None:
        return walkable(self.change.schemas, self.change.normal)

    def applies(self) -> bool:
        """Tell whether the stratum falls apart."""
        return not self.change.whole and self._shape is not None

    def run(self) -> dict[str, Columns]:
        """The rows of its relation, sorted."""
        shape, closure = self._shape, self.change
        assert shape is not None
        first = closure.first(shape.relation)
        return {shape.relation: close_parts(shape, first, closure.relations, closure.context)}


def close_parts(
    shape: Decomposition, first: Columns, relations: Relations, context: Context
) -> Columns:
    """The sorted rows of the relation, from its sorted rows of iteration 0 and the relations that
    its recursive rules read.

    O(rows + Σ steps from each row), plus a pass over all steps.
    """
    before, after = steps_of(shape, first, relations, context)
    if not len(first[0]) or not len(before):
        return first
    kept = [column for place, column in enumerate(first) if place != shape.changing]
    ordered = sort_rows([*kept, first[shape.changing]])
    nodes = Nodes([ordered[-1], before, after], WALK_SPARSE)
    heads = equal_runs(ordered, len(kept)) if kept else np.zeros(1, np.int64)
    parts = Parts(
        np.append(heads, len(ordered[-1])),
        nodes.number(ordered[-1]),
        np.zeros(len(heads), np.int64),
    )
    found = _walk(parts, _graph(nodes.number(before), nodes.number(after), nodes.count), context)
    if shape.changing == 0 and kept:
        return _by_node(parts.ends, found, nodes, [column.take(heads) for column in ordered[:-1]])
    sizes = np.diff(parts.ends, prepend=0)
    columns = [np.repeat(column.take(heads), sizes) for column in ordered[:-1]]
    columns.insert(shape.changing, nodes.values(found))
    return columns if shape.changing == len(kept) else sort_rows(columns)


def _by_node(ends: np.ndarray, found: np.ndarray, nodes: Nodes, kept: Columns) -> Columns:
    """The rows ordered by node first, then by the kept columns of their parts. O(rows + nodes)."""
    node_ends = np.zeros(nodes.count, np.int64)
    parts = np.empty(len(found), np.int64)
    invert(ends, found, node_ends, parts)
    leading = np.repeat(nodes.values(np.arange(nodes.count)), np.diff(node_ends, prepend=0))
    return [leading, *(column.take(parts) for column in kept)]


def _graph(before: np.ndarray, after: np.ndarray, nodes: int) -> Graph:
    """The graph of steps that ascend by the node before."""
    starts = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(before, minlength=nodes), out=starts[1:])
    return Graph(starts, after)


def steps_of(
    shape: Decomposition, first: Columns, relations: Relations, context: Context
) -> Columns:
    """All steps, columns of the value before and the value after, sorted, each once; `first` are
    the rows of iteration 0.
    """
    if shape.transitive:
        return first
    found = [projected(rule, relations, context)[0] for rule in shape.steps]
    if len(found) == 1:
        return found[0]
    return sort_rows([np.concatenate(columns) for columns in zip(*found, strict=True)])


class Nodes:
    """Values as numbers from 0 that order as they do: by their distance from the least, or by rank
    where they lie far apart.
    """

    def __init__(self, columns: Columns, sparse: int):
        self._low = min([int(column.min()) for column in columns])
        span = max([int(column.max()) for column in columns]) - self._low + 1
        self._ranked = None
        self.count = span
        if span > sparse * sum(map(len, columns)):
            self._ranked = distinct_values(np.concatenate(columns))
            self.count = len(self._ranked)

    def number(self, values: np.ndarray) -> np.ndarray:
        """Values to numbers."""
        return values - self._low if self._ranked is None else np.searchsorted(self._ranked, values)

    def values(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers to values."""
        return numbers + self._low if self._ranked is None else self._ranked.take(numbers)


class _Reached(NamedTuple):
    nodes: np.ndarray


def _walk(parts: Parts, graph: Graph, context: Context) -> np.ndarray:
    """Walk all parts: the nodes they reach. Fills the parts' ends."""

    def begin(parts: Parts) -> Walk[_Reached]:
        return Walk(
            _kernel,
            parts,
            graph,
            lambda rows: _Reached(np.empty(rows, np.int64)),
            _WALK_ROWS,
        )

    found = [piece.nodes for piece in walked(begin, parts, context)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def _kernel(
    parts: Parts, graph: Graph, reached: Reached, state: np.ndarray, out: _Reached, most: int
) -> int:
    return walk(parts, graph, reached, state, out.nodes, most)
