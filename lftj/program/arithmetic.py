"""Arithmetic on constants, exactly as compiled code does it at run time: int64 or an error, never a
wrap.

Integer division truncates toward zero and `%` has the sign of the dividend, as in C and in Soufflé.
Shifts take the count modulo 64.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable
from typing import Any

from lftj.errors import ValueRangeError
from lftj.program.normal_form import Apply, Expression, Filter, Value
from lftj.types import INT64_MAX, INT64_MIN, Type

_MAY_FAIL = frozenset(("+", "-", "*", "/", "%", "^", "neg", "to_int", "round"))
_MAY_GO_BELOW = frozenset(("bnot", "bshl", "as_unsigned"))


def operator_may_fail(operator: str, result: Type) -> bool:
    """Test for an operator that, with this type of result, has no value for some operands."""
    return operator in _MAY_FAIL or (result.unsigned and operator in _MAY_GO_BELOW)


_EXACT = decimal.Context(prec=100)
"""Wide enough for any decimals of 18 digits, whatever the caller's own context rounds."""
_MICROSECOND = datetime.timedelta(microseconds=1)


def may_fail(expression: Expression) -> bool:
    """Test for an expression that has no value for some operands."""
    if not isinstance(expression, Apply):
        return False
    return (
        operator_may_fail(expression.operator, expression.type) and not _divides(expression)
    ) or any(map(may_fail, expression.args))


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
    (overflow E220, division by zero E221, not a number E222).
    """
    try:
        with decimal.localcontext(_EXACT):
            value = _OPERATORS[operator](*values)
            if isinstance(value, complex) or value != value:
                raise ValueRangeError(f"{_shown(operator, values)} is not a number", code="E222")
            held = _holds_value(result, value, values)
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
        return as_decimal(value).quantize(decimal.Decimal(1).scaleb(-(type.scale or 0)))


def _shown(operator: str, values: tuple[Any, ...]) -> str:
    """An operation as it is written in rules."""
    if len(values) == 2 and not operator.isalpha():
        return f"{values[0]} {operator} {values[1]}"
    written = {
        "neg": "-",
        "to_int": "to_number",
        "as_unsigned": "to_unsigned",
        "as_int": "to_number",
    }.get(operator, operator)
    return f"{written}({', '.join(map(str, values))})"


# ── the operators ─────────────────────────────────────────────────────────────────────────────────
def _add(left: Any, right: Any) -> Any:
    if isinstance(left, datetime.datetime):
        return left + right * _MICROSECOND
    return (
        left + datetime.timedelta(days=right) if isinstance(left, datetime.date) else left + right
    )


def _subtract(left: Any, right: Any) -> Any:
    if isinstance(left, datetime.datetime):
        return (
            (left - right) // _MICROSECOND
            if isinstance(right, datetime.datetime)
            else left - right * _MICROSECOND
        )
    if isinstance(left, datetime.date):
        return (
            (left - right).days
            if isinstance(right, datetime.date)
            else left - datetime.timedelta(days=right)
        )
    return left - right


def _divide(left: Any, right: Any) -> Any:
    if isinstance(left, float):
        return left / right
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, float):
        if right == 0.0:
            raise ZeroDivisionError
        return math.nan if math.isinf(left) else math.fmod(left, right)
    return left - right * _divide(left, right)


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, float):
        if base == 0.0 and exponent < 0.0:
            raise OverflowError
        return base**exponent
    if exponent < 0:
        raise ValueRangeError(
            f"{base} ^ {exponent}: an integer has no negative power",
            code="E222",
            hint="make the base a float",
        )
    if abs(base) > 1 and exponent > 63:
        raise OverflowError
    return base**exponent


def _to_int(value: float | decimal.Decimal) -> int:
    return math.trunc(value)


def _rounded(value: Any, places: int) -> decimal.Decimal:
    return as_decimal(value).quantize(decimal.Decimal(1).scaleb(-places), decimal.ROUND_HALF_UP)


def _signed(value: int) -> int:
    """The low 64 bits as a two's complement number."""
    value &= 2**64 - 1
    return value - 2**64 if value > INT64_MAX else value


_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": _add,
    "-": _subtract,
    "*": lambda left, right: left * right,
    "/": _divide,
    "%": _remainder,
    "^": _power,
    "neg": lambda value: -value,
    "min": min,
    "max": max,
    "band": lambda left, right: left & right,
    "bor": lambda left, right: left | right,
    "bxor": lambda left, right: left ^ right,
    "bnot": lambda value: ~value,
    "bshl": lambda value, count: _signed(value << (count & 63)),
    "bshr": lambda value, count: value >> (count & 63),
    "bshru": lambda value, count: _signed((value & (2**64 - 1)) >> (count & 63)),
    "land": lambda left, right: int(bool(left and right)),
    "lor": lambda left, right: int(bool(left or right)),
    "lxor": lambda left, right: int(bool(left) != bool(right)),
    "lnot": lambda value: int(not value),
    "to_float": float,
    "to_int": _to_int,
    "as_int": lambda value: value,
    "as_unsigned": lambda value: value,
    "round": _rounded,
    "to_date": lambda value: value.date(),
    "year": lambda value: value.year,
    "month": lambda value: value.month,
    "day": lambda value: value.day,
}

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
