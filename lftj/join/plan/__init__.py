# SPDX-License-Identifier: Apache-2.0
"""Plans of joins: variable orders, their costs, statistics, and the choice of indexes."""

from __future__ import annotations

from lftj.join.plan.cardinality import RelationStatistics, Statistics
from lftj.join.plan.index_advisor import ADVISED_ORDER_COST
from lftj.join.plan.order_costs import NEW_ORDER
from lftj.join.plan.plan import PlannedAtom, RulePlan

__all__ = [
    "ADVISED_ORDER_COST",
    "NEW_ORDER",
    "PlannedAtom",
    "RelationStatistics",
    "RulePlan",
    "Statistics",
]
