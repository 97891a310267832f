# SPDX-License-Identifier: Apache-2.0
"""Rules of a stratum that are evaluated at many commits, each time on a small number of rows: with
their variants and plans, which last from commit to commit.

Making these takes longer than a run on some hundred rows. One evaluation at a time may use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lftj.join.context import Context
from lftj.join.plan.cardinality import stale
from lftj.join.run.evaluate import Relations, plan_rule
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.rules.full_evaluation import head_picks
from lftj.maintenance.semi_naive.variant_plans import price_of_orders
from lftj.maintenance.semi_naive.variants import Variant, recursive_atoms, variants
from lftj.program.normal_form import NormalRule, RelationSchema

_FIXPOINT_STALE = 4
"""Growth or shrinkage of a relation below after which plans kept from commit to commit are made
anew.
"""
_FIXPOINT_STALE_ROWS = 64
"""Rows up to which no growth makes these stale."""


class PreparedRules:
    """`rules` as they are evaluated. `begin` before each evaluation; then `variants` are the
    recursive ones, `seeds` the others.
    """

    def __init__(self, schemas: Mapping[str, RelationSchema], rules: Sequence[NormalRule]):
        self.rules = rules
        self._schemas = schemas
        self._sizes: dict[str, int] = {}
        self._make()

    def _make(self) -> None:
        self.variants = [
            variant for rule in self.rules for variant in variants(rule, self._schemas)
        ]
        self.seeds = [
            Variant(rule, "", *head_picks(rule))
            for rule in self.rules
            if not recursive_atoms(rule, self._schemas)
        ]

    def begin(self, below: Relations) -> None:
        """Make ready for an evaluation over these relations below the stratum."""
        if any(
            name not in below
            or stale(below[name].count, size, _FIXPOINT_STALE, _FIXPOINT_STALE_ROWS)
            for name, size in self._sizes.items()
        ):
            self._sizes = {}
            self._make()
        self._sizes = self._sizes or {name: relation.count for name, relation in below.items()}
        for variant in self.variants:
            variant.begin()

    def seed(self, variant: Variant, below: Relations, context: Context) -> PreparedPlan:
        """The plan of a seed over relations below. The first plan makes no key order that costs
        more than one run without it; a later one does, once runs have lost as much.
        """
        due = variant.rent.due(price_of_orders(variant, below))
        if variant.plan is None or due:
            variant.plan = plan_rule(
                variant.rule, below, context, needed=variant.needed, count=False, lasting=due
            )
            variant.rent = variant.rent.paid() if due else variant.rent
            variant.idle_plans = [PreparedPlan(variant.plan, below, context)]
        return variant.idle_plans[0]
