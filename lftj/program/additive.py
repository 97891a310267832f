# SPDX-License-Identifier: Apache-2.0
"""Relations that add up what several rules find: each head has the same `sum` or `count`, or the
same aggregate of the user's, in the same column, or has a value there, which is one of those that
are added.

In a cycle of such relations a group's value is made of other groups' values. That is well-founded
where no group depends on itself: then there is an order of the groups, by levels, in which each is
finished before it is used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from lftj.functions.aggregates import AGGREGATES
from lftj.program.checked import CheckedHead, CheckedHeadAggregate
from lftj.program.normal_form import (
    AggregateTerm,
    FunctorRule,
    NormalRule,
    Ref,
    RuleVariable,
    type_of,
)
from lftj.scantree.frozen import frozen
from lftj.types import Type
from lftj.types.sources import Role, in_role, is_hidden

ADDITIVE = ("sum", "count")


def adding(function: str) -> bool:
    """Test for an aggregate by which several rules may add up: those of users may."""
    return function in ADDITIVE or function not in AGGREGATES


@frozen(slots=True)
class Addition:
    """The `column` in which the heads of a relation add up, and the aggregate `function` that does
    it. `types`: of the arguments of one of the user's.
    """

    column: int
    function: str
    types: tuple[Type, ...]

    @property
    def of_users(self) -> bool:
        """True for an aggregate of the user's."""
        return self.function not in ADDITIVE


def additions(rules: Iterable[NormalRule | FunctorRule]) -> dict[str, Addition]:
    """The relations of these rules that add up, each with its addition. O(rules)."""
    heads: dict[str, list[NormalRule | FunctorRule]] = {}
    for rule in rules:
        heads.setdefault(rule.relation, []).append(rule)
    found: dict[str, Addition] = {}
    for name, mine in heads.items():
        calls = {_calls(rule) for rule in mine} - {()}
        if len(calls) == 1 and not (is_hidden(name) and not in_role(name, Role.POSSIBLE)):
            (only,) = calls
            if len(only) == 1 and adding(only[0][1]):
                found[name] = _addition(mine, *only[0])
    return found


def _addition(rules: Sequence[NormalRule | FunctorRule], column: int, function: str) -> Addition:
    if function in ADDITIVE:
        return Addition(column, function, ())
    types = [_types(rule, column) for rule in rules if isinstance(rule, NormalRule)]
    return Addition(column, function, tuple(map(_either, zip(*types, strict=True))))


def _calls(rule: NormalRule | FunctorRule) -> tuple[tuple[int, str], ...]:
    if isinstance(rule, FunctorRule):
        return ((-1, "functor"),) * 2
    return tuple(
        (column, "sum" if term.function in ADDITIVE else term.function)
        for column, term in enumerate(rule.head)
        if isinstance(term, AggregateTerm)
    )


def _types(rule: NormalRule, column: int) -> list[Type]:
    """The types of what a rule gives to add."""
    term = rule.head[column]
    given = (term,) if isinstance(term, Ref) else term.args
    return [rule.variables[each.variable].type for each in given]


def _either(types: Sequence[Type]) -> Type:
    """A type that has NULL where one of these has."""
    return next((each for each in types if each.optional), types[0])


def as_adding(
    head: CheckedHead, column: int, function: str, variables: Sequence[RuleVariable]
) -> CheckedHead:
    """The head of a rule that gives a value to add, as one that adds it; itself where it aggregates
    there.
    """
    term = head.args[column]
    if isinstance(term, CheckedHeadAggregate):
        return head
    args = list(head.args)
    function = "sum" if function in ADDITIVE else function
    args[column] = CheckedHeadAggregate(function, (term,), type_of(term, variables))
    return replace(head, args=tuple(args))


def adds_up(
    rules: Sequence[NormalRule | FunctorRule], members: Collection[str], *, cycle: bool
) -> bool:
    """Test for a stratum that is followed by levels: all of its relations add up, and read one
    another in positive atoms alone.
    """
    known = additions(rules)
    if not all(name in known for name in members) or (not cycle and len(rules) < 2):
        return False
    return not any(
        atom.relation in members
        for rule in rules
        if isinstance(rule, NormalRule)
        for atom in rule.negated
    )
