# SPDX-License-Identifier: Apache-2.0
"""`min` and `max` of groups whose rows nobody has in order yet: told from the results before, as
long as no least or greatest value is erased.

To order all rows takes many times as long as to find the extremes, and most tables are asked for
these alone. So of many rows no order is made before an extreme goes; then the groups begin anew,
with `lftj.heads.ordered_rows`. Texts always have their order: what compares them is made with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lftj.functions.aggregates import GREATEST
from lftj.heads.aggregate_shape import CallShape
from lftj.heads.kept import Advance, GroupChange
from lftj.scantree.frozen import frozen

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


class OrderNeededError(Exception):
    """An extreme was erased, and the next one is not known. Never leaves the engine: whoever
    follows the head orders its rows.
    """


@frozen(slots=True)
class UnorderedExtremes:
    """Extremes of the argument in column `arg`, which is no text. `published`: by function, the
    value column of the groups' tree that holds its results.
    """

    arg: int
    published: Mapping[str, int]

    @property
    def memory(self) -> Mapping[str, int]:
        """Memory beyond the groups' tree: none."""
        return {}

    def advanced(self, change: GroupChange) -> Advance:
        """Tells the extremes from those before and from what came. O(δ). Raises OrderNeededError
        where one was erased that nothing as good takes the place of.
        """
        if change.totals is not None:
            extremes = change.totals.extremes
            return Advance(self, [], lambda call: extremes[call.function, self.arg])
        found = {function: self._after(function, change) for function in self.published}
        return Advance(self, [], lambda call: found[call.function])

    def results(self, values: Sequence[np.ndarray], call: CallShape) -> np.ndarray:
        """The results of a call in groups for which their tree holds these values."""
        return values[self.published[call.function]]

    def _after(self, function: str, change: GroupChange) -> np.ndarray:
        better, worst = (
            (np.maximum, _INT64_MIN) if function in GREATEST else (np.minimum, _INT64_MAX)
        )
        known = np.where(change.before[0] > 0, change.before[self.published[function]], worst)

        def best(which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Mark the groups with such rows, and find the best value among these."""
            values = np.where(which, change.rows[self.arg], worst)
            some = np.logical_or.reduceat(which, change.starts)
            return some, better.reduceat(values, change.starts)

        came, inserted = best(change.net > 0)
        went, erased = best(change.net < 0)
        after = better(known, inserted)
        lost = went & (erased == known) & ~(came & (inserted == after)) & (change.sizes > 0)
        if lost.any():
            raise OrderNeededError
        return after
