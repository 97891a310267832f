# SPDX-License-Identifier: Apache-2.0
"""Plans that run at each commit: the key orders that they read stay, and what makes them stale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.join.context import Context
from lftj.join.plan.cardinality import stale
from lftj.join.plan.order_choice import OrderSearch
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import lay_out
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.inputs.versions import SIGNED, Versions
from lftj.program.normal_form import NormalRule
from lftj.scantree.frozen import record
from lftj.storage.delta import Columns
from lftj.storage.relation import Order
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


@record
class LastingQuery:
    """A rule that reads `SIGNED` rows, whose plan begins with their variables `first`, then goes
    through what lies between where one is `bounded`. It is planned again where relations of `sized`
    have other sizes by far. `outputs`: the variables of its result.
    """

    rule: NormalRule
    outputs: tuple[int, ...]
    first: Order
    bounded: Order
    sized: tuple[str, ...]
    _prepared: PreparedPlan | None = None
    _sizes: tuple[int, ...] = ()

    def run(self, versions: Versions, context: Context) -> tuple[Columns, np.ndarray]:
        """The outputs, and how many assignments each row of them stands for."""
        sizes = tuple([versions[name].count for name in self.sized])
        if self._prepared is None or outgrown(self._sizes, sizes):
            plan = self._plan(versions, context)
            self._prepared, self._sizes = PreparedPlan(plan, versions, context), sizes
            keep_orders(plan, versions, context)
        columns, proofs, _ = self._prepared.run(versions, context)
        return columns, proofs

    @property
    def begun(self) -> Order:
        """The places among the outputs of the variables that the plan of the last run begins with,
        which are all outputs: the order of the rows.
        """
        assert self._prepared is not None, "it has run"
        order = self._prepared.plan.choice.order
        return tuple([self.outputs.index(each) for each in order[: len(self.first)]])

    def _plan(self, versions: Versions, context: Context) -> RulePlan:
        statistics = context.statistics
        search = OrderSearch(
            self.rule,
            lambda name: statistics.of(versions[name]),
            lambda name: versions[name].orders(),
            frozenset(self.outputs),
            0.0,
            context.upkeep,
            tuning=statistics.tuning,
        )
        choice = search.choose_behind(self.first, *self.bounded)
        assert choice is not None, "signed rows are known before all else"
        return lay_out(self.rule, choice, self.outputs, versions, count=True)
