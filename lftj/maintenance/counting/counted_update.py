# SPDX-License-Identifier: Apache-2.0
"""An update of a stratum that counts what it does, as a strategy: the share of an evaluation from
nothing that it may take, and what is known when that is spent.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Protocol

from lftj.errors import ValueRangeError
from lftj.join.strategy import Cost, Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import STEP
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import UNCOUNTABLE, StratumState
from lftj.storage.delta import Delta


class Update(Protocol):
    """An update of a stratum that counts what it does. None for the state: from there it cannot be
    updated again.
    """

    assignments: int

    def run(self) -> tuple[StratumState | None, dict[str, Delta]]:
        """The new state, and the net changes. Raises what evaluation raises."""
        ...


class CountedUpdate(Strategy[Followed]):
    """An update from counts, begun if it is worth it, and given up when it takes more than it
    may.
    """

    change: StratumChange

    @property
    def counted(self) -> bool:
        """Tell whether proofs are counted, and are to be."""
        change = self.change
        return isinstance(self.state, StratumState) and change.keeps_counts and change.decided

    @abstractmethod
    def begin(self) -> Update:
        """The update, of which nothing is done yet."""

    def forecast(self) -> Cost:
        """A share of an evaluation, or a little."""
        change, context = self.change, self.change.context
        if math.isinf(context.fraction):
            return Cost(price=STEP)
        most = change.allowed(self.state, change.share, context.tuning.elastic_steps)
        return Cost(allowed=most, worthwhile=most is not None, price=STEP)

    def run(self) -> Followed | Exhausted:
        """The stratum, updated. What later updates use too may take as much again."""
        change, budget = self.change, self.change.context.budget
        before, budget.beside = budget.spent, budget.left or 0
        beside = budget.beside
        try:
            update = self.begin()
            state, deltas = update.run()
        except (ValueRangeError, OverflowError):
            # Rows that exist in no version may be looked at on the way, such as one that an erased
            # and an inserted row make together, and their values may leave their types: evaluation
            # from nothing decides about failures.
            return Exhausted(Why.VALUES, self.state)
        finally:
            before, budget.beside = before + beside - budget.beside, 0
        rows = change.below.rows
        after = UNCOUNTABLE if state is None else state.experienced(budget.spent - before, rows)
        outcome = "bootstrap" if change.proven else "update"
        return Followed(deltas, after, outcome, rows, update.assignments)

    def stopped(self, allowed: int) -> Exhausted:
        """The state, which expects more of the next one."""
        return Exhausted(Why.BUDGET, self.change.disappointed(self.state, allowed))
