# SPDX-License-Identifier: Apache-2.0
"""Variables of expressions and rules, and orders of them beside the key orders that they need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from lftj.program.normal_form import Apply, Expression, NormalRule, Ref
from lftj.storage.relation import Order


def variables_of(expression: Expression) -> set[int]:
    """The variables an expression reads."""
    if isinstance(expression, Ref):
        return {expression.variable}
    if isinstance(expression, Apply):
        return set().union(*(variables_of(argument) for argument in expression.args))
    return set()


def bits(variables: Iterable[int]) -> int:
    """A set of variables, as the bits of a number."""
    return sum(1 << variable for variable in set(variables))


def lowest(variables: int) -> int:
    """The first of a set of variables that are the bits of a number."""
    return (variables & -variables).bit_length() - 1


def numbers(variables: int) -> list[int]:
    """The variables that are the bits of a number."""
    found: list[int] = []
    while variables:
        found.append(lowest(variables))
        variables &= variables - 1
    return found


def once_bound(rule: NormalRule, tied: Collection[int]) -> Order:
    """Variables that occur once, in one atom, and nowhere else: neither under negation nor among
    those that are `tied`.
    """
    negated = {
        argument.variable
        for atom in rule.negated
        for argument in atom.args
        if isinstance(argument, Ref)
    }
    occurrences: dict[int, int] = {}
    for atom in rule.atoms:
        for argument in atom.args:
            if isinstance(argument, Ref):
                occurrences[argument.variable] = occurrences.get(argument.variable, 0) + 1
    return tuple(
        variable
        for variable, times in occurrences.items()
        if times == 1 and variable not in tied and variable not in negated
    )


def along(order: Order, first: Sequence[int]) -> Order:
    """A variable order with those in `first` in their order there: each brings before itself what
    comes before it.
    """
    found: list[int] = []
    for variable in order:
        with_it = first[: first.index(variable) + 1] if variable in first else [variable]
        found += [other for other in with_it if other not in found]
    return tuple(found)
