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

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from lftj.join.context import Context
from lftj.join.plan.compared import Compared
from lftj.join.plan.order_choice import OrderSearch
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import lay_out
from lftj.join.plan.variable_orders import variables_of
from lftj.join.run.evaluate import Columns
from lftj.join.run.prepared import PreparedPlan
from lftj.join.strategy import within
from lftj.maintenance.inputs.versions import CHANGE, SIGNED, Moves, Versions
from lftj.program.normal_form import (
    Apply,
    Assignment,
    Expression,
    Filter,
    NormalRule,
    PositiveAtom,
    Ref,
    RuleVariable,
)
from lftj.scantree.frozen import record
from lftj.storage.relation import Order
from lftj.types import INT
from lftj.views.lasting_plans import keep_orders, outgrown

Assignments = tuple[Columns, np.ndarray]
"""Needed values of assignments, and how many each row stands for: negative numbers are lost."""


@record
class MoveQuery:
    """The assignments that fulfil one comparison with the new values of an atom and not with the
    old ones, those before it with both, and all others with the new ones.

    The last variable of `rule` is the sign of the move, `first` has those of the move that
    something reads, and `bounded` the one that has values between.
    """

    rule: NormalRule
    needed: tuple[int, ...]
    first: Order
    bounded: Order
    _prepared: PreparedPlan | None = None
    _sizes: tuple[int, ...] = ()

    def run(self, versions: Versions, context: Context) -> Assignments:
        """The values of `needed`, and how many assignments each stands for: negative ones are
        lost. `versions` have the moves as `SIGNED`.
        """
        sizes = tuple([versions[name].count for name in self.rule.reads if name != SIGNED])
        if self._prepared is None or outgrown(self._sizes, sizes):
            plan = self._plan(versions, context)
            self._prepared, self._sizes = PreparedPlan(plan, versions, context), sizes
            keep_orders(plan, versions, context)
        (*columns, signs), proofs, _ = self._prepared.run(versions, context)
        return columns, signs * proofs

    def _plan(self, versions: Versions, context: Context) -> RulePlan:
        """A plan that begins with the moves, and goes through what lies between."""
        outputs = (*self.needed, len(self.rule.variables) - 1)
        statistics = context.statistics
        search = OrderSearch(
            self.rule,
            lambda name: statistics.of(versions[name]),
            lambda name: versions[name].orders(),
            frozenset(outputs),
            0.0,
            context.upkeep,
            tuning=statistics.tuning,
        )
        choice = search.choose_behind(self.first, *self.bounded)
        assert choice is not None, "moves are known before all else"
        return lay_out(self.rule, choice, outputs, versions, count=True)


@record
class Moving:
    """The atom of a rule that reads `CHANGE`, whose values in all but the `fixed` columns are only
    compared, with a query for each comparison.
    """

    fixed: Order
    queries: list[MoveQuery]

    @staticmethod
    def of(rule: NormalRule, needed: tuple[int, ...]) -> Moving | None:
        """None where values of the atom are read in another way."""
        own = next(atom for atom in rule.atoms if atom.relation == CHANGE)
        compared = Compared.of(rule, needed, own)
        if compared is None:
            return None
        return Moving(compared.fixed, [*_queries(rule, needed, own, compared)])

    def run(
        self, moves: Moves, versions: Versions, context: Context, allowed: int
    ) -> list[Assignments] | None:
        """The change that moves make, by each comparison; None where that takes more kernel steps
        than are allowed.
        """
        readable, budget = versions.with_rows(SIGNED, moves.rows), context.budget

        def found() -> list[Assignments] | None:
            return [query.run(readable, context) for query in self.queries]

        spent, price, left = budget.spent, budget.price, budget.left
        most = allowed * price if left is None else min(allowed * price, left)
        pieces = within(budget, most, found, lambda _: None, price)
        budget.extend(spent - budget.spent)
        return pieces


def _queries(
    rule: NormalRule, needed: tuple[int, ...], own: PositiveAtom, compared: Compared
) -> Iterator[MoveQuery]:
    """The queries for the moves of an atom."""
    first = len(rule.variables)
    before = {variable: first + place for place, variable in enumerate(sorted(compared.known))}
    sign = first + len(before)
    old = [arg for arg in own.args if isinstance(arg, Ref) and arg.variable in compared.known]
    moved = PositiveAtom(SIGNED, (Ref(sign), *own.args, *(Ref(before[x.variable]) for x in old)))
    assignments = [
        Assignment(before[each.variable], renamed(each.expression, before))
        for each in rule.assignments
        if each.variable in before
    ]
    with_moves = replace(
        rule,
        variables=(
            *rule.variables,
            *(rule.variables[variable] for variable in before),
            RuleVariable("sign", INT),
        ),
        atoms=tuple(moved if atom is own else atom for atom in rule.atoms),
        assignments=(*rule.assignments, *assignments),
    )
    both: list[Filter] = []
    tests = tuple(test for test, _ in compared.bounds)
    for test, bounded in compared.bounds:
        was = Filter(test.operator, renamed(test.left, before), renamed(test.right, before))
        query = replace(with_moves, filters=(*rule.filters, *tests, *both, was.opposite))
        read = _read(query, moved, {*compared.known, *before.values()}, needed)
        yield MoveQuery(query, needed, (sign, *read), () if bounded is None else (bounded,))
        both.append(was)


def _read(rule: NormalRule, moved: PositiveAtom, known: set[int], needed: tuple[int, ...]) -> Order:
    """The variables of a move, and those computed of them, that something else reads."""
    read = {*needed}
    for test in rule.filters:
        read |= variables_of(test.left) | variables_of(test.right)
    for assignment in rule.assignments:
        read |= variables_of(assignment.expression) | {assignment.variable}
    for atom in (*rule.atoms, *rule.negated):
        if atom is not moved:
            read |= {arg.variable for arg in atom.args if isinstance(arg, Ref)}
    own = known.union(arg.variable for arg in moved.args if isinstance(arg, Ref))
    return tuple(sorted(own & read))


def renamed(expression: Expression, names: Mapping[int, int]) -> Expression:
    """An expression over other variables."""
    match expression:
        case Ref(variable):
            return Ref(names.get(variable, variable))
        case Apply(operator, args, type):
            return Apply(operator, tuple(renamed(each, names) for each in args), type)
    return expression
