# SPDX-License-Identifier: Apache-2.0
"""Common parts of runs of iterations in compiled code: when one is tried, its limits, and the
arguments of kernels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from lftj.join.context import Context
from lftj.join.rent_or_buy import NOTHING_LOST
from lftj.join.run.run import borrow_cache
from lftj.maintenance.cost.cost_model import COMPILED_ITERATION, COMPILED_MOVE, LOOK_UP
from lftj.maintenance.counting import question_kernels as at
from lftj.maintenance.counting.iteration_tables import Asked
from lftj.maintenance.counting.question_kernels import Surroundings
from lftj.scantree.jit import ADDRESSES, address
from lftj.tuning.aids import COMPILED_ITERATIONS

AnyQuestion = TypeVar("AnyQuestion", bound=Asked)
_COMPILED_WORTH = 4
"""Times as many iterations that a run has to do to be worth it; else twice as many come first."""
_COMPILED_QUESTIONS = 8
"""Questions planned up to which each is planned when it is asked: a plan may make key orders."""
_COMPILED_STEPS = 100_000
"""Steps of one question in a compiled iteration."""
_COMPILED_ITERATIONS = 1 << 16
"""Iterations of a compiled run between two looks at limits."""


class CompiledRuns:
    """Runs of iterations with up to `few` rows each. `_control`: the words of a run, of which there
    are so many.
    """

    def __init__(self, few: int, words: int, context: Context):
        self._few = few
        self._context = context
        self._rent = NOTHING_LOST  # iterations of few rows, one after another
        self._control = np.zeros(words, np.int64)

    def _few_for_long(self, rows: int) -> bool:
        """Note an iteration of so many rows; whether iterations have had few for so long that a run
        may be tried.
        """
        self._rent = self._rent.plus(1) if rows <= self._few else self._rent.ended()
        if COMPILED_ITERATIONS in self._context.tuning.without:
            return False
        return ADDRESSES and self._rent.due(self._context.tuning.compiled_patience)

    def _came_to(self, iterations: int) -> None:
        """Note that a run is over, after so many iterations."""
        tuning = self._context.tuning
        patience = tuning.compiled_patience << self._rent.bought
        worth_it = iterations >= _COMPILED_WORTH * patience
        self._rent = self._rent.ended() if worth_it else self._rent.paid()

    def _to_plan(
        self, number: int, questions: Sequence[AnyQuestion], planned: Collection[AnyQuestion]
    ) -> list[AnyQuestion]:
        """Questions to plan when a run stops at the question of this number: that one, and where
        many are planned as many more.

        Those that are asked next if its rows are new come first, then those after them. A stop
        looks at all planned questions, so stopping for each of many would take the square of their
        number.
        """
        found = [questions[number]]
        room = len(planned) if len(planned) >= _COMPILED_QUESTIONS else 0
        unplanned: dict[tuple[str, int], list[AnyQuestion]] = {}
        for each in questions if room else ():
            if each not in planned and each is not found[0]:
                unplanned.setdefault((each.relation, each.about), []).append(each)
        for each in found:  # which grows meanwhile
            if len(found) > room:
                break
            found += unplanned.pop((each.head, each.about), ())
        return found[: 1 + room]

    def _set_limits(self) -> None:
        control = self._control
        control[:] = 0
        control[at.ITERATION_COST], control[at.DUE_COST], control[at.MOVE_COST] = (
            COMPILED_ITERATION,
            LOOK_UP,
            COMPILED_MOVE,
        )
        tuning = self._context.tuning
        control[at.MOST_ITERATIONS] = _COMPILED_ITERATIONS
        control[at.MOST_STEPS] = _COMPILED_STEPS
        control[at.MOST_COST] = self._context.budget.slice(tuning.run_steps)

    @contextmanager
    def _surroundings(self) -> Iterator[Surroundings]:
        """Arguments of kernels about the process, while the arena is locked for them."""
        context = self._context
        offsets, text = context.resources.dictionary.flat()
        cache = borrow_cache(context)
        with context.resources.arena.lock:
            context.resources.arena.sweep()
            yield Surroundings(
                address(context.resources.arena.memory),
                address(offsets),
                address(text),
                cache.address,
            )
        context.resources.caches.append(cache)
