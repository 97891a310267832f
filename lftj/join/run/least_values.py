# SPDX-License-Identifier: Apache-2.0
"""A head that asks for nothing but the least value of each group: its search may end at the first
row of a group.

In next(t, min(s)) :- at(t), event(s), s > t. each t has as many proofs as there are later events;
to keep them all would take quadratic room. The search in the order t, s finds the least s first,
and what it looked at up to there is all that it depends on [LFTJ-IVM 2.2.1]. So such a rule is
maintained by the trace of that search, and its head is given one row for each group.
"""

from __future__ import annotations

from lftj.join.context import Context
from lftj.join.plan.cardinality import unevenness
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import plan_behind
from lftj.join.plan.variable_orders import variables_of
from lftj.join.run.evaluate import Relations
from lftj.program.arithmetic import may_fail
from lftj.program.normal_form import AggregateTerm, NormalRule

_LEAST_PROOFS = 4.0
"""Proofs for each row read up to which all values of a group are kept; beyond, the trace of a
search for the least: time of one against memory of the other.
"""


def least_plan(rule: NormalRule, relations: Relations, context: Context) -> RulePlan | None:
    """The plan that finds the least value of each group and no other; None where the head asks for
    more, or no variable order does it.

    Not where arithmetic may fail for one row of a group and not for another: whether it does must
    not depend on how far the search goes.
    """
    calls = {(term.function, term.args) for term in rule.head if isinstance(term, AggregateTerm)}
    if len(calls) != 1:
        return None
    ((function, args),) = calls
    if function != "min" or len(args) != 1:
        return None
    (value,), group = [arg.variable for arg in args], tuple(dict.fromkeys(rule.group))
    type = rule.variables[value].type
    if value in group or type.name == "str":  # texts stand in the order of their codes
        return None
    if type.optional:  # a group begins with NULL
        return None
    computed = [
        *(each.expression for each in rule.assignments),
        *(side for test in rule.filters for side in (test.left, test.right)),
    ]
    if any(may_fail(each) and not variables_of(each) <= set(group) for each in computed):
        return None
    # in next(a, min(s)) :- at(a, t), event(s), s > t. the least s behind each t of an a comes first
    beside = [
        v
        for test in rule.filters
        if value in (read := variables_of(test.left) | variables_of(test.right))
        for v in sorted(read)
        if v not in (value, *group)
    ]
    for more in dict.fromkeys((tuple(dict.fromkeys(beside)), ())):
        plan = plan_behind(
            rule, (*group, *more), (*group, value), relations, context.statistics, least=True
        )
        if plan is not None and (not more or _few_before(plan, value, relations)):
            return plan
    return None


def _few_before(plan: RulePlan, value: int, relations: Relations) -> bool:
    """Test for no more bindings before the value than there are rows to find them in, about."""
    place = plan.choice.order.index(value)
    before = plan.choice.bindings[place - 1] if place and plan.choice.bindings else 1.0
    return before <= _LEAST_PROOFS * _rows_read(plan, relations)


def _rows_read(plan: RulePlan, relations: Relations) -> int:
    """Number of rows of all atoms."""
    return sum(relations[atom.relation].count for atom in plan.rule.atoms)


def many_proofs(plan: RulePlan, relations: Relations, context: Context) -> bool:
    """Test for a body expected to have many more proofs in all than there are rows to find them
    in.
    """
    read = _rows_read(plan, relations)
    return (
        bool(plan.choice.bindings)
        and plan.choice.bindings[-1]
        * unevenness(plan.rule, relations, context.statistics, context.resources.dictionary)
        > _LEAST_PROOFS * read
    )
