# SPDX-License-Identifier: Apache-2.0
"""Rows that take the place of others where a rule only compares their values: the clock of a time
window, or a limit. What changes lies between the old value and the new one.

In recent(c, sum(a)) :- now(t), order(c, a, d), d <= t, d > t - 7. a clock that moves from t to t'
wins the assignments that fulfil all comparisons with t', and not all of them with t. The first one
that fails with t tells these apart. So for each comparison one query finds what fulfils it with t'
and not with t: a range in the key order that begins with d. What is lost is won by the move back.
Delta queries for the two rows would read the window twice.

Rows that come are put beside rows that go by their values in the columns that are joined, in
ascending order, so that each moves by little. Other rows have no part in this.
"""

from __future__ import annotations

import numpy as np

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns
from lftj.join.strategy import within
from lftj.maintenance.inputs.moved_rules import MovedRule, moved_rules
from lftj.maintenance.inputs.versions import SIGNED, Moves, Versions
from lftj.program.normal_form import NormalRule
from lftj.scantree.frozen import record
from lftj.storage.relation import Order
from lftj.views.lasting_plans import LastingQuery

Assignments = tuple[Columns, np.ndarray]
"""Needed values of assignments, and how many each row stands for: negative numbers are lost."""


@record
class Moving:
    """The atom of a rule that reads `CHANGE`, whose values in all but the `fixed` columns are only
    compared, with a query for each comparison.
    """

    fixed: Order
    queries: list[LastingQuery]

    @staticmethod
    def of(rule: NormalRule, needed: tuple[int, ...]) -> Moving | None:
        """None where values of the atom are read in another way."""
        found = moved_rules(rule, needed)
        if found is None:
            return None
        fixed, moved = found
        return Moving(fixed, [_query(each, needed) for each in moved])

    def run(
        self, moves: Moves, versions: Versions, context: Context, allowed: int
    ) -> list[Assignments] | None:
        """The change that moves make, by each comparison; None where that takes more kernel steps
        than are allowed.
        """
        readable, budget = versions.with_rows(SIGNED, moves.rows), context.budget

        def found() -> list[Assignments] | None:
            return [_signed(*query.run(readable, context)) for query in self.queries]

        spent, price, left = budget.spent, budget.price, budget.left
        most = allowed * price if left is None else min(allowed * price, left)
        pieces = within(budget, most, found, lambda _: None, price)
        budget.extend(spent - budget.spent)
        return pieces


def _query(moved: MovedRule, needed: tuple[int, ...]) -> LastingQuery:
    """The query of a moved rule: the needed variables, then the sign of the move."""
    outputs = (*needed, len(moved.rule.variables) - 1)
    others = tuple([name for name in moved.rule.reads if name != SIGNED])
    return LastingQuery(moved.rule, outputs, moved.first, moved.bounded, others)


def _signed(columns: Columns, proofs: np.ndarray) -> Assignments:
    """The needed values, and how many assignments each stands for: negative ones are lost."""
    *values, signs = columns
    return values, signs * proofs
