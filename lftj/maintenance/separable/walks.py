# SPDX-License-Identifier: Apache-2.0
"""Running walks: slices of work, room for what they reach, and several threads when they turn out
to be long.

The parts of a stratum that falls apart have nothing to do with one another, so ranges of them are
walked at the same time, each walk with its own memory. What they reach is put together in the order
of the parts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from lftj.join.context import Context
from lftj.join.shared_work import SharedWork
from lftj.maintenance.separable.walk_kernels import (
    DONE,
    FULL,
    PART,
    PAUSED,
    ROWS,
    STATE_WORDS,
    STEPS,
    Graph,
    Parts,
    Reached,
    no_nodes_reached,
)
from lftj.partition.split import split

_MOST_GROWTH = 8

Output = TypeVar("Output", bound=tuple[np.ndarray, ...])
Kernel = Callable[[Parts, Graph, Reached, np.ndarray, Output, int], int]
"""Goes on with a walk: parts, graph, what is reached, state, output, and the steps it may make;
what it ended with.
"""


class Walk(Generic[Output]):
    """One walk over some parts, which come out in columns of their own."""

    def __init__(
        self,
        kernel: Kernel[Output],
        parts: Parts,
        graph: Graph,
        output: Callable[[int], Output],
        room: int,
    ):
        """`output` makes columns of so many rows."""
        self.parts = parts
        self.status = PAUSED
        self._kernel = kernel
        self._graph = graph
        self._nodes = graph.starts.size - 1
        self._reached: Reached | None = None
        self._state = np.zeros(STATE_WORDS, np.int64)
        self._output = output
        self._out = output(room)

    @property
    def part(self) -> int:
        """The part that is being walked."""
        return int(self._state[PART])

    @property
    def steps(self) -> int:
        """Steps so far."""
        return int(self._state[STEPS])

    def go(self, most: int) -> int:
        """Go on for so many steps: how many were made."""
        before = self.steps
        self._reached = self._reached or no_nodes_reached(self._nodes)
        self.status = int(
            self._kernel(self.parts, self._graph, self._reached, self._state, self._out, most)
        )
        if self.status == FULL:
            self._make_room()
        if self.status == DONE:
            self._reached = None
        return self.steps - before

    def found(self) -> Output:
        """Nodes reached, part by part."""
        return type(self._out)(*(column[: int(self._state[ROWS])] for column in self._out))

    def _make_room(self) -> None:
        rows, room = int(self._state[ROWS]), self._out[0].size
        # as much as the parts so far suggest: room that turns out not to be needed is never touched
        # and costs nothing
        suggested = min(
            rows * len(self.parts.ends) // max(self.part, 1) * 5 // 4, _MOST_GROWTH * room
        )
        larger = self._output(max(suggested, 2 * room, rows + self._nodes + 1))
        for column, before in zip(larger, self._out, strict=True):
            column[:rows] = before[:rows]
        self._out = larger


def walked(begin: Callable[[Parts], Walk[Output]], parts: Parts, context: Context) -> list[Output]:
    """Walk over all parts; return the reached nodes, in pieces in the order of the parts. Fills the
    parts' ends.

    A walk counts the nodes that it reaches and the steps from them, each of which is an assignment
    that satisfies a recursive rule.
    """
    before = context.budget.work
    found = _walked(begin, parts, context)
    context.budget.found += context.budget.work - before - sum(len(piece[0]) for piece in found)
    return found


def _walked(begin: Callable[[Parts], Walk[Output]], parts: Parts, context: Context) -> list[Output]:
    walk = begin(parts)
    threads = context.resources.threads
    patience = threads.patience if threads is not None and threads.workers > 1 else None
    while walk.status != DONE:
        steps = context.tuning.run_steps
        context.budget.spend(
            walk.go(steps if patience is None else max(1, min(steps, patience - walk.steps)))
        )
        if patience is not None and walk.steps >= patience:
            if walk.status != DONE and walk.part + 1 < len(parts.ends):
                return _on_threads(begin, walk, parts, context)
            patience = None
    return [walk.found()]


def _on_threads(
    begin: Callable[[Parts], Walk[Output]], walk: Walk[Output], parts: Parts, context: Context
) -> list[Output]:
    """The same, from a walk that has begun and is to stop behind its present part."""
    assert context.resources.threads is not None
    first, count = walk.part + 1, len(parts.ends)
    walk.parts = Parts(parts.bounds[: first + 1], parts.seeds, parts.ends[:first])
    seeds = np.diff(parts.bounds[first:]) + 1.0
    bounds = (
        [0]
        + [
            part.low or first
            for part in split(
                np.arange(first, count), seeds, context.resources.threads.parts, low=first
            )
        ]
        + [count]
    )
    ranges = list(pairwise(bounds))
    work = SharedWork(context, len(ranges))

    def do(number: int) -> Output:
        low, high = ranges[number]
        mine = (
            walk
            if number == 0
            else begin(Parts(parts.bounds[low : high + 1], parts.seeds, parts.ends[low:high]))
        )
        while mine.status != DONE:
            work.spend(number, mine.go(context.tuning.shared_run_steps))
        return mine.found()

    found = list(work.results(do))
    reached = np.cumsum([0] + [len(piece[0]) for piece in found])
    for (low, high), before in zip(ranges, reached, strict=False):
        parts.ends[low:high] += before
    return found
