# SPDX-License-Identifier: Apache-2.0
"""The rows that parts lose and win, from the nodes in doubt.

A part has a node in doubt if a seed of the part, or a step from a node that is not in doubt and
that the part has, reaches it by nodes in doubt. Of the rows before the change only the nodes in
doubt of each part matter: these are looked up one by one, or all rows of the parts are read,
whichever takes less.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lftj.join.context import Context
from lftj.maintenance.reachability.doubt import Doubtful, Group, Seeds
from lftj.maintenance.reachability.graph_kernels import (
    LOST,
    PART,
    STATE_WORDS,
    STEPS,
    WON,
    Doubt,
    Found,
    Rows,
    repair,
)
from lftj.maintenance.reachability.step_graph import StepGraph
from lftj.maintenance.separable.separable import Nodes
from lftj.scantree import after_prefix
from lftj.scantree.rows import distinct_values, equal_runs, locate, sort_order, sort_rows
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import RelationVersion

_LOOKED_UP = 30  # steps of looking one row up among many
_READ = 3  # steps of reading a row that lies beside others
_AT_ONCE = 1 << 22  # rows of parts read at once: memory
_FOUND = 2_000  # steps of finding the rows of a part, in which as many rows are read
_GROUP = 30_000  # steps in the time that a group takes, however small it is
_ROOM = 1 << 16  # rows found for which there is room at first


class _Task:
    """A group of parts with the nodes in doubt there. `asked`: these, and the nodes from which a
    step leads to one; `touched`: steps from and to nodes in doubt.
    """

    def __init__(self, group: Group, graph: StepGraph, reading: float):
        """`reading`: the steps of reading all rows of one part."""
        self.parts, self.nodes = group
        back, ahead = graph.back.starts, graph.ahead.starts
        lows, highs = back[self.nodes], back[self.nodes + 1]
        sizes = highs - lows
        places = np.repeat(lows - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        self.asked = distinct_values(np.append(self.nodes, graph.back.targets[places]))
        leaving = int((ahead[self.nodes + 1] - ahead[self.nodes]).sum())
        self.touched = int(sizes.sum()) + leaving + len(self.nodes)
        looking_up = _LOOKED_UP * len(self.asked)
        self.by_look_up = looking_up < reading
        self.cost = _GROUP + len(self.parts[0]) * (min(looking_up, reading) + self.touched)


class Repair:
    """One commit: the relation as it was, the column that recursion changes, the graph of steps and
    what is in doubt.
    """

    def __init__(
        self,
        version: RelationVersion,
        changing: int,
        graph: StepGraph,
        seeds: Seeds,
        doubtful: Doubtful,
        numbers: Nodes,
        context: Context,
    ):
        self.version, self.changing, self.graph = version, changing, graph
        self.seeds, self.numbers, self.context = seeds, numbers, context
        self._anew = doubtful.anew
        self._kept = [column for column in range(version.schema.arity) if column != changing]
        self._size = version.count / max(1, len(equal_runs(seeds.new, len(seeds.new) - 1)))
        self._tasks = [
            _Task(group, graph, self._reading(len(group.parts[0]))) for group in doubtful.groups
        ]
        self._room = graph.room()

    @property
    def cost(self) -> float:
        """The steps that it is expected to take."""
        anew = len(self._anew[0])
        each = self._reading(anew) + len(self.graph.flags)
        return sum([task.cost for task in self._tasks]) + anew * each

    def _reading(self, parts: int) -> float:
        """The steps of reading one of so many parts."""
        return _READ * self._size + min(_FOUND, self.version.count / max(1, parts))

    def run(self) -> Delta:
        """The rows that came and went."""
        found: list[tuple[Columns, Columns]] = []
        marks = np.zeros(self.graph.count, np.int8)
        at_once = int(_AT_ONCE / max(1.0, self._size)) + 1
        for task in self._tasks:
            marks[task.nodes] = 1
            doubt = Doubt(task.nodes, marks)
            size = _AT_ONCE // len(task.asked) + 1 if task.by_look_up else at_once
            for parts in _pieces(task.parts, size):
                rows = self._looked_up(parts, task.asked) if task.by_look_up else self._read(parts)
                found += self._repaired(parts, rows, doubt)
            marks[task.nodes] = 0
        marks[:] = 1
        everything = Doubt(np.empty(0, np.int64), marks)
        for parts in _pieces(self._anew, at_once):
            found += self._repaired(parts, self._read(parts), everything)
        lost, won = [[each[side] for each in found] for side in (0, 1)]
        return Delta(self._together(won), self._together(lost))

    def _together(self, found: list[Columns]) -> Columns:
        none = [np.empty(0, np.int64)] * self.version.schema.arity
        return sort_rows([np.concatenate(columns) for columns in zip(none, *found, strict=True)])

    # ── rows as they were ─────────────────────────────────────────────────────────────────────────
    def _looked_up(self, parts: Columns, asked: np.ndarray) -> Rows:
        """The nodes asked for that parts had."""
        count = len(parts[0])
        rows = self._rows(
            [np.repeat(column, len(asked)) for column in parts],
            np.tile(self.numbers.values(asked), count),
        )
        order = sort_order(rows)
        there = np.empty(len(order), np.bool_)
        there[order] = self.version.contains([column.take(order) for column in rows])
        sizes = there.reshape(count, len(asked)).sum(axis=1)
        highs = np.cumsum(sizes)
        return Rows(highs - sizes, highs, np.tile(asked, count)[there])

    def _rows(self, kept: Columns, node: np.ndarray) -> Columns:
        """Rows in the order of their columns, from their kept columns and the node."""
        columns = list(kept[: len(self._kept)])
        columns.insert(self.changing, node)
        return columns

    def _read(self, parts: Columns) -> Rows:
        """All nodes that parts had."""
        if not self._kept:
            nodes = self.numbers.number(self.version.columns()[0])
            return Rows(np.zeros(1, np.int64), np.array([len(nodes)]), nodes)
        if len(self._kept) > 1:
            columns = self.version.columns()
            ordered = sort_rows([*(columns[place] for place in self._kept), columns[self.changing]])
            return self._of(parts, ordered)
        (keys,) = parts
        tree = self.version.tree((self._kept[0], self.changing))
        between = (int(keys[0]),), after_prefix((int(keys[-1]),))
        if len(keys) * _FOUND > tree.positions(*between)[2]:
            return self._of(parts, tree.range(*between))
        pieces = [tree.range((key,), after_prefix((key,)), only=(1,))[0] for key in keys.tolist()]
        highs = np.cumsum([len(piece) for piece in pieces])
        nodes = self.numbers.number(np.concatenate(pieces))
        return Rows(np.append(0, highs[:-1]), highs, nodes)

    def _of(self, parts: Columns, ordered: Columns) -> Rows:
        """The nodes of some parts among rows in the order of their kept columns."""
        kept = len(parts)
        if not len(ordered[0]):
            none = np.zeros(len(parts[0]), np.int64)
            return Rows(none, none, none[:0])
        heads = equal_runs(ordered, kept)
        ends = np.append(heads[1:], len(ordered[0]))
        places, there = locate(parts, [column.take(heads) for column in ordered[:kept]])
        places[~there] = 0
        lows, highs = heads.take(places) * there, ends.take(places) * there
        return Rows(lows, highs, self.numbers.number(ordered[-1]))

    # ── repair ────────────────────────────────────────────────────────────────────────────────────
    def _repaired(
        self, parts: Columns, rows: Rows, doubt: Doubt
    ) -> Iterator[tuple[Columns, Columns]]:
        """The rows that these parts lose and win, in pieces."""
        state = np.zeros(STATE_WORDS, np.int64)
        room = self._room
        size = max(_ROOM, 2 * self.graph.count + int((rows.highs - rows.lows).max(initial=0)))
        lost, won = [Found(*np.empty((2, size), np.int64)) for _ in range(2)]
        seeds = self._seeds_of(parts, doubt)
        while state[PART] < len(parts[0]):
            repair(rows, seeds, doubt, self.graph.ahead, self.graph.back, room, state, lost, won)
            self.context.budget.spend(int(state[STEPS]))
            yield self._piece(parts, lost, state[LOST]), self._piece(parts, won, state[WON])
            state[LOST] = state[WON] = state[STEPS] = 0

    def _piece(self, parts: Columns, found: Found, count: int) -> Columns:
        kept = [column.take(found.parts[:count]) for column in parts]
        return self._rows(kept, self.numbers.values(found.nodes[:count]))

    def _seeds_of(self, parts: Columns, doubt: Doubt) -> Rows:
        """The nodes in doubt that these parts begin with."""
        seeds = self.seeds.new
        nodes = self.numbers.number(seeds[-1])
        picked = doubt.marks[nodes] != 0
        return self._of(parts, [column[picked] for column in seeds])


def _pieces(parts: Columns, size: int) -> Iterator[Columns]:
    for first in range(0, len(parts[0]), size):
        yield [column[first : first + size] for column in parts]
