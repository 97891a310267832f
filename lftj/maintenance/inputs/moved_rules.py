# SPDX-License-Identifier: Apache-2.0
"""Rules that read the moves of an atom's rows: the clock of a window, or a limit, whose new row
takes the place of an old one (`lftj.views.moved_bounds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from lftj.join.plan.compared import Compared
from lftj.join.plan.variable_orders import variables_of
from lftj.maintenance.inputs.versions import CHANGE, SIGNED, Versions
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
from lftj.scantree.frozen import found_once
from lftj.storage.relation import Order
from lftj.types import INT


class MovedRule(NamedTuple):
    """A rule whose assignments fulfil one comparison with the new values of an atom and not with
    the old ones, those before it with both, and all others with the new ones.

    The last variable of `rule` is the sign of the move, `first` has those of the move that
    something reads, and `bounded` the one that has values between.
    """

    rule: NormalRule
    first: Order
    bounded: Order


def moved_rules(rule: NormalRule, needed: tuple[int, ...]) -> tuple[Order, list[MovedRule]] | None:
    """The columns of the atom that reads `CHANGE` in which a move keeps its values, and a rule for
    each comparison of the others; None where values of the atom are read in another way.
    """
    own = next(atom for atom in rule.atoms if atom.relation == CHANGE)
    compared = Compared.of(rule, needed, own)
    return None if compared is None else (compared.fixed, [*_moved(rule, needed, own, compared)])


def only_moves(rules: Iterable[NormalRule], relation: str, versions: Versions) -> bool:
    """Test for a change of a relation in which each row takes the place of another one, and these
    rules only compare the values that differ.
    """
    delta = versions.deltas[relation]
    if delta.inserted != delta.erased:
        return False
    for rule in rules:
        fixed = [each for name, each in _fixed(rule) if name == relation]
        if any(atom.relation == relation for atom in rule.negated) or None in fixed:
            return False
        if any(len(versions.moves(relation, each).rest) for each in fixed if each is not None):
            return False
    return True


@found_once
def _fixed(rule: NormalRule) -> list[tuple[str, Order | None]]:
    """The relation of each atom, and the columns of it of which values are not only compared; None
    where all are read otherwise.
    """
    found = [(atom.relation, Compared.of(rule, rule.group, atom)) for atom in rule.atoms]
    return [(name, None if each is None else each.fixed) for name, each in found]


def _moved(
    rule: NormalRule, needed: tuple[int, ...], own: PositiveAtom, compared: Compared
) -> Iterator[MovedRule]:
    """The rules for the moves of an atom."""
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
            *(RuleVariable("_", rule.variables[variable].type) for variable in before),
            RuleVariable("_", INT),
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
        yield MovedRule(query, (sign, *read), () if bounded is None else (bounded,))
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
