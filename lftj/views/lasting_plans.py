# SPDX-License-Identifier: Apache-2.0
"""Plans that run at each commit: the key orders that they read stay, and what makes them stale."""

from __future__ import annotations

from collections.abc import Sequence

from lftj.join.context import Context
from lftj.join.plan.cardinality import stale
from lftj.join.plan.plan import RulePlan
from lftj.maintenance.inputs.versions import SIGNED, Versions
from lftj.types.sources import Role, in_role, without_role

STALE = 8
"""Growth or shrinkage of what a query reads after which it is planned anew."""
STALE_ROWS = 64
"""Rows up to which no growth makes a query stale."""


def outgrown(planned: Sequence[int], now: Sequence[int]) -> bool:
    """Test for relations of other sizes than a plan was made for."""
    return any(stale(*pair, STALE, STALE_ROWS) for pair in zip(now, planned, strict=True))


def keep_orders(plan: RulePlan, readable: Versions, context: Context) -> None:
    """Give the present version every key order that is read in the old one, so that the next commit
    finds it there.
    """
    for name, order in plan.key_orders():
        if name != SIGNED and not in_role(name, Role.PARAMETERS):
            context.resources.kept_orders.setdefault(without_role(name, Role.PREVIOUS), set()).add(
                order
            )
        if in_role(name, Role.PREVIOUS):
            readable[name.name].tree(order)
