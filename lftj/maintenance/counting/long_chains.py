# SPDX-License-Identifier: Apache-2.0
"""An update from nothing as a strategy, for strata of many iterations that find little."""

from __future__ import annotations

from dataclasses import replace

from lftj.errors import ValueRangeError
from lftj.join.strategy import Exhausted, Strategy, Why
from lftj.maintenance.counting.patience import updated_from_nothing
from lftj.maintenance.counting.stratum_change import Followed, StratumChange


class LongChains(Strategy[Followed]):
    """An update from nothing, where iterations turned out to be those of a long chain."""

    name = "long chains"
    gate = "recursion.chain"
    change: StratumChange

    def applies(self) -> bool:
        """Tell whether iterations were given up for it."""
        return self.change.gave_up(Why.LONG_CHAIN)

    def run(self) -> Followed | Exhausted:
        """The stratum with counts."""
        change, kept = self.change, self.state
        try:
            state = updated_from_nothing(
                change.schemas, change.rules, change.versions, change.context
            )
        except (ValueRangeError, OverflowError):  # evaluation by iterations decides about failures
            return Exhausted(Why.VALUES, change.uncounted(kept))
        if kept is not None:
            state = replace(state, spent=kept.spent, changes=kept.changes)
        return change.stored(replace(state, least=change.least))
