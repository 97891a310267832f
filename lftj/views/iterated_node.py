# SPDX-License-Identifier: Apache-2.0
"""Sums through recursion where a rule judges values that are not finished, by iterations.

In w(y, sum(n)) :- w(x, n), e(x, y), n < 10. a sum below ten may be above it when all is added, so
groups may rest on each other for some time, and not in the end. Levels would rise for ever. So all
groups that have changes waiting are brought up to date at once, again and again, until none has.
The groups that then rest on each other are a cycle, as are those that do so while nothing else
changes any more.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lftj.storage.delta import Columns, Delta
from lftj.views.contribution import Contribution
from lftj.views.group_cycles import Group, cycle_of, ranked, tuples_of
from lftj.views.join_node import joined
from lftj.views.levels_node import RISE, Levels
from lftj.views.levels_state import LevelsState, no_levels

_SOME = 1 << 10
"""Groups up to which there are as many iterations before a cycle is one."""


class Iterated(Levels):
    """One evaluation of a summed stratum from nothing, without levels until all is done."""

    def _finished(self) -> tuple[dict[str, Delta], LevelsState]:
        done, edges = 0, dict[Group, set[Group]]()
        while any(self._pending.values()):
            done += 1
            self._finish_level()
            self._context.budget.spend(1)
            if done >= self._limit:
                self._judge(done, edges)
        self._levels_from(self._edges())
        return super()._finished()

    def _ready(self, waiting: Mapping[str, Columns]) -> dict[str, np.ndarray]:
        """Mark all groups."""
        return {name: np.ones(len(keys[0]), np.bool_) for name, keys in waiting.items()}

    def _raise(self, each: Contribution, rows: Columns) -> None:
        """Levels wait for the end."""

    def _judge(self, done: int, before: dict[Group, set[Group]]) -> None:
        """Raise GroupCycleError where groups rest on each other and nothing else changes, or have
        done so for as many iterations as there are groups. `before`: what they have rested on
        since.
        """
        edges = self._edges()
        number = sum(each.version.count for each in self.now.values())
        long = done > number + 2
        if long:
            for target, sources in edges.items():
                before.setdefault(target, set()).update(sources)
            self._refuse(edges if done <= 2 * (number + RISE) else before)
        elif number > _SOME and self._changing() <= ranked(edges)[1]:
            self._refuse(edges)
        self._limit = done + 1 if long else 4 * done

    def _changing(self) -> set[Group]:
        """The groups that have changes waiting."""
        found: set[Group] = set()
        for name, pieces in self._pending.items():
            rows, signed = joined(pieces)
            if len(signed):
                width = len(self._schemas[name].columns) - 1
                found.update((name, key) for key in tuples_of(rows[:width], len(signed)))
        return found

    def _refuse(self, edges: Mapping[Group, set[Group]]) -> None:
        """Raise GroupCycleError for groups that rest on each other."""
        cycle = cycle_of(edges)
        if cycle:
            raise self._error(cycle)

    def _levels_from(self, edges: dict[Group, set[Group]]) -> None:
        """Give all groups their levels. Raises GroupCycleError."""
        self._refuse(edges)
        known, _ = ranked(edges)
        for name, growing in self.now.items():
            version, at = growing.version, self._columns[name]
            columns = version.columns()
            keys = [each for place, each in enumerate(columns) if place != at]
            numbers = [known.get((name, key), 0) for key in tuples_of(keys, version.count)]
            levels = np.array(numbers, np.int64)
            keys = keys or [np.zeros(version.count, np.int64)]
            empty = no_levels(self._schemas[name], self._context.resources.arena)
            self._levels[name] = empty.apply([*keys, levels]) if len(levels) else empty
            self._highest = max([self._highest, *numbers])
