# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, on Python values exactly as compiled code does it.

Integer division truncates toward zero and `%` has the sign of the dividend, as in C and in Soufflé.
"""

from __future__ import annotations

import datetime
import math
from typing import Any

from lftj.errors import ValueRangeError
from lftj.functions.record import Function, Functor, Operator
from lftj.functions.texts import CAT
from lftj.types import BOOL, STR, Type

_MICROSECOND = datetime.timedelta(microseconds=1)


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


_TWO = ("x", "y")


def _numeric(type: Type) -> bool:
    return type.numeric


def _ordered(type: Type) -> bool:
    return type != BOOL


ADD = Function(
    name="+",
    arguments=_TWO,
    line="The sum of two numbers; a date that many days later, a timestamp that many microseconds; "
    "two strings, one behind the other.",
    operators=(
        Operator(
            name="+",
            evaluate=_add,
            kernel="ADD",
            float_kernel="FLOAT_ADD",
            fails=True,
            alike=True,
            sql="({0} + {1})",
        ),
    ),
    functors=(CAT,),
    precedence=8,
)
SUBTRACT = Function(
    name="-",
    arguments=_TWO,
    line="The difference of two numbers; of dates in days, of timestamps in microseconds; a date "
    "or timestamp that much earlier.",
    operators=(
        Operator(
            name="-",
            evaluate=_subtract,
            kernel="SUBTRACT",
            float_kernel="FLOAT_SUBTRACT",
            fails=True,
            below=True,
            slopes=(1, -1),
            sql="({0} - {1})",
        ),
    ),
    precedence=8,
)
MULTIPLY = Function(
    name="*",
    arguments=_TWO,
    line="The product of two numbers; the scales of decimals add up.",
    operators=(
        Operator(
            name="*",
            evaluate=lambda left, right: left * right,
            kernel="MULTIPLY",
            float_kernel="FLOAT_MULTIPLY",
            fails=True,
            sql="({0} * {1})",
        ),
    ),
    precedence=9,
)
DIVIDE = Function(
    name="/",
    arguments=_TWO,
    line="The quotient of two ints, cut off towards zero, or of two floats.",
    operators=(
        Operator(
            name="/", evaluate=_divide, kernel="DIVIDE", float_kernel="FLOAT_DIVIDE", fails=True
        ),
    ),
    precedence=9,
)
REMAINDER = Function(
    name="%",
    arguments=_TWO,
    line="The remainder of a division, with the sign of the dividend.",
    operators=(
        Operator(
            name="%",
            evaluate=_remainder,
            kernel="REMAINDER",
            float_kernel="FLOAT_REMAINDER",
            fails=True,
        ),
    ),
    precedence=9,
)
POWER = Function(
    name="^",
    arguments=_TWO,
    line="The first to the power of the second; of ints not a negative power.",
    operators=(
        Operator(name="^", evaluate=_power, kernel="POWER", float_kernel="FLOAT_POWER", fails=True),
    ),
    precedence=11,
)
NEGATE = Function(
    name="neg",
    arguments=("x",),
    line="The negative of a number, written -x.",
    operators=(
        Operator(
            name="neg",
            evaluate=lambda value: -value,
            kernel="NEGATE",
            float_kernel="FLOAT_NEGATE",
            fails=True,
            below=True,
            slopes=(-1,),
            written="-",
            sql="(-({0}))",
        ),
    ),
    precedence=10,
    prefix=True,
    alike=_numeric,
)
ABSOLUTE = Function(
    name="abs",
    arguments=("x",),
    line="The size of a number; of the least int an error.",
    usage="write abs(x)",
    operators=(
        Operator(
            name="abs",
            evaluate=abs,
            kernel="ABSOLUTE",
            float_kernel="FLOAT_ABSOLUTE",
            fails=True,
            sql="abs({0})",
        ),
    ),
    alike=_numeric,
)
MIN = Function(
    name="min",
    arguments=("a", "b", "…"),
    line="The least of several values of one type; of one in a head, the least of the group.",
    usage="write min(a, b, …)",
    alike=_ordered,
    operators=(
        Operator(
            name="min",
            evaluate=min,
            kernel="LEAST",
            float_kernel="LEAST",
            alike=True,
            sql="least({args})",
        ),
    ),
    functors=(
        Functor(
            name="least",
            types=(STR, STR),
            result=STR,
            evaluate=min,
            variadic=True,
            sql="least({args})",
        ),
    ),
)
MAX = Function(
    name="max",
    arguments=("a", "b", "…"),
    line="The greatest of several values of one type; of one in a head, the greatest of the group.",
    usage="write max(a, b, …)",
    alike=_ordered,
    operators=(
        Operator(
            name="max",
            evaluate=max,
            kernel="GREATEST",
            float_kernel="GREATEST",
            alike=True,
            sql="greatest({args})",
        ),
    ),
    functors=(
        Functor(
            name="greatest",
            types=(STR, STR),
            result=STR,
            evaluate=max,
            variadic=True,
            sql="greatest({args})",
        ),
    ),
)
NUMBERS = (ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, POWER, NEGATE, ABSOLUTE, MIN, MAX)
