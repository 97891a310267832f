# SPDX-License-Identifier: Apache-2.0
"""The variable that is cheapest to bind next, in a body of many variables.

Each variable waits with what its level costs. When one is bound, only those at whose levels that
makes a difference are looked at again, so an order is found in about linear time.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from lftj.join.plan.order_costs import Begun, OrderCosts
from lftj.join.plan.variable_orders import numbers


class NextVariables:
    """The variables of a body that wait; those that are near what is bound come first."""

    def __init__(self, costs: OrderCosts, variables: Iterable[int], begun: Begun) -> None:
        self._costs = costs
        self._variables = frozenset(variables)
        self._near: set[int] = set()
        self._waiting: list[tuple[float, int]] = []
        self._far: list[tuple[float, int]] = []
        self._lookers: list[list[int]] = [[] for _ in range(costs.every)]
        for variable in sorted(self._variables):
            for other in numbers(costs.looked_at(variable)):
                self._lookers[other].append(variable)
            self._offer(begun, variable)

    def bring_near(self, begun: Begun, variables: Iterable[int]) -> None:
        """Have some come before all that are not near."""
        for variable in variables:
            if variable not in self._near:
                self._near.add(variable)
                self._offer(begun, variable)

    def bound(self, begun: Begun, variable: int) -> None:
        """Look again at those for which it makes a difference that a variable is bound."""
        for other in self._lookers[variable]:
            self._offer(begun, other)

    def cheapest(self, begun: Begun) -> int:
        """The one whose level keeps fewest bindings, the first as they are numbered."""
        for waiting in (self._waiting, self._far):
            while waiting:
                kept, variable = waiting[0]
                far = waiting is self._far and variable in self._near
                if not far and self._is_current(begun, variable, kept):
                    return variable
                heappop(waiting)
        raise AssertionError("safety has made sure that every variable can be bound")

    def _offer(self, begun: Begun, variable: int) -> None:
        if variable in self._variables and not begun.bound >> variable & 1:
            kept = self._costs.level(begun.bound, variable).kept
            heappush(self._waiting if variable in self._near else self._far, (kept, variable))

    def _is_current(self, begun: Begun, variable: int, kept: float) -> bool:
        """Check that a variable still waits, with this share kept."""
        if begun.bound >> variable & 1:
            return False
        return self._costs.level(begun.bound, variable).kept == kept
