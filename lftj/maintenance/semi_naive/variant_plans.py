# SPDX-License-Identifier: Apache-2.0
"""Plans of the variants of recursive rules, from iteration to iteration.

Deltas grow and shrink, and the plan for one serves the next: choosing a variable order takes as
long as running one on some thousand rows. A new plan is chosen for a delta that is much larger, and
when the kernel steps without a result equal the cost of another plan, or of another key order of a
relation.
"""

from __future__ import annotations

from collections.abc import Callable

from lftj.join.context import Context
from lftj.join.plan.plan import RulePlan
from lftj.join.run.evaluate import Relations, plan_rule
from lftj.maintenance.semi_naive.variants import Variant
from lftj.storage.transient_relation import AnyOrder

# kernel steps for a row of the delta or of the output; what is beyond went into rows that were of
# no use
STEPS_PER_ROW = 4
_ORDER_COST = 2  # kernel steps that a row costs in a new key order
_VARIANT_STALE = 8
"""Growth or shrinkage of a delta after which a variant is planned anew."""
_VARIANT_STALE_ROWS = 1000
"""Deltas for which no order is so bad that choosing another pays."""
_PLAN_STEPS = 50_000
"""Steps in the time that choosing a variable order takes: the price of rent or buy."""


class VariantPlans:
    """Chooses plans in the surroundings of one fixpoint. `kept` is told of every variant with a new
    plan.

    `lasting`: whether others like it come at many commits, so that key orders are worth building.
    """

    def __init__(
        self,
        context: Context,
        counting: bool,
        kept: Callable[[Variant], None],
        lasting: bool = False,
    ):
        self._context = context
        self._counting = counting
        self._lasting = lasting
        self._kept = kept

    def plan(self, variant: Variant, size: int, readable: Relations) -> RulePlan:
        """The plan for a variant whose delta has so many rows."""
        grown = size > max(_VARIANT_STALE_ROWS, variant.planned_for * _VARIANT_STALE)
        fell = variant.planned_for > max(_VARIANT_STALE_ROWS, size * _VARIANT_STALE)
        shrunk = fell and variant.rent.lost > _PLAN_STEPS
        if variant.plan is None or grown or shrunk or variant.rent.due(_PLAN_STEPS):
            self._look_for_another(variant, size, readable, grown or shrunk)
        assert variant.plan is not None
        return variant.plan

    def _look_for_another(
        self, variant: Variant, size: int, readable: Relations, other: bool
    ) -> None:
        read = (atom.relation for atom in (*variant.rule.atoms, *variant.rule.negated))
        seen = {name: readable[name] for name in read}
        if variant.rent.due(price_of_orders(variant, readable)):
            seen |= {name: AnyOrder(readable[name]) for name in variant.others}
            other, variant.rent = True, variant.rent.paid()
        if variant.plan is None or other:
            needed, count, lasting = variant.needed, self._counting, self._lasting
            variant.plan = plan_rule(
                variant.rule,
                seen,
                self._context,
                needed=needed,
                count=count,
                lasting=lasting,
                repeated=not lasting,
            )
            variant.planned_for = size
            self._kept(variant)


def price_of_orders(variant: Variant, readable: Relations) -> float:
    """The price, in kernel steps, of a plan for which key orders are made of all that a variant
    reads beside the delta.
    """
    return max(_PLAN_STEPS, _ORDER_COST * sum(readable[name].count for name in variant.others))


def account(variant: Variant, size: int, steps: int, found: int) -> None:
    """Note what a run took: kernel steps for a delta of `size` rows and `found` candidates."""
    variant.pace = steps / max(size, 1)
    variant.idle = max(0, steps - STEPS_PER_ROW * (size + found))
    variant.rent = variant.rent.plus(variant.idle)
