# SPDX-License-Identifier: Apache-2.0
"""Limits of hidden counts: where all that read one take it below a constant, as the ten greatest of
a group do, greater counts need not be followed.

A count may then stand as the least one that no reader takes. Each filter behind the limit admits
what is less, so whatever stands there is rejected as the count itself would be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lftj.functions.aggregates import COUNTS
from lftj.program.bindings import of_expressions
from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Expression,
    FunctorRule,
    NormalRule,
    Ref,
    Value,
)
from lftj.types.sources import is_hidden

Rules = Sequence[NormalRule | FunctorRule]


def limited(rules: Rules) -> Iterator[NormalRule | FunctorRule]:
    """The rules that one rule of the user became, the hidden counts among them with their limits.
    O(rules²).
    """
    for rule in rules:
        column = _count_column(rule)
        most = None if column is None else _most(rule.relation, column, rules)
        if most is None or not isinstance(rule, NormalRule):
            yield rule
        else:
            yield replace(rule, limit=max(most + 1, 1))


def _count_column(rule: NormalRule | FunctorRule) -> int | None:
    """The column of a hidden count, where that is all that is aggregated."""
    if isinstance(rule, FunctorRule) or not is_hidden(rule.relation):
        return None
    found = [n for n, term in enumerate(rule.head) if isinstance(term, AggregateTerm)]
    if len(found) != 1:
        return None
    (column,) = found
    term = rule.head[column]
    counts = isinstance(term, AggregateTerm) and term.function in COUNTS and not term.args
    return column if counts else None


def _most(relation: str, column: int, rules: Rules) -> int | None:
    """The greatest number that some reader of a hidden relation takes from one of its columns; None
    where there is no bound.
    """
    found: list[int] = []
    for rule in rules:
        if relation not in rule.reads:
            continue
        if isinstance(rule, FunctorRule):
            return None
        if any(
            each.relation == relation and each.args[column] is not None for each in rule.negated
        ):
            return None
        for atom in rule.atoms:
            if atom.relation == relation:
                most = _most_of(rule, atom.args[column], rules)
                if most is None:
                    return None
                found.append(most)
    return max(found, default=None)


def _most_of(rule: NormalRule, arg: Ref | Value, rules: Rules) -> int | None:
    """The greatest value of a whole number in a rule: that of the constant; what filters admit; or
    what the readers of a hidden relation take that has it in its head.
    """
    if isinstance(arg, Value):
        return arg.value if isinstance(arg.value, int) else None
    equal = {each.variable: each.expression for each in rule.assignments}
    bounds = list(_bounds(rule, arg.variable, equal))
    if bounds:
        return min(bounds)
    if (tested := _tested(rule, arg.variable)) is not None:
        return tested
    heads = [n for n, term in enumerate(rule.head) if term == arg]
    if is_hidden(rule.relation) and len(heads) == 1:
        return _most(rule.relation, heads[0], rules)
    return None


def _tested(rule: NormalRule, variable: int) -> int | None:
    """The greatest constant that decides a comparison with a variable, where such comparisons are
    all that is asked of it: any greater value does as well as this one and one more.
    """
    found, used = list[int](), list[Expression | None]()
    for each in rule.filters:
        test = each if each.left == Ref(variable) else each.turned
        limit = _whole(test.right)
        if test.left == Ref(variable) and limit is not None:
            found.append(limit - (test.operator in ("<", ">=")))
        else:
            used += test.left, test.right
    for assignment in rule.assignments:
        used += Ref(assignment.variable), assignment.expression
    for atom in (*rule.atoms, *rule.negated):
        used += atom.args
    for term in rule.head:
        used += term.args if isinstance(term, AggregateTerm) else (term,)
    once = sum(variable in of_expressions((each,)) for each in used) == 1
    return max(found) if found and once else None


def _bounds(rule: NormalRule, variable: int, equal: Mapping[int, Expression]) -> Iterator[int]:
    """The greatest values that filters and equations with constants admit."""
    for test in rule.filters:
        for each in (test, test.turned):
            limit = _whole(each.right)
            if limit is not None and each.operator in ("<", "<="):
                yield from _solved(each.left, limit - (each.operator == "<"), variable, equal)
    for place, expression in equal.items():
        if (limit := _whole(expression)) is not None:
            others = {known: each for known, each in equal.items() if known != place}
            yield from _solved(Ref(place), limit, variable, others)


def _solved(
    term: Expression, most: int, variable: int, equal: Mapping[int, Expression]
) -> Iterable[int]:
    """The greatest value of a variable for which a term of it, with constants added to it, is not
    greater than a number; nothing where it is no such term.
    """
    waiting = dict(equal)
    while True:
        match term:
            case Ref(variable=found) if found == variable:
                return [most]
            case Ref(variable=found) if found in waiting:
                term = waiting.pop(found)
            case Apply(operator="+", args=(Value(value=int(more)), other)):
                term, most = other, most - more
            case Apply(operator="+", args=(other, Value(value=int(more)))):
                term, most = other, most - more
            case Apply(operator="-", args=(other, Value(value=int(more)))):
                term, most = other, most + more
            case _:
                return []


def _whole(term: Expression) -> int | None:
    return term.value if isinstance(term, Value) and isinstance(term.value, int) else None
