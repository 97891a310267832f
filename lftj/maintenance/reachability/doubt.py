# SPDX-License-Identifier: Apache-2.0
"""Consequences of a change of steps: the nodes that parts may lose or win.

Take a path with the fewest changed steps, and the first of these, from u to v. Steps that stay
connect its part with u, and not with v: otherwise there were a path with fewer. For the same reason
they connect u with no node behind v. So a step that came or went matters to parts that still reach
u and do not reach v, and in them to nodes behind v that u does not reach. If u reaches v by steps
that stay there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lftj.join.context import Context
from lftj.maintenance.reachability.graph_kernels import BOTH
from lftj.maintenance.reachability.step_graph import StepGraph, cleared
from lftj.maintenance.separable.separable import Nodes
from lftj.scantree.rows import (
    difference,
    distinct_values,
    equal_runs,
    locate,
    sort_order,
    sort_rows,
    union,
)
from lftj.storage.delta import Columns

_BITS = 62  # changed steps that are told apart
_MANY = 1 << 16  # rows that a step may matter to from which on a hub is looked for
_SEARCHED_STEPS = 16
"""Changed steps beyond which the graph's components are found before single searches."""


class _Matter(NamedTuple):
    """Consequences of a step: `nodes`, in parts with a seed in `origins` and none in `unless`."""

    origins: np.ndarray
    nodes: np.ndarray
    unless: np.ndarray


class Seeds(NamedTuple):
    """Nodes that parts begin with: sorted rows of the kept columns and the node, as they are, and
    those that went and came. Where nothing is kept there is one column of zeros.
    """

    new: Columns
    went: Columns
    came: Columns

    def all(self) -> Columns:
        """Rows that were there, or are."""
        return union(self.new, self.went)

    def changed(self) -> Columns:
        """Rows that came or went."""
        return union(self.went, self.came)

    def staying(self) -> Columns:
        """Rows that were there and are."""
        return difference(self.new, self.came) if len(self.came[0]) else self.new


class Group(NamedTuple):
    """Parts, by their kept columns, that may lose or win the same nodes."""

    parts: Columns
    nodes: np.ndarray


class Doubtful:
    """The nodes and the parts that a change can matter to. `groups`: parts that may lose or win
    some nodes; `anew`: parts whose seeds changed so that all may change.
    """

    def __init__(self, graph: StepGraph, seeds: Seeds, nodes: Nodes, context: Context, most: int):
        """`most`: the steps after which it gives up; then it is `unknown`."""
        self._graph, self._numbers = graph, nodes
        self._budget, self._until = context.budget, context.budget.spent + most
        self._one, self._other = graph.room(), graph.room()
        self._many = len(graph.changed[0]) > _SEARCHED_STEPS
        self._mattering: list[_Matter] = []
        self.anew = self._parts_anew(seeds)
        self._find_steps_that_matter()
        known = self._mattering and not self.unknown
        self.groups = list(self._groups(seeds)) if known else []

    @property
    def unknown(self) -> bool:
        return self._budget.spent > self._until

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────
    def _find_steps_that_matter(self) -> None:
        """Note what each step that matters matters to; leave the others out of the graph."""
        before, after, _ = self._graph.changed
        places = np.arange(len(before))
        if self._many:
            component = self._graph.components
            places = places[component[before] != component[after]]
        needless = np.ones(len(before), np.bool_)
        for place in places.tolist():
            if not self.unknown and self._matters(place):
                needless[place] = False
        self._graph.without(np.flatnonzero(needless))

    def _matters(self, place: int) -> bool:
        """Test a changed step, and note what it matters to."""
        before, after, flags = self._graph.changed
        origin, goal = before[place : place + 1], after[place : place + 1]
        known = self._graph.search(origin, BOTH, self._one, goal=int(goal[0]))
        matters = not self._one.seen[goal[0]]
        if matters:
            self._mattering += self._split(self._matter(origin, goal, int(flags[place])))
        cleared(self._one, known)
        return matters

    def _matter(self, origin: np.ndarray, goal: np.ndarray, flag: int) -> _Matter:
        """The consequences of a step; what steps that stay lead to from its origin is in `_one`."""
        behind = self._graph.search(goal, flag, self._other, without=self._one.seen)
        nodes = behind.copy()
        cleared(self._other, behind)
        still = self._reaching(goal, BOTH)
        return _Matter(self._reaching(origin, BOTH), nodes, still)

    def _reaching(self, goals: np.ndarray, wanted: int) -> np.ndarray:
        """The nodes from which one of these is reached."""
        found = self._graph.search(goals, wanted, self._other, backward=True)
        cleared(self._other, found)
        return found.copy()

    def _split(self, matter: _Matter) -> Iterator[_Matter]:
        """The same, told apart by a hub among the nodes: parts that still reach it have all that it
        leads to. One component holds most nodes of many graphs.
        """
        origins, nodes, unless = matter
        if len(origins) * len(nodes) < _MANY:
            yield matter
            return
        component = self._graph.components
        of_nodes = component[nodes]
        hub = nodes[of_nodes == np.bincount(of_nodes).argmax()][:1]
        reached = self._graph.search(hub, BOTH, self._other)
        behind = self._other.seen[nodes] != 0
        cleared(self._other, reached)
        yield _Matter(origins, nodes[~behind], unless)
        yield _Matter(origins, nodes[behind], np.append(unless, self._reaching(hub, BOTH)))

    # ── parts ─────────────────────────────────────────────────────────────────────────────────────
    def _groups(self, seeds: Seeds) -> Iterator[Group]:
        """The parts by the steps that matter to them. A bit may stand for several steps."""
        parts, of_parts = self._bits([each.origins for each in self._mattering], seeds.all())
        if not len(of_parts):
            return
        if len(self._mattering) <= _BITS:
            unless = [each.unless for each in self._mattering]
            some, excepted = self._bits(unless, seeds.staying())
            places, there = locate(some, parts)
            of_parts[places[there]] &= ~excepted[there]
        for mask in distinct_values(of_parts[of_parts != 0]).tolist():
            chosen = [column[of_parts == mask] for column in parts]
            left = difference(chosen, self.anew)
            if len(left[0]):
                yield Group(left, self._nodes_of(mask))

    def _bits(self, nodes: list[np.ndarray], rows: Columns) -> tuple[Columns, np.ndarray]:
        """The parts of seeds with some among sets of nodes, in ascending order, and a word for each
        of them, with a bit for each of the sets.
        """
        bits = np.zeros(self._graph.count, np.int64)
        for number, some in enumerate(nodes):
            bits[some] |= 1 << number % _BITS
        of_rows = bits[self._numbers.number(rows[-1])]
        held = np.flatnonzero(of_rows)
        parts, words = [column.take(held) for column in rows[:-1]], of_rows.take(held)
        if not len(held):
            return parts, words
        heads = equal_runs(parts, len(parts))
        return [column.take(heads) for column in parts], np.bitwise_or.reduceat(words, heads)

    def _nodes_of(self, mask: int) -> np.ndarray:
        some = [
            each.nodes for number, each in enumerate(self._mattering) if mask >> number % _BITS & 1
        ]
        return distinct_values(np.concatenate(some))

    def _parts_anew(self, seeds: Seeds) -> Columns:
        """The parts with a changed seed that no other one leads to by steps that stay."""
        changed = seeds.changed()
        if not len(changed[0]):
            return changed[:-1]
        staying, nodes = seeds.staying(), self._numbers.number(changed[-1])
        if self._many:
            component = self._graph.components
            some = [*staying[:-1], component[self._numbers.number(staying[-1])]]
            held = _among([*changed[:-1], component[nodes]], sort_rows(some))
        else:
            places = range(len(nodes))
            held = np.array([self._held(changed, nodes, row, staying) for row in places], np.bool_)
        return sort_rows([column[~held] for column in changed[:-1]])

    def _held(self, changed: Columns, nodes: np.ndarray, row: int, staying: Columns) -> bool:
        """Test if other seeds of its part lead to a changed one."""
        if self.unknown:
            return False
        same = np.ones(len(staying[-1]), np.bool_)
        for column, values in zip(staying[:-1], changed, strict=False):
            same &= column == values[row]
        goal, origins = int(nodes[row]), self._numbers.number(staying[-1][same])
        known = self._graph.search(origins, BOTH, self._one, goal=goal)
        held = bool(self._one.seen[goal])
        cleared(self._one, known)
        return held


def _among(rows: Columns, others: Columns) -> np.ndarray:
    """Mark the rows, in any order, that are among others, which are sorted. Rows may repeat."""
    order = sort_order(rows)
    found = np.empty(len(order), np.bool_)
    found[order] = locate([column[order] for column in rows], others)[1]
    return found
