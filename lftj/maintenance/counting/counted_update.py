"""An update of a stratum that counts what it does, as a strategy: the share of an evaluation from
nothing that it may take, and what is known when that is spent.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Protocol

from lftj.errors import ValueRangeError
from lftj.join.strategy import Cost, Exhausted, Strategy, Why
from lftj.maintenance.counting.forecast import allowance, disappointed
from lftj.maintenance.counting.stratum_change import Followed, StratumChange, given_up
from lftj.maintenance.counting.stratum_state import StratumState
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
        """The share of the last evaluation that counted, or a little."""
        allowed = allowance(self.state, self.change.below, self.change.context)
        return Cost(allowed=allowed, worthwhile=allowed is not None)

    def run(self) -> Followed | Exhausted:
        """The stratum, updated."""
        change, budget = self.change, self.change.context.budget
        update, before = self.begin(), budget.spent
        try:
            state, deltas = update.run()
        except (ValueRangeError, OverflowError):
            # Rows that exist in no version may be looked at on the way, such as one that an erased
            # and an inserted row make together, and their values may leave their types: evaluation
            # from nothing decides about failures.
            return Exhausted(Why.VALUES, self.state)
        if state is None:
            after = given_up(self.state.failures + 1)
        else:
            spent, rows = budget.spent - before, change.below.rows
            state = state.experienced(spent, rows)
            after = replace(state, used=not change.proven, failures=0)
        outcome = "bootstrap" if change.proven else "update"
        return Followed(deltas, after, outcome, change.below.rows, update.assignments)

    def stopped(self, allowed: int) -> Exhausted:
        """The state, which expects more of the next one."""
        change = self.change
        return Exhausted(
            Why.BUDGET,
            disappointed(self.state, allowed, change.below),
        )
