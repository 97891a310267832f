"""Plans of joins: variable orders, their costs, statistics, and the choice of indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
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

__getattr__ = exporting(
    __name__,
    {
        "cardinality": "RelationStatistics Statistics",
        "index_advisor": "ADVISED_ORDER_COST",
        "order_costs": "NEW_ORDER",
        "plan": "PlannedAtom RulePlan",
    },
)
