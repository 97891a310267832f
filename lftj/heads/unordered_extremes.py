# SPDX-License-Identifier: Apache-2.0
"""The first and the last rows of groups whose rows nobody has in order yet, as `min`, `max` and
`arg_max` read them: told from those before, as long as none of them is erased.

To order all rows takes many times as long as to find the extremes, and most tables are asked for
these alone. So of many rows no order is made before an extreme goes; then the groups begin anew,
with `lftj.heads.ordered_rows`. Texts always have their order: what compares them is made with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from lftj.heads.aggregate_shape import CallShape
from lftj.heads.ends import End, beats, end_of, equal, where
from lftj.heads.kept import Advance, GroupChange
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import equal_runs, sort_order
from lftj.storage.delta import Columns


class OrderNeededError(Exception):
    """An extreme was erased, and the next one is not known. Never leaves the engine: whoever
    follows the head orders its rows.
    """


@frozen(slots=True)
class UnorderedExtremes:
    """Extremes of the columns `args`, none of them texts. `places`: for the least row, the
    greatest or both, the value column of the groups' tree that has each argument; `columns`: those
    of them that no result is published in.
    """

    args: tuple[int, ...]
    places: Mapping[End, tuple[int, ...]]
    columns: tuple[int, ...]

    @property
    def memory(self) -> Mapping[str, int]:
        """Memory beyond the groups' tree: none."""
        return {}

    def advanced(self, change: GroupChange) -> Advance:
        """Tells the extremes from those before and from what came. O(δ log δ). Raises
        OrderNeededError where one was erased that nothing as good takes the place of.
        """
        totals = change.totals
        found = {
            end: self._after(end, change) if totals is None else totals.extremes[end]
            for end in self.places
        }
        return self._holding(
            {end: dict(zip(self.args, rows, strict=True)) for end, rows in found.items()}
        )

    def taken_over(self, old: UnorderedExtremes, values: Sequence[np.ndarray]) -> Advance:
        """The state of groups for which another's tree holds these values: an older one with the
        same arguments, which may be numbered otherwise, and with the ends of this one.
        """
        places = {end.greatest: place for end, place in old.places.items()}
        return self._holding(
            {
                end: {
                    arg: values[at] for arg, at in zip(self.args, places[end.greatest], strict=True)
                }
                for end in self.places
            }
        )

    def serves(self, ends: Mapping[End, object]) -> bool:
        """Test for a state that has all of these ends, whatever their arguments are called."""
        return {end.greatest for end in ends} <= {end.greatest for end in self.places}

    def _holding(self, found: Mapping[End, Mapping[int, np.ndarray]]) -> Advance:
        """The state after a change, with these extremes by argument."""

        def results(call: CallShape) -> np.ndarray:
            end = end_of(call)
            assert end is not None
            return found[end][call.args[0]]

        at = {
            place: found[end][arg]
            for end, places in self.places.items()
            for arg, place in zip(self.args, places, strict=True)
        }
        return Advance(self, [at[place] for place in self.columns], results)

    def _after(self, end: End, change: GroupChange) -> Columns:
        there = change.before[0] > 0
        known = [change.before[place] for place in self.places[end]]
        came, inserted = self._best(end, change, change.net > 0)
        went, erased = self._best(end, change, change.net < 0)
        after = where(came & ~(there & beats(known, inserted, end.greatest)), inserted, known)
        lost = went & equal(erased, known) & ~(came & equal(inserted, after)) & (change.sizes > 0)
        if lost.any():
            raise OrderNeededError
        return after

    def _best(self, end: End, change: GroupChange, which: np.ndarray) -> tuple[np.ndarray, Columns]:
        """Mark the groups of a change with such rows, and find the extreme of these."""
        groups = len(change.sizes)
        some, best = np.zeros(groups, np.bool_), [np.zeros(groups, np.int64) for _ in self.args]
        rows = np.flatnonzero(which)
        if not len(rows):
            return some, best
        run = np.searchsorted(change.starts, rows, side="right") - 1
        columns = [run, *(change.column(arg).take(rows) for arg in self.args)]
        order = sort_order(columns)
        run, *columns = [column.take(order) for column in columns]
        firsts = equal_runs([run], 1)
        picked = np.append(firsts[1:], len(run)) - 1 if end.greatest else firsts
        places = run.take(firsts)
        some[places] = True
        for column, into in zip(columns, best, strict=True):
            into[places] = column.take(picked)
        return some, best


def unordered_extremes(
    calls: Sequence[tuple[CallShape, int]], width: int
) -> list[tuple[UnorderedExtremes, list[CallShape]]]:
    """The states for calls, of which each has the value column that its results are published in,
    with those that each serves. `width`: of the value columns so far, behind which what is not
    published goes.
    """
    by_args: dict[tuple[int, ...], dict[End, dict[CallShape, int]]] = {}
    for call, published in calls:
        if (end := end_of(call)) is not None:
            by_args.setdefault(end.args, {}).setdefault(end, {})[call] = published
    found: list[tuple[UnorderedExtremes, list[CallShape]]] = []
    for args, ends in by_args.items():
        places: dict[End, tuple[int, ...]] = {}
        columns: list[int] = []
        for end, mine in ends.items():
            at = {call.args[0]: published for call, published in reversed(mine.items())}
            for arg in args:
                if arg not in at:
                    at[arg] = width + len(columns)
                    columns.append(at[arg])
            places[end] = tuple(at[arg] for arg in args)
        width += len(columns)
        state = UnorderedExtremes(args, places, tuple(columns))
        found.append((state, list(chain.from_iterable(ends.values()))))
    return found
