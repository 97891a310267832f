# SPDX-License-Identifier: Apache-2.0
"""Assignments of a group that have all values which an aggregate of optional columns takes, counted
beside all assignments: `sum(y)` is of these alone, and NULL where there are none.

*State kept:* per group η, and for each list of optional columns that some aggregate takes the
number of assignments without NULL in them. The state behind a function sees a change of these
assignments, and of the groups that have some; so it knows nothing of NULL.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.functions.aggregates import COUNTING, COUNTS
from lftj.heads.aggregate_shape import CallShape
from lftj.heads.changes import divided
from lftj.heads.kept import Advance, GroupChange, Kept
from lftj.scantree.frozen import frozen
from lftj.types import NULL_CODE


def rows_with_values(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Mark the rows without NULL in these columns, one at least. O(n)."""
    first, *more = columns
    there = first != NULL_CODE
    for column in more:
        there &= column != NULL_CODE
    return there


def missing_in(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Codes of rows, of which those with NULL in one of the columns have it. O(n), O(1) for one."""
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0])
    return np.where(rows_with_values(columns), 0, NULL_CODE)


def of_values(function: str, found: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The codes of a function's results in groups with so many assignments with values: what is
    found, and of no values 0 or NULL.
    """
    if function in COUNTS:
        return counts
    nothing = 0 if function in COUNTING else NULL_CODE
    some = counts > 0
    return found if some.all() else np.where(some, found, nothing)


@frozen(slots=True)
class Valued:
    """The part of a change that has values. `change`: that part, None where there is none;
    `places`: its groups among those of the whole change, None for all; `counts`: of all groups the
    assignments with values afterwards.
    """

    whole: GroupChange
    change: GroupChange | None
    places: np.ndarray | None
    counts: np.ndarray

    @staticmethod
    def of_part(
        whole: GroupChange, part: GroupChange, moved: np.ndarray, places: np.ndarray | None, at: int
    ) -> Valued:
        """The part that `part` has the rows of, in groups that stand at these `places` and grow by
        so much.
        """
        before = whole.before[at]
        if not len(part.net):
            return Valued(whole, None, None, before)
        if places is None:
            counts = before + moved
        else:
            counts = before.copy()
            counts[places] += moved
        return Valued(whole, _of_groups(part, places, before, counts), places, counts)

    @staticmethod
    def of(change: GroupChange, args: tuple[int, ...], at: int, width: int) -> Valued:
        """The part without NULL in columns `args`. `at`: the value column of the groups' tree that
        has the number of these assignments; `width`: how many columns are the group.
        """
        before = change.before[at]
        if change.totals is not None:
            counts = change.totals.values[args]
            return Valued(change, change._replace(sizes=counts), None, counts)
        there = rows_with_values([change.column(arg) for arg in args])
        if there.all():
            counts = before + (change.sizes - change.before[0])
            return Valued(change, _of_groups(change, None, before, counts), None, counts)
        kept = np.flatnonzero(there)
        if not len(kept):
            return Valued(change, None, None, before)
        rows, net = np.empty((len(change.rows), len(kept)), np.int64), change.net.take(kept)
        for line, into in zip(change.rows, rows, strict=True):
            line.take(kept, out=into, mode="clip")
        starts, moved = divided(rows, net, width)
        places = np.searchsorted(change.starts, kept.take(starts), side="right") - 1
        part = change._replace(rows=rows, net=net, starts=starts)
        return Valued.of_part(change, part, moved, places, at)

    def advanced(self, state: Kept, columns: Sequence[int]) -> Advance:
        """A state after this part of a change, with results and columns for all groups. `columns`:
        those that the state has in the groups' tree.
        """
        before = self.whole.before
        if self.change is None:
            return Advance(state, [before[at] for at in columns], lambda _: self.counts)
        found = state.advanced(self.change)
        kept = [
            self._spread(column, before[at])
            for column, at in zip(found.columns, columns, strict=True)
        ]
        return Advance(found.state, kept, found.results)

    def results(self, call: CallShape, advance: Advance | None, published: int) -> np.ndarray:
        """The results of a call in all groups. `published`: the value column with those before."""
        if advance is None or self.change is None:
            found = self.whole.before[published]
        else:
            found = self._spread(advance.results(call), self.whole.before[published])
        return of_values(call.function, found, self.counts)

    def _spread(self, found: np.ndarray, before: np.ndarray) -> np.ndarray:
        """The results found in some groups, among those that were known of all."""
        if self.places is None:
            return found
        spread = before.copy()
        spread[self.places] = found
        return spread


def _of_groups(
    change: GroupChange, places: np.ndarray | None, before: np.ndarray, counts: np.ndarray
) -> GroupChange:
    """The change of some groups, or of all, in which nothing is known of those that had no values
    `before`. `counts`: of values afterwards.
    """
    known = change.before
    if places is None:
        if (before == known[0]).all() and (counts == change.sizes).all():
            return change
    else:
        known = [column.take(places) for column in known]
        before, counts = before.take(places), counts.take(places)
        whole = change.name
        change = change._replace(
            groups=change.groups.take(places, axis=1),
            name=lambda group: whole(int(places[group])),
        )
    had = before > 0
    if not had.all():
        known = [np.where(had, column, 0) for column in known]
    return change._replace(before=[before, *known[1:]], sizes=counts)
