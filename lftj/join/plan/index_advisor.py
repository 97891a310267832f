# SPDX-License-Identifier: Apache-2.0
"""Index advisor: key orders that no single evaluation is worth, made once many lacked them.

An evaluation for which a new key order costs more than it saves does without, and reads more rows
for it. A thousand that all would read the same one then pay a thousand times: so the order is made
once they lost what it costs (`rent_or_buy`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lftj.join.plan.order_costs import NEW_ORDER
from lftj.join.plan.plan import RulePlan
from lftj.join.rent_or_buy import NOTHING_LOST, Rent
from lftj.storage.relation import Order, RelationVersion
from lftj.tuning import Tuning
from lftj.tuning.aids import INDEX_ADVISOR

_REMEMBERED = 1024

Orders = frozenset[tuple[str, Order]]
"""Key orders of relations that are missing together."""
ADVISED_ORDER_COST = 20_000
"""Cost of a plan, in kernel steps, from which on the index advisor looks for a better one."""


class _Tenant(NamedTuple):
    """A plan that does without `missing` key orders, with which it might take `enough` steps."""

    plan: RulePlan
    missing: Orders
    enough: float


class IndexAdvisor:
    """Work that the evaluations of a workspace did for want of key orders, in kernel steps."""

    def __init__(self) -> None:
        self._advisor: dict[Orders, Rent] = {}
        self._tenants: dict[int, _Tenant] = {}  # by the identity of the plan

    def plan(
        self,
        plan: RulePlan,
        lasting: Callable[[], RulePlan],
        relations: Mapping[str, RelationVersion],
        tuning: Tuning,
    ) -> RulePlan:
        """Choose the plan for the next evaluation: its own plan, or the one for which key orders
        cost nothing, once the missing orders are paid for.

        Wide relations go without: a key order takes much memory for good, and their rows are looked
        through quickly (`semijoin_reduction`).
        """
        if plan.choice.cost < ADVISED_ORDER_COST or INDEX_ADVISOR in tuning.without:
            return plan
        other = lasting()
        missing = frozenset(
            read for read in other.key_orders() if read[1] not in relations[read[0]].orders()
        )
        if (
            not missing
            or plan.choice.cost <= tuning.present_order * other.choice.cost
            or any(len(order) > tuning.narrow_columns for _, order in missing)
        ):
            return plan
        price = sum(NEW_ORDER * relations[name].count for name, _ in missing)
        if self._advisor.get(missing, NOTHING_LOST).due(price):
            del self._advisor[missing]
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
        if len(self._advisor) >= _REMEMBERED:
            self._advisor.clear()
        rent = self._advisor.get(tenant.missing, NOTHING_LOST)
        self._advisor[tenant.missing] = rent.plus(steps - tenant.enough)
