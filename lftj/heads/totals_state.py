"""The kept state of `sum` and `mean` of ints and decimals: an exact total per group, in the head's own tree [LFTJ-IVM 2.3]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lftj.heads.aggregate_shape import CallShape
from lftj.heads.integer_sum import Totals, grouped_totals, means, published_sums
from lftj.heads.kept import Advance, GroupChange
from lftj.types import floats_to_codes

_INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class IntegerTotals:
    """Totals of the argument in column `arg`.

    A published sum is the total, so where the head publishes one, in value column `published` of its tree, nothing else is kept; else the
    total's two words are value columns `at` and `at + 1`.
    """

    arg: int
    published: int | None
    at: int

    @property
    def memory(self) -> Mapping[str, int]:
        """Nothing beyond the head's tree."""
        return {}

    def advanced(self, change: GroupChange) -> Advance:
        """Adds the net change of each group."""
        moved = grouped_totals(change.rows[self.arg], change.net, change.starts)
        return self.holding(self.totals(change.before).merged(moved), change)

    def holding(self, totals: Totals, change: GroupChange) -> Advance:
        """The state of groups that have these totals after a change."""

        def results(call: CallShape) -> np.ndarray:
            if call.function == "sum":
                return published_sums(totals, call.result, change.name)
            return floats_to_codes(means(totals, change.divisors, call.types[0].scale or 0))

        return Advance(self, [] if self.published is not None else [totals.high, totals.low], results)

    def totals(self, values: Sequence[np.ndarray]) -> Totals:
        """The totals of groups for which the head's tree holds these values."""
        if self.published is None:
            return Totals(values[self.at], values[self.at + 1])
        sums = values[self.published]
        return Totals(sums >> 63, sums & _INT64_MAX)
