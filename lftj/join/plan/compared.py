# SPDX-License-Identifier: Apache-2.0
"""Atoms whose values a rule only compares, as those of a clock or a limit: which they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from lftj.join.plan.comparison_bounds import ends, least
from lftj.join.plan.variable_orders import variables_of
from lftj.program.normal_form import Apply, Expression, Filter, NormalRule, PositiveAtom, Ref
from lftj.scantree import PAGE_COLUMNS
from lftj.scantree.frozen import frozen
from lftj.storage.relation import Order


@frozen(slots=True)
class Compared:
    """An atom whose values in the columns `moving` a rule only compares with those of others; the
    other ones are `fixed`.

    `known`: the variables of the moving columns, and those that are computed of nothing else.
    `bounds`: the comparisons, each with the variable whose values it bounds, if there is one.
    """

    fixed: Order
    moving: Order
    known: frozenset[int]
    bounds: tuple[tuple[Filter, int | None], ...]

    @staticmethod
    def of(rule: NormalRule, needed: Iterable[int], own: PositiveAtom) -> Compared | None:
        """The comparisons of an atom of a rule; None where there are none, or one of them is with
        something else than one column of another atom that it bounds.
        """
        args = [arg.variable for arg in own.args if isinstance(arg, Ref)]
        taken = {*needed, *(v for v in args if args.count(v) > 1), *_joined(rule, own)}
        tested = _only_tested(rule, needed)
        values = _only_compared(rule, {*args} - taken, taken, tested)
        known, bounds = _computed(rule, values), list[tuple[Filter, int | None]]()
        for each in rule.filters:
            test = Filter(each.operator, _inlined(each.left, tested), _inlined(each.right, tested))
            read = variables_of(test.left) | variables_of(test.right)
            if read.isdisjoint(known):
                continue
            others = read - known
            if len(others) > 1 or not others.isdisjoint(args):
                return None  # nothing lies between where a row says both sides
            if not all(_bounded(test, variable, rule) for variable in others):
                return None
            bounds.append((test, next(iter(others), None)))
        moving = [
            column
            for column, arg in enumerate(own.args)
            if isinstance(arg, Ref) and arg.variable in values
        ]
        wide = 1 + len(own.args) + len(moving) > PAGE_COLUMNS
        if wide or all(variable is None for _, variable in bounds):
            return None
        fixed = [column for column in range(len(own.args)) if column not in moving]
        return Compared(tuple(fixed), tuple(moving), known, tuple(bounds))


def _joined(rule: NormalRule, own: PositiveAtom) -> set[int]:
    """The variables of all other atoms."""
    others = (*(atom for atom in rule.atoms if atom is not own), *rule.negated)
    return {arg.variable for atom in others for arg in atom.args if isinstance(arg, Ref)}


def _only_tested(rule: NormalRule, needed: Iterable[int]) -> dict[int, Expression]:
    """The variables that are computed in one way, for comparisons and nothing else, with what
    they are computed of.
    """
    used = [*needed]
    for each in rule.assignments:
        used += each.variable, *variables_of(each.expression)
    for atom in (*rule.atoms, *rule.negated):
        used += [arg.variable for arg in atom.args if isinstance(arg, Ref)]
    return {a.variable: a.expression for a in rule.assignments if used.count(a.variable) == 1}


def _inlined(expression: Expression, computed: Mapping[int, Expression]) -> Expression:
    """An expression in which variables give way to what they are computed of."""
    match expression:
        case Ref(variable):
            return computed.get(variable, expression)
        case Apply(operator, args, type):
            return Apply(operator, tuple(_inlined(each, computed) for each in args), type)
    return expression


def _only_compared(
    rule: NormalRule, values: set[int], taken: set[int], tested: Collection[int]
) -> frozenset[int]:
    """Some variables, but for those of which something is computed that is asked for otherwise, or
    that is computed of others as well.
    """
    while True:
        known, lost = _computed(rule, values), set[int]()
        for assignment in rule.assignments:
            variable, read = assignment.variable, variables_of(assignment.expression) & known
            if variable in tested:
                continue
            if variable in values:
                lost.add(variable)
            if read and (variable not in known or variable in taken):
                lost |= _sources(rule, read) & values
        if not lost:
            return frozenset(values)
        values = values - lost


def _computed(rule: NormalRule, values: Iterable[int]) -> frozenset[int]:
    """Some variables and those that are computed of nothing but these, in one way."""
    known, ways = {*values}, [assignment.variable for assignment in rule.assignments]
    bound = {arg.variable for atom in rule.atoms for arg in atom.args if isinstance(arg, Ref)}
    waiting = [a for a in rule.assignments if a.variable not in bound]
    while more := [
        assignment.variable
        for assignment in waiting
        if assignment.variable not in known
        and ways.count(assignment.variable) == 1
        and set() < variables_of(assignment.expression) <= known
    ]:
        known |= {*more}
    return frozenset(known)


def _sources(rule: NormalRule, variables: Iterable[int]) -> set[int]:
    """Some variables, and all that they are computed of."""
    found, waiting = set[int](), [*variables]
    while waiting:
        variable = waiting.pop()
        if variable not in found:
            found.add(variable)
            for each in rule.assignments:
                if each.variable == variable:
                    waiting += variables_of(each.expression)
    return found


def _bounded(test: Filter, variable: int, rule: NormalRule) -> bool:
    """Test for a column of which a comparison and its opposite bound the values."""
    in_atom = any(Ref(variable) in atom.args for atom in rule.atoms)
    return in_atom and all(
        least(each, variable, rule) is not None or ends(each, variable, rule) > 0
        for each in (test, test.opposite)
    )
