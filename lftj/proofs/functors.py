# SPDX-License-Identifier: Apache-2.0
"""Meaning of each functor and comparison, value by value: a second implementation beside the
engine's.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable

from lftj.proofs.kinds import EXACT, ArithmeticFailure, Value

MICROSECOND = datetime.timedelta(microseconds=1)
MOST_NUMBERS = 100_000_000
"""A `range` may have so many."""

_WORD = 2**64
_INTEGER = re.compile(
    r"\s*(?P<sign>[+-]?)(?:0x(?P<x>[0-9a-fA-F]+)|0b(?P<b>[01]+)|(?P<d>[0-9]+))\s*"
)
_FLOAT = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7f", "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f", "d": "0-9", "digit": "0-9", "graph": "!-~", "lower": "a-z",
    "print": " -~", "punct": r"!-/:-@\[-`{-~", "s": r"\t\n\v\f\r ", "space": r"\t\n\v\f\r ",
    "upper": "A-Z", "w": "0-9A-Za-z_", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


# ── arithmetic ────────────────────────────────────────────────────────────────────────────────────
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
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent < 0:
            raise ArithmeticFailure("a negative power of an integer")
        if abs(base) > 1 and exponent > 64:
            raise ArithmeticFailure(f"{base} ^ {exponent} leaves int64")
    found = base**exponent
    if isinstance(found, complex):
        raise ArithmeticFailure(f"{base} ^ {exponent} is not a number")
    return found


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


def _wrapped(value: int) -> int:
    """The low 64 bits, the highest of them as a sign."""
    return (value + _WORD // 2) % _WORD - _WORD // 2


def _rounded(value: Value, places: int = 0) -> Value:
    if not isinstance(value, float):
        unit = decimal.Decimal(10) ** -places
        return decimal.Decimal(value).quantize(unit, decimal.ROUND_HALF_UP)
    if math.isinf(value):
        return value
    units = abs(fractions.Fraction(repr(value))) * 10**places
    rounded = fractions.Fraction(math.floor(units + fractions.Fraction(1, 2)), 10**places)
    return float(-rounded if value < 0 else rounded)


def _whole(of: Callable[[Value], int]) -> Callable[[Value], Value]:
    def found(value: Value) -> Value:
        infinite = isinstance(value, float) and math.isinf(value)
        return value if infinite else type(value)(of(value))

    return found


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────
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


def _to_integer(value: Value) -> int:
    if not isinstance(value, str):
        return math.trunc(value)
    found = _INTEGER.fullmatch(value)
    if found is None:
        raise ArithmeticFailure("a text that is no integer")
    for base, name in ((16, "x"), (2, "b"), (10, "d")):
        if digits := found[name]:
            number = int(digits.lstrip("0")[:100] or "0", base)
            return -number if found["sign"] == "-" else number
    raise AssertionError(found)


def _to_float(value: Value) -> float:
    if isinstance(value, str) and not _FLOAT.fullmatch(value):
        raise ArithmeticFailure("a text that is no number")
    return float(value)


def _slice(text: str, start: int, length: int) -> str:
    return text[start : start + length] if start >= 0 and length >= 0 else ""


def _matches(pattern: str, text: str) -> bool:
    """The whole text is one of the pattern's, in the notation of ECMAScript with the classes of
    POSIX; letters, digits and spaces are those of ASCII.
    """

    def in_class(found: re.Match[str]) -> str:
        known = re.sub(r"\[:(\w+):\]", lambda name: _POSIX[name[1]], found[2])
        return f"[{found[1]}{known.replace('[', chr(92) + '[')}]"

    plain = re.sub(r"\\.|\[(\^?)(\]?(?:\\.|\[:\w+:\]|[^\]])*)\]",
        lambda found: found[0] if found[0].startswith("\\") else in_class(found), pattern,
        flags=re.DOTALL)  # fmt: skip
    return re.fullmatch(plain, text, re.ASCII) is not None


# ── ranges ────────────────────────────────────────────────────────────────────────────────────────
def numbers(start: Value, end: Value, step: Value = None) -> Iterable[Value]:
    """The numbers of a `range`: from `start` on, without `end`; of floats each is the one before it
    and the step. Raises ArithmeticFailure where there are too many.
    """
    if step == 0:
        return [start] * (start != end)
    by = (1 if start <= end else -1) if step is None else step
    if (end - start) / by > MOST_NUMBERS:
        raise ArithmeticFailure("a range of too many numbers")
    if isinstance(start, int):
        return range(start, end, by)
    inside = (lambda value: value < end) if by > 0 else (lambda value: value > end)
    listed = list(itertools.takewhile(inside, _steps(start, by)))
    return [value + 0.0 for value in listed]


def _steps(value: float, by: float) -> Iterable[float]:
    for _ in range(MOST_NUMBERS):
        yield value
        if value + by == value:
            break
        value += by
    raise ArithmeticFailure("a range of too many numbers")


FUNCTORS: dict[str, Callable[..., Value]] = {
    "+": _add,
    "-": _subtract,
    "*": operator.mul,
    "/": _divide,
    "%": _remainder,
    "^": _power,
    "neg": operator.neg,
    "abs": abs,
    "days": lambda n: n * 86_400 * 10**6,
    "hours": lambda n: n * 3_600 * 10**6,
    "minutes": lambda n: n * 60 * 10**6,
    "min": min,
    "max": max,
    "band": operator.and_,
    "bor": operator.or_,
    "bxor": operator.xor,
    "bnot": operator.invert,
    "bshl": lambda value, count: _wrapped(value << count % 64),
    "bshr": lambda value, count: value >> count % 64,
    "bshru": lambda value, count: _wrapped(value % _WORD >> count % 64),
    "lxor": lambda left, right: int(bool(left) != bool(right)),
    "land": lambda left, right: int(bool(left and right)),
    "lor": lambda left, right: int(bool(left or right)),
    "lnot": lambda value: int(not value),
    "cat": lambda *parts: "".join(parts),
    "strlen": len,
    "substr": _slice,
    "to_string": to_text,
    "to_number": _to_integer,
    "to_unsigned": _to_integer,
    "to_float": _to_float,
    "to_date": lambda value: value.date(),
    "year": lambda value: value.year,
    "month": lambda value: value.month,
    "day": lambda value: value.day,
    "round": _rounded,
    "lower": str.lower,
    "upper": str.upper,
    "trim": lambda text: re.sub(r"\A[ \t\n\v\f\r]+|[ \t\n\v\f\r]+\Z", "", text),
    "replace": lambda text, old, new: new.join(text.split(old)) if old else text,
    "hour": lambda value: value.hour,
    "minute": lambda value: value.minute,
    "weekday": lambda value: value.weekday() + 1,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "date": datetime.date,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "ln": math.log,
    "as": lambda value, type_: value,
    "ord": lambda value: value,
    "coalesce": lambda value, *more: value if value is not None else more[0],
}

COMPARISONS: dict[str, Callable[..., bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "contains": lambda part, whole: part in whole,
    "match": _matches,
    "starts_with": lambda part, whole: whole[: len(part)] == part,
    "ends_with": lambda part, whole: whole[max(0, len(whole) - len(part)) :] == part,
    "is_null": lambda value, _: value is None,
}


def called(functor: str, args: list[Value]) -> Value:
    """The value of a functor, of NULL that of NULL. Raises ArithmeticFailure where there is
    none.
    """
    if functor == "coalesce":
        return next((arg for arg in args if arg is not None), None)
    if None in args:
        return None
    try:
        with decimal.localcontext(EXACT):
            found = FUNCTORS[functor](*args)
    except ArithmeticFailure:
        raise
    except (ArithmeticError, ValueError) as problem:
        raise ArithmeticFailure(f"{functor}: {problem}") from None
    infinite = isinstance(found, float) and math.isinf(found)
    if infinite and not any(isinstance(arg, float) and math.isinf(arg) for arg in args):
        raise ArithmeticFailure(f"{functor} leaves float")
    return found


def compared(operator: str, left: Value, right: Value) -> bool:
    """Check whether a comparison, `contains` or `match` holds. Raises ArithmeticFailure for a
    pattern that is none. Nothing is like NULL, nor unlike it.
    """
    if operator == "is_null":
        return left is None
    if left is None or right is None:
        return False
    try:
        return COMPARISONS[operator](left, right)
    except (re.error, LookupError) as problem:
        raise ArithmeticFailure(f"{operator}: {problem}") from None
