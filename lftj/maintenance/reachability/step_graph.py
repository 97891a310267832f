# SPDX-License-Identifier: Apache-2.0
"""The graph of the steps of a closure, as it was and as it is, and searches of it."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from lftj.join.context import Context
from lftj.maintenance.reachability.graph_kernels import (
    BEFORE,
    BOTH,
    NOW,
    Search,
    Steps,
    components,
    reach,
)
from lftj.maintenance.separable.separable import Nodes
from lftj.scantree.rows import locate, sort_order, union
from lftj.storage.delta import Columns, Delta

_SEARCH = 4_000
"""Steps in the time that a search takes besides its own."""


class Revised(NamedTuple):
    """Sorted rows as they are, and the change that made them so."""

    now: Columns
    change: Delta


class StepGraph:
    """Steps by number of node. `changed`: those that came or went, as rows of node, node and flag.

    O(steps) to make.
    """

    def __init__(self, steps: Revised, nodes: Nodes, context: Context):
        rows = union(steps.now, steps.change.erases)
        flags = np.full(len(rows[0]), BOTH, np.uint8)
        flags[locate(steps.change.erases, rows)[0]] = BEFORE
        flags[locate(steps.change.inserts, rows)[0]] = NOW
        self.count = nodes.count
        self._context = context
        self._rows = [nodes.number(column) for column in rows]
        self.flags = flags
        starts = np.zeros(nodes.count + 1, np.int64)
        np.cumsum(np.bincount(self._rows[0], minlength=nodes.count), out=starts[1:])
        self.ahead = Steps(starts, np.ascontiguousarray(self._rows[1]), flags)
        places = np.flatnonzero(flags != BOTH)
        self.changed = (self._rows[0][places], self._rows[1][places], flags[places])
        self._none = np.zeros(nodes.count, np.int8)

    @cached_property
    def back(self) -> Steps:
        """The same steps by the node they lead to."""
        self._order = order = sort_order([self._rows[1]])
        starts = np.zeros(self.count + 1, np.int64)
        np.cumsum(np.bincount(self._rows[1], minlength=self.count), out=starts[1:])
        return Steps(starts, self._rows[0].take(order), self.flags.take(order))

    def without(self, places: np.ndarray) -> None:
        """Leave out changed steps, by their place in `changed`: they matter to nothing."""
        changed = np.flatnonzero(self.flags != BOTH)
        self.flags[changed[places]] = 0
        if "back" in self.__dict__:
            self.back.flags[:] = self.flags.take(self._order)

    @cached_property
    def components(self) -> np.ndarray:
        """The strongly connected component of each node, by the steps that stay. O(steps)."""
        found = np.zeros(self.count, np.int64)
        room = np.empty((4, self.count), np.int64)
        components(self.ahead, BOTH, found, *room)
        self._context.budget.spend(self.count + len(self.flags))
        return found

    def room(self) -> Search:
        """Room for a search."""
        return Search(np.zeros(self.count, np.int8), np.empty(self.count + 1, np.int64))

    def search(
        self,
        origins: np.ndarray,
        wanted: int,
        room: Search,
        *,
        goal: int = -1,
        without: np.ndarray | None = None,
        backward: bool = False,
    ) -> np.ndarray:
        """The nodes reached from some nodes by steps with all `wanted` bits, these included, or as
        many as were reached until `goal` was. They stay marked in `room` until it is `cleared`.
        """
        room.queue[: len(origins)] = origins
        room.seen[origins] = 1
        graph = self.back if backward else self.ahead
        left_out = self._none if without is None else without
        tail, steps = reach(graph, wanted, room, len(origins), goal, left_out)
        self._context.budget.spend(steps, _SEARCH)
        return room.queue[:tail]


def cleared(room: Search, reached: np.ndarray) -> None:
    """Forget what a search reached."""
    room.seen[reached] = 0
