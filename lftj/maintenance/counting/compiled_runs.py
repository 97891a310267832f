"""What runs of rounds in compiled code have in common: when one is tried, what it may take, and
what kernels are told of the process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from lftj.join.context import Context
from lftj.join.run.run import SLICE, borrow_cache
from lftj.maintenance.cost.cost_model import COMPILED_ITERATION, COMPILED_MOVE, LOOK_UP
from lftj.maintenance.counting import rounds_kernels as at
from lftj.maintenance.counting.round_tables import Asked
from lftj.maintenance.counting.rounds_kernels import Surroundings
from scantree.jit import ADDRESSES, address

# rounds of few rows before a run is tried, as loading its code takes a while; twice as many when
# one comes to little
_PATIENCE = 32
_WORTH_IT = 4  # times as many rounds, in a run
_MANY = (
    8  # questions planned, up to which each is planned when it is asked: a plan may make key orders
)
_ROUNDS = 1 << 16  # between two looks at limits
_STEPS = 100_000  # of one question in a round


AnyQuestion = TypeVar("AnyQuestion", bound=Asked)


class CompiledRuns:
    """Runs of rounds with up to `few` rows each. `_control`: the words of a run, of which there are
    so many.
    """

    def __init__(self, few: int, words: int, context: Context):
        self._few = few
        self._context = context
        self._small = 0
        self._patience = _PATIENCE
        self._control = np.zeros(words, np.int64)

    def _few_for_long(self, rows: int) -> bool:
        """Note a round of so many rows; whether rounds have had few for so long that a run may be
        tried.
        """
        self._small = self._small + 1 if rows <= self._few else 0
        return ADDRESSES and self._small > self._patience

    def _came_to(self, rounds: int) -> None:
        """Note that a run is over, after so many rounds."""
        self._small = 0
        if rounds < _WORTH_IT * self._patience:
            self._patience *= 2

    def _to_plan(
        self, number: int, questions: Sequence[AnyQuestion], planned: Collection[AnyQuestion]
    ) -> list[AnyQuestion]:
        """What to plan when a run stops at the question of this number: that one, and where many
        are planned as many more.

        Those that are asked next if what it finds is new, then those after them. A stop looks at
        all that is planned, so stopping for each of many would take the square of their number.
        """
        found = [questions[number]]
        room = len(planned) if len(planned) >= _MANY else 0
        unplanned: dict[tuple[str, bool], list[AnyQuestion]] = {}
        for each in questions if room else ():
            if each not in planned and each is not found[0]:
                unplanned.setdefault((each.relation, each.lost), []).append(each)
        for each in found:  # which grows meanwhile
            if len(found) > room:
                break
            found += unplanned.pop((each.head, each.lost), ())
        return found[: 1 + room]

    def _set_limits(self) -> None:
        control = self._control
        control[:] = 0
        control[at.ROUND_EFFORT], control[at.DUE_EFFORT], control[at.MOVE_EFFORT] = (
            COMPILED_ITERATION,
            LOOK_UP,
            COMPILED_MOVE,
        )
        control[at.MOST_ROUNDS], control[at.MOST_STEPS] = _ROUNDS, _STEPS
        control[at.MOST_EFFORT] = self._context.slice(SLICE)

    @contextmanager
    def _surroundings(self) -> Iterator[Surroundings]:
        """What kernels are told of the process, while the arena is locked for them."""
        context = self._context
        offsets, text = context.dictionary.flat()
        cache = borrow_cache(context)
        with context.arena.lock:
            context.arena.sweep()
            yield Surroundings(
                address(context.arena.memory), address(offsets), address(text), cache.address
            )
        context.caches.append(cache)
