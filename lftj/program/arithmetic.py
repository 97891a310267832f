# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on constants, exactly as compiled code does it at run time: int64 or an error, never a
wrap.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from typing import Any

from lftj.errors import ValueRangeError
from lftj.functions import OPERATORS
from lftj.functions.nulls import KEEP_NULL
from lftj.program.normal_form import Apply, Expression, Filter, Value
from lftj.types import INT64_MAX, INT64_MIN, Type


def operator_may_fail(name: str, result: Type) -> bool:
    """Test for an operator that, with this type of result, has no value for some operands."""
    operator = OPERATORS.get(name)
    return operator is not None and (operator.fails or (result.unsigned and operator.below))


_EXACT = decimal.Context(prec=100)
"""Wide enough for any decimals of 18 digits, whatever the caller's own context rounds."""


def may_fail(expression: Expression) -> bool:
    """Test for an expression that has no value for some operands."""
    if not isinstance(expression, Apply):
        return False
    return (
        operator_may_fail(expression.operator, expression.type) and not _divides(expression)
    ) or any(map(may_fail, expression.args))


def may_have_no_quotient(expression: Expression) -> bool:
    """Test for a division in an expression by what may be 0."""
    if not isinstance(expression, Apply):
        return False
    quotient = expression.operator in ("/", "%") and may_fail(expression)
    return quotient or any(map(may_have_no_quotient, expression.args))


def comparison_may_fail(test: Filter) -> bool:
    """Test for a comparison with a side that has no value for some operands."""
    return may_fail(test.left) or may_fail(test.right)


def _divides(expression: Apply) -> bool:
    """Recognise the division of integers by a constant that divides all of them; −1 does not, as
    the least integer has no quotient.
    """
    if expression.operator not in ("/", "%") or expression.type.name != "int":
        return False
    divisor = expression.args[1]
    return isinstance(divisor, Value) and divisor.value not in (0, -1)


def evaluate(operator: str, values: tuple[Any, ...], result: Type) -> object:
    """The value of `operator` on Python values of its operand types. Raises ValueRangeError
    (overflow E220, division by zero E221, not a number E222). Of NULL it is NULL.
    """
    if None in values and operator not in KEEP_NULL:
        return None
    try:
        with decimal.localcontext(_EXACT):
            value = OPERATORS[operator].evaluate(*values)
            if isinstance(value, complex) or value != value:
                raise ValueRangeError(f"{_shown(operator, values)} is not a number", code="E222")
            held = _holds_value(result, value, values)
            if held and result.name == "decimal":
                return value + 0  # −0.00 is no value
        if held:
            return value + 0.0 if result.name == "float" else value
    except ZeroDivisionError:
        raise ValueRangeError(
            f"division by zero in {_shown(operator, values)}", code="E221"
        ) from None
    except (OverflowError, decimal.InvalidOperation) as problem:
        if isinstance(problem, ValueRangeError):
            raise
    limits = (
        f", {0 if result.unsigned else INT64_MIN} … {INT64_MAX}" if result.name == "int" else ""
    )
    raise ValueRangeError(f"{_shown(operator, values)} is outside the range of {result}{limits}")


def _holds_value(type: Type, value: Any, operands: tuple[Any, ...]) -> bool:
    """True when `type` can hold a result; an infinite one comes from infinite operands only."""
    if type.name == "int":
        return (0 if type.unsigned else INT64_MIN) <= value <= INT64_MAX
    if type.name == "float":
        return math.isfinite(value) or math.inf in operands or -math.inf in operands
    return type.precision is None or abs(value.scaleb(type.scale)) < 10**type.precision


def as_decimal(value: Any) -> decimal.Decimal:
    """An integer or decimal as a decimal."""
    return value if isinstance(value, decimal.Decimal) else decimal.Decimal(value)


def scaled(value: Any, type: Type) -> decimal.Decimal:
    """An integer or decimal that a type holds, with the places of the type."""
    with decimal.localcontext(_EXACT):
        return as_decimal(value).quantize(decimal.Decimal(1).scaleb(-(type.scale or 0))) + 0


def _shown(operator: str, values: tuple[Any, ...]) -> str:
    """An operation as it is written in rules."""
    if len(values) == 2 and not operator.isalpha():
        return f"{values[0]} {operator} {values[1]}"
    return f"{OPERATORS[operator].written or operator}({', '.join(map(str, values))})"


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def holds(operator: str, left: object, right: object) -> bool:
    """Compare two values of one type; strings compare by code point."""
    return _COMPARISONS[operator](left, right)
