# SPDX-License-Identifier: Apache-2.0
"""Bounds that a comparison sets to the ascending values of one level: where it begins to hold, and
whether it fails for good once it fails.

`x < y`, `x + 3 <= y` and `y - x > 3` bound y from below and x from above. Only what the comparison
has a value for is passed over, so that arithmetic fails in no other cases than where every value is
tried.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lftj.join.plan.variable_orders import bits, variables_of
from lftj.program.normal_form import (
    Apply,
    Expression,
    Filter,
    NormalRule,
    Ref,
    Value,
    is_null,
    not_null,
    type_of,
)
from lftj.types import INT, code_of

ENDS, ENDS_WITHOUT_FAILURE = 1, 2
"""Flags of a failed comparison: it fails for all later values; it does if it has a value for the
last one.
"""

_OPPOSITE = {"+": "-", "-": "+"}
_COMPARISON_SHARE = 0.5
"""Share of values taken to pass a comparison of which nothing is known."""
_COMPARISON_LEAST = 0.002
"""Share taken to pass where no sampled value does: the sample is small."""
_WINDOW_SHARE = 0.05
"""Share taken to pass two comparisons that are the ends of one range: most are narrow."""


def ends(condition: Filter, variable: int, rule: NormalRule) -> int:
    """ENDS or ENDS_WITHOUT_FAILURE when the comparison, once it fails, fails for all later values
    of the variable; else 0.
    """
    if (sides := _ascending(condition)) is None:
        return 0
    for side, other, small in (*sides, True), (*reversed(sides), False):
        match _reading(side, other, variable, rule):
            case Ref() if small:
                return ENDS
            case Apply(operator=operator, args=(left, _)) if small == (
                operator == "+" or _reads(left, variable)
            ):
                return ENDS_WITHOUT_FAILURE
    return 0


def least(condition: Filter, variable: int, rule: NormalRule) -> Expression | None:
    """The code from which on the comparison holds for values of the variable, as an expression over
    others; None for no such bound.
    """
    if (sides := _ascending(condition)) is None:
        return None
    small, great = sides
    strict = int("=" not in condition.operator)
    match _reading(great, small, variable, rule):
        case Ref():
            return _sum("+", small, Value(strict, INT))
        case Apply(operator=operator, args=(left, right)) if _reads(left, variable):
            return _sum("+", _sum(_OPPOSITE[operator], small, right), Value(strict, INT))
        case Apply(operator="+", args=(left, right)):
            return _sum("+", _sum("-", small, left), Value(strict, INT))
    match _reading(small, great, variable, rule):
        case Apply(operator="-", args=(left, right)) if _reads(right, variable):
            return _sum("+", _sum("-", left, great), Value(strict, INT))
    return None


def is_alone(condition: Filter, variable: int) -> bool:
    """Test for a comparison with the variable alone on one side. Its values cannot make the
    comparison fail to have a value then.
    """
    return Ref(variable) in (condition.left, condition.right)


def _ascending(condition: Filter) -> tuple[Expression, Expression] | None:
    """The side that has to be less and the other one."""
    if condition.operator in ("<", "<="):
        return condition.left, condition.right
    return (condition.right, condition.left) if condition.operator in (">", ">=") else None


def _reading(
    side: Expression, other: Expression, variable: int, rule: NormalRule
) -> Expression | None:
    """The side, if it is the variable, or a sum or difference of it and something else, and the
    other side does not read it.

    Texts ascend by code, not as they compare, and what is added to a float is rounded.
    """
    if not _reads(side, variable) or _reads(other, variable):
        return None
    if type_of(side, rule.variables).name == "str" and not is_null(other):
        return None
    if isinstance(side, Apply):
        if (
            side.type.optional
            or side.operator not in _OPPOSITE
            or type_of(side, rule.variables).name == "float"
        ):
            return None
        if sum(_reads(each, variable) for each in side.args) != 1 or Ref(variable) not in side.args:
            return None
    return side


def _reads(expression: Expression, variable: int) -> bool:
    return variable in variables_of(expression)


def _sum(operator: str, left: Expression, right: Expression) -> Expression:
    """Sum of codes, whatever they are of."""
    return left if right == Value(0, INT) else Apply(operator, (left, right), INT)


# Which share of a level's values comparisons keep, and which share lies between the bounds that
# they set, as variable orders are priced.
#
# Only what lies between the bounds is looked at (`comparison_bounds`); other comparisons reject
# values one by one.

_BELOW, _ABOVE = 1, 2
_ORDERED = ("<", "<=", ">", ">=")


class Shares(NamedTuple):
    """`kept` of all values, after `looked_at`."""

    kept: float
    looked_at: float


Spreads = Callable[[int], Mapping[int, Sequence[int]]]
"""Known values of a variable: the numbers of atoms that have it, each with codes of the column, at
equal distances in ascending order.
"""


def nothing_known(_variable: int) -> Mapping[int, Sequence[int]]:
    """No codes."""
    return {}


class _Comparison(NamedTuple):
    """The variables of a comparison, and those whose levels it bounds from below and from above
    when the others come before; as bits.

    `share`: of pairs of values that it keeps.
    """

    share: float
    variables: int
    below: int
    above: int

    def sides(self, variable: int) -> int:
        """Sides from which it bounds the level of one of them."""
        return (self.below >> variable & 1) * _BELOW | (self.above >> variable & 1) * _ABOVE


class ComparisonShares:
    """The comparisons of one rule."""

    def __init__(self, rule: NormalRule, spreads: Spreads = nothing_known):
        self._comparisons = [_comparison(condition, rule, spreads) for condition in rule.filters]

    @property
    def tell(self) -> bool:
        """True when a comparison keeps far fewer values than an unknown one."""
        return any(comparison.share < _COMPARISON_SHARE / 4 for comparison in self._comparisons)

    def looks_at(self, variable: int) -> int:
        """The variables, as bits, of the comparisons that have this one."""
        looked_at = 0
        for comparison in self._comparisons:
            looked_at |= comparison.variables if comparison.variables >> variable & 1 else 0
        return looked_at

    def of(self, bound: int, variable: int) -> Shares:
        """Shares that remain after the comparisons which this variable completes at its level,
        behind the bound ones.
        """
        kept = looked_at = 1.0
        sides: dict[int, int] = {}
        for comparison in self._comparisons:
            variables = comparison.variables
            if not variables >> variable & 1 or variables & ~(bound | 1 << variable):
                continue
            share, found, before = (
                comparison.share,
                comparison.sides(variable),
                sides.get(variables, 0),
            )
            if (
                found | before == _BELOW | _ABOVE
                and found
                and before
                and variables != 1 << variable
            ):
                share = _WINDOW_SHARE / _COMPARISON_SHARE
            sides[variables] = before | found
            kept *= share
            looked_at *= share if found else 1.0
        return Shares(kept, looked_at)


def _comparison(condition: Filter, rule: NormalRule, spreads: Spreads) -> _Comparison:
    variables = variables_of(condition.left) | variables_of(condition.right)
    below = bits(v for v in variables if least(condition, v, rule) is not None)
    above = bits(v for v in variables if ends(condition, v, rule))
    return _Comparison(_share(condition, rule, spreads), bits(variables), below, above)


def _share(condition: Filter, rule: NormalRule, spreads: Spreads) -> float:
    """The share of pairs of a value left and one right that a comparison keeps.

    Values of two columns of one atom may have to do with each other: of these it is known only
    whether nearly all or none are less.
    """
    if condition.operator not in _ORDERED:
        return _COMPARISON_SHARE
    left, right = (_known(side, rule, spreads) for side in (condition.left, condition.right))
    if not left or not right:
        return _COMPARISON_SHARE if not_null(condition) is None else 1.0
    small, great = (
        next(iter(each.values()))
        for each in ((left, right) if condition.operator[0] == "<" else (right, left))
    )
    place = bisect_left if "=" in condition.operator else bisect_right
    share = 1.0 - sum([place(great, value) for value in small]) / (len(small) * len(great))
    together = not left.keys().isdisjoint(right.keys())
    return (
        _COMPARISON_SHARE
        if together and _COMPARISON_LEAST < share < 1.0 - _COMPARISON_LEAST
        else max(_COMPARISON_LEAST, share)
    )


def _known(side: Expression, rule: NormalRule, spreads: Spreads) -> Mapping[int, Sequence[int]]:
    """Known codes of a side of a comparison, ascending, by atom, −1 for none."""
    match side:
        case Ref(variable) if rule.variables[variable].type.name != "str":
            return spreads(variable)
        case Value(value, type) if type.name != "str":
            return {-1: (code_of(type, value),)}
    return {}
