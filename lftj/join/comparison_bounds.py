"""What a comparison says about the values of one level, which ascend: where it begins to hold, and whether it fails for good once it fails.

`x < y`, `x + 3 <= y` and `y - x > 3` bound y from below and x from above. Only what the comparison has a value for is passed over, so that
arithmetic fails in no other cases than where every value is tried.
"""

from __future__ import annotations

from lftj.join.variable_orders import type_of, variables_of
from lftj.program.normal_form import Apply, Expression, Filter, NormalRule, Ref, Value
from lftj.types import INT

ENDS, ENDS_WITHOUT_FAILURE = 1, 2
"""It fails for all later values; it does if it has a value for the last one."""

_OPPOSITE = {"+": "-", "-": "+"}


def ends(condition: Filter, variable: int, rule: NormalRule) -> int:
    """ENDS or ENDS_WITHOUT_FAILURE when the comparison, once it fails, fails for all later values of the variable; else 0."""
    if (sides := _ascending(condition)) is None:
        return 0
    for side, other, small in (*sides, True), (*reversed(sides), False):
        match _reading(side, other, variable, rule):
            case Ref() if small:
                return ENDS
            case Apply(operator=operator, args=(left, _)) if small == (operator == "+" or _reads(left, variable)):
                return ENDS_WITHOUT_FAILURE
    return 0


def least(condition: Filter, variable: int, rule: NormalRule) -> Expression | None:
    """The code from which on the comparison holds for values of the variable, as an expression over others; None for no such bound."""
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
    """Whether one side is the variable, so that which values it has cannot make the comparison fail to have a value."""
    return Ref(variable) in (condition.left, condition.right)


def _ascending(condition: Filter) -> tuple[Expression, Expression] | None:
    """The side that has to be less and the other one."""
    if condition.operator in ("<", "<="):
        return condition.left, condition.right
    return (condition.right, condition.left) if condition.operator in (">", ">=") else None


def _reading(side: Expression, other: Expression, variable: int, rule: NormalRule) -> Expression | None:
    """The side, if it is the variable, or a sum or difference of it and something else, and the other side does not read it.

    Texts ascend by code, not as they compare, and what is added to a float is rounded.
    """
    if not _reads(side, variable) or _reads(other, variable) or type_of(rule, side).name == "str":
        return None
    if isinstance(side, Apply):
        if side.operator not in _OPPOSITE or type_of(rule, side).name == "float":
            return None
        if sum(_reads(each, variable) for each in side.args) != 1 or Ref(variable) not in side.args:
            return None
    return side


def _reads(expression: Expression, variable: int) -> bool:
    return variable in variables_of(expression)


def _sum(operator: str, left: Expression, right: Expression) -> Expression:
    """Of codes, whatever they are of."""
    return left if right == Value(0, INT) else Apply(operator, (left, right), INT)
