"""Fixpoints part by part that count proofs, for strata that fall apart: `parts`, with iteration and proof count of every row.

A walk's round is the iteration in which semi-naïve evaluation finds a row. A row's proofs are the instantiations of the recursive rules
that lead to it from the round before: so every step carries the number of instantiations it stands for.
"""

from __future__ import annotations

import numpy as np

from lftj.join.context import Context
from lftj.join.evaluate import Columns, Relations
from lftj.maintain.full import projected
from lftj.program.normal_form import NormalRule
from lftj.recursion.by_parts.counted_walk_kernels import Counted, Marks, Weights, counted_walk
from lftj.recursion.by_parts.decomposable import Decomposition
from lftj.recursion.by_parts.parts import step_as_it_lies
from lftj.recursion.by_parts.walk_kernels import Graph, Parts, Reached
from lftj.recursion.by_parts.walks import Walk, walked
from scantree.rows import equal_runs, sort_and_count, sort_order

_SPARSE = 8  # a range of values this many times wider than their number is numbered anew
_FIRST_ROOM = 1 << 16  # rows

Proven = tuple[Columns, np.ndarray, np.ndarray]
"""Sorted, distinct rows, their iterations and their proof counts."""


def count_parts(shape: Decomposition, first: Columns, proofs: np.ndarray, relations: Relations, context: Context) -> Proven:
    """All rows of the relation, from those of iteration 0 (sorted) with their proofs, and the relations that its recursive rules read."""
    before, after, weights = _steps(shape, relations, context)
    if not len(proofs) or not len(weights):
        return first, np.zeros_like(proofs), proofs
    changing = [column for place, column in enumerate(first) if place == shape.changing]
    kept = [column for place, column in enumerate(first) if place != shape.changing]
    order = sort_order([*kept, *changing])
    ordered = [column.take(order) for column in (*kept, *changing)]
    lows, seeds, sources, targets = _numbered([ordered[-1], before, after])
    heads = equal_runs(ordered, len(kept)) if kept else np.zeros(1, np.int64)
    parts = Parts(np.append(heads, len(order)), seeds, np.zeros(len(heads), np.int64))
    starts = np.zeros(len(lows) + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=len(lows)), out=starts[1:])
    nodes, iterations, counts = _walk(parts, Graph(starts, targets), Weights(proofs.take(order), weights), context)
    sizes = np.diff(parts.ends, prepend=0)
    columns = [np.repeat(column.take(heads), sizes) for column in ordered[:-1]]
    columns.insert(shape.changing, lows.take(nodes))
    if shape.changing == len(kept):
        return columns, iterations, counts
    order = sort_order(columns)
    return [column.take(order) for column in columns], iterations.take(order), counts.take(order)


def _steps(shape: Decomposition, relations: Relations, context: Context) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All steps (value before, value after), ascending, and how many instantiations each stands for."""
    found = [_step_rows(rule, relations, context) for rule in shape.steps]
    rows = [np.concatenate(columns) for columns in zip(*(rows for rows, _ in found), strict=True)]
    (before, after), weights = sort_and_count(rows, np.concatenate([counts for _, counts in found]))
    return before, after, weights


def _step_rows(rule: NormalRule, relations: Relations, context: Context) -> tuple[Columns, np.ndarray]:
    """The steps of one rule."""
    read = step_as_it_lies(rule, relations)
    return projected(rule, relations, context) if read is None else (read, np.ones(len(read[0]), np.int64))


def _numbered(columns: Columns) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The value of each number from 0, ascending, and three columns of values as numbers."""
    low = min(int(column.min()) for column in columns)
    span = max(int(column.max()) for column in columns) - low + 1
    if span <= _SPARSE * sum(map(len, columns)):
        first, second, third = (column - low for column in columns)
        return np.arange(low, low + span), first, second, third
    values = np.unique(np.concatenate(columns))
    first, second, third = (np.searchsorted(values, column) for column in columns)
    return values, first, second, third


def _walk(parts: Parts, graph: Graph, weights: Weights, context: Context) -> Counted:
    """Walk all parts: the nodes they reach, with rounds and proofs. Fills the parts' ends."""
    nodes = graph.starts.size - 1

    def begin(parts: Parts) -> Walk[Counted]:
        marks = Marks(np.empty(nodes, np.int64), np.empty(nodes, np.int64))

        def kernel(parts: Parts, graph: Graph, reached: Reached, state: np.ndarray, out: Counted, most: int) -> int:
            return counted_walk(parts, graph, weights, reached, marks, state, out, most)

        return Walk(kernel, parts, graph, lambda rows: Counted(*np.empty((3, rows), np.int64)), _FIRST_ROOM)

    found = walked(begin, parts, context)
    return found[0] if len(found) == 1 else Counted(*map(np.concatenate, zip(*found, strict=True)))
