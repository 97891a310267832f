"""Values and expressions: what a term without aggregates means under bindings of its variables."""

from __future__ import annotations

import datetime
import decimal
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from lftj.syntax import tree

Value = Any
"""An int, float, str, bool, date, datetime or Decimal."""

Env = Mapping[str, Value]

MICROSECOND = datetime.timedelta(microseconds=1)


FAILED: Value = "#failed"
"""Value of a variable whose expression has no value."""


class ArithmeticFailure(ArithmeticError):
    """A result outside int64, a division by zero, or a float that is not a number."""


def checked(value: Value) -> Value:
    """The value itself if its type can hold it; -0.0 becomes 0.0."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ArithmeticFailure(f"{value} is not a finite float")
        return value + 0.0
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ArithmeticFailure(f"{value} leaves int64")
    return value


def _divide(left: Value, right: Value) -> Value:
    if right == 0:
        raise ArithmeticFailure("division by zero")
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def _remainder(left: Value, right: Value) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        return left - right * _divide(left, right)
    if right == 0:
        raise ArithmeticFailure("division by zero")
    return math.fmod(left, right)


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(exponent, int) and exponent < 0:
        raise ArithmeticFailure("a negative power of an integer")
    return base**exponent


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, datetime.datetime):
        return left + right * MICROSECOND
    if isinstance(left, datetime.date):
        return left + datetime.timedelta(days=right)
    return left + right


def _subtract(left: Value, right: Value) -> Value:
    if isinstance(left, datetime.datetime) and isinstance(right, datetime.datetime):
        return (left - right) // MICROSECOND
    if isinstance(left, datetime.datetime):
        return left - right * MICROSECOND
    if isinstance(left, datetime.date):
        return (
            (left - right).days
            if isinstance(right, datetime.date)
            else left - datetime.timedelta(days=right)
        )
    return left - right


def to_text(value: Value) -> Value:
    """The text of a value; floats as C++ shows them, with the fewest digits that tell
    them apart.
    """
    if isinstance(value, float):
        fewest = next(
            text for digits in range(1, 18) if float(text := f"{value:.{digits}g}") == value
        )
        return f"{value:.17g}" if "e" in fewest and "e" not in f"{value:.17g}" else fewest
    return (
        str(value).lower()
        if isinstance(value, bool)
        else format(value, "f" * isinstance(value, decimal.Decimal))
    )


FUNCTORS: dict[str, Callable[..., Value]] = {
    "+": _add,
    "-": _subtract,
    "*": operator.mul,
    "/": _divide,
    "%": _remainder,
    "^": _power,
    "neg": operator.neg,
    "min": min,
    "max": max,
    "band": operator.and_,
    "bor": operator.or_,
    "bxor": operator.xor,
    "bnot": operator.invert,
    "bshl": operator.lshift,
    "bshr": operator.rshift,
    "lxor": lambda left, right: int(bool(left) != bool(right)),
    "land": lambda left, right: int(bool(left and right)),
    "lor": lambda left, right: int(bool(left or right)),
    "lnot": lambda value: int(not value),
    "cat": lambda *parts: "".join(parts),
    "strlen": len,
    "substr": lambda text, start, length: (
        text[start : start + length] if start >= 0 and length >= 0 else ""
    ),
    "to_string": to_text,
    "to_number": int,
    "to_unsigned": int,
    "to_float": float,
    "to_date": lambda value: value.date(),
    "year": lambda value: value.year,
    "month": lambda value: value.month,
    "day": lambda value: value.day,
    "round": lambda value, places: decimal.Decimal(value).quantize(
        decimal.Decimal(10) ** -places, decimal.ROUND_HALF_UP
    ),
    "as": lambda value, type_: value,
}

COMPARISONS: dict[str, Callable[..., bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "contains": lambda part, whole: part in whole,
    "match": lambda pattern, text: re.fullmatch(pattern, text, re.ASCII) is not None,
}


def value_of(term: tree.Term, env: Env) -> Value:
    """The value of a term whose variables are all bound. Raises ArithmeticFailure."""
    match term:
        case tree.Constant(value=value):
            return checked(value)
        case tree.Variable(name=name):
            if env[name] is FAILED:
                raise ArithmeticFailure(f"{name} has no value")
            return env[name]
        case tree.Call(functor=functor, args=args):
            return checked(FUNCTORS[functor](*(value_of(arg, env) for arg in args)))
    raise TypeError(f"{term} has no value of its own")


def variables_of(term: tree.Term) -> set[str]:
    """The variables of a term; those inside a body aggregate are not its own."""
    if isinstance(term, tree.Variable):
        return {term.name}
    if isinstance(term, tree.Call | tree.HeadAggregate):
        return {name for arg in term.args for name in variables_of(arg)}
    return set()
