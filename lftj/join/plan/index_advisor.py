"""Rent or buy: when to make a key order that no single evaluation is worth.

An evaluation for which a new key order costs more than it saves does without, and reads more rows
for it. A thousand that all would read the same one then pay a thousand times. Nobody knows how many
are still to come. So what they took is added up, and once that is as much as making the order
costs, it is made: in all at most about twice what would have been best, however many come [Karlin,
Manasse, Rudolph and Sleator, Competitive Snoopy Caching, 1988].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lftj.join.plan.order_costs import NARROW, NEW_ORDER
from lftj.join.plan.plan import RulePlan
from lftj.storage.relation import Order, RelationVersion

# kernel steps that a plan is expected to take, below which looking for another one takes longer
_WORTH_A_LOOK = 20_000.0
_REMEMBERED = 1024

Orders = frozenset[tuple[str, Order]]
"""Key orders of relations that are missing together."""


class _Tenant(NamedTuple):
    """A plan that does without `missing` key orders, with which it might take `enough` steps."""

    plan: RulePlan
    missing: Orders
    enough: float


class Rents:
    """What the evaluations of a workspace took for want of key orders, in kernel steps."""

    def __init__(self) -> None:
        self._paid: dict[Orders, float] = {}
        self._tenants: dict[int, _Tenant] = {}  # by the identity of the plan

    def plan(
        self,
        plan: RulePlan,
        lasting: Callable[[], RulePlan],
        relations: Mapping[str, RelationVersion],
    ) -> RulePlan:
        """For the next evaluation: its own plan, or the one for which key orders cost nothing, once
        those that are missing are paid for.

        Wide relations go without: a key order takes much memory for good, and their rows are looked
        through quickly (`semijoin_reduction`).
        """
        if plan.choice.cost < _WORTH_A_LOOK:
            return plan
        other = lasting()
        missing = frozenset(
            read for read in other.key_orders() if read[1] not in relations[read[0]].orders()
        )
        if (
            not missing
            or plan.choice.cost <= other.choice.cost
            or any(len(order) > NARROW for _, order in missing)
        ):
            return plan
        if self._paid.get(missing, 0.0) >= sum(
            NEW_ORDER * relations[name].count for name, _ in missing
        ):
            self._paid.pop(missing, None)
            return other
        if len(self._tenants) >= _REMEMBERED:
            self._tenants.clear()
        self._tenants[id(plan)] = _Tenant(plan, missing, other.choice.cost)
        return plan

    def took(self, plan: RulePlan, steps: int) -> None:
        """Note what the evaluation of a plan took."""
        tenant = self._tenants.pop(id(plan), None)
        if tenant is None or steps <= tenant.enough:
            return
        if len(self._paid) >= _REMEMBERED:
            self._paid.clear()
        self._paid[tenant.missing] = self._paid.get(tenant.missing, 0.0) + steps - tenant.enough
