# SPDX-License-Identifier: Apache-2.0
"""Constants: from text to values, from values to text, and from Python objects to values that text
can hold.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re

from lftj.errors import LftjError, NullValueError, ParseError, Span, ValueRangeError, ValueTypeError
from lftj.syntax.tree import LiteralValue
from lftj.types import Unsigned, in_utc, plain

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "\\": "\\",
    '"': '"',
    "'": "'",
}
_PRINTED = {value: f"\\{letter}" for letter, value in _ESCAPES.items() if letter != "'"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_TO_ESCAPE = re.compile("[" + "".join(re.escape(char) for char in _PRINTED) + "]")
_FINER = re.compile(r"[.,]\d{6}(\d+)")
_LONGEST_INTEGER = 80
"""No int64 has more characters than this, in whatever base; beyond it the text is not even
converted.
"""


# ── from text ─────────────────────────────────────────────────────────────────────────────────────
def read_integer(text: str, span: Span | None) -> int:
    """`12`, `-12`, `0x1f`, `0b101`, with or without Soufflé's `u`; raises ValueRangeError (E220)
    outside int64.
    """
    digits = text.removesuffix("u")
    shown = digits if len(digits) <= 40 else f"{digits[:20]}… ({len(digits)} digits)"
    base = {"0x": 16, "0b": 2}.get(digits.lstrip("-")[:2], 10)
    significant = re.sub(r"^(-?)(?:0[xb])?0*", r"\1", digits)
    value = (
        int(significant if significant not in ("", "-") else "0", base)
        if len(significant) <= _LONGEST_INTEGER
        else None
    )
    if value is None or not INT64_MIN <= value <= INT64_MAX:
        raise _too_large(shown, span)
    if digits is text:
        return value
    if value < 0:
        raise ValueRangeError(f"{text} is below 0, and unsigned", span=span, hint=f"write {value}")
    return Unsigned(value)


def _too_large(shown: str, span: Span | None = None) -> ValueRangeError:
    hint = f"integers go from {INT64_MIN} to {INT64_MAX}; write it as a string or as a float"
    return ValueRangeError(f"the integer {shown} does not fit in 64 bits", span=span, hint=hint)


def read_ipv4(text: str, span: Span | None) -> int:
    """The number that an address such as `127.0.0.1` is; raises ParseError where a part is above
    255.
    """
    sign = -1 if text.startswith("-") else 1
    parts = [int(part) if len(part) <= 3 else 256 for part in text.removeprefix("-").split(".")]
    if max(parts) > 255:
        raise ParseError(
            f"{text[:40]} is not an address",
            span=span,
            hint="each of its four numbers is from 0 to 255",
        )
    return sign * int.from_bytes(bytes(parts), "big")


def read_float(text: str, span: Span | None) -> float:
    """A decimal fraction, or a number with an exponent; raises ValueRangeError (E220) where it
    would become infinite.
    """
    value = float(text)
    if math.isinf(value):
        raise ValueRangeError(
            f"the number {text[:40]} is too large for a float",
            span=span,
            hint="floats end at about 1.8e308",
        )
    return value


def read_string(text: str, span: Span | None) -> str:
    """The value of a quoted string; raises ParseError for an unknown escape."""
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    value, end = bytearray(), 0  # a string for each piece would take ten bytes a character
    for found in _ESCAPE.finditer(inner):
        letter = found.group(1)
        if letter not in _ESCAPES:
            hint = 'write \\\\ for a backslash; known: \\n \\t \\r \\" \\\\'
            raise ParseError(f"unknown escape \\{letter} in a string", span=span, hint=hint)
        value += inner[end : found.start()].encode("utf-8", "surrogatepass")
        value += _ESCAPES[letter].encode()
        end = found.end()
    value += inner[end:].encode("utf-8", "surrogatepass")
    return value.decode("utf-8", "surrogatepass")


def read_typed(kind: str, text: str, span: Span | None) -> LiteralValue:
    """`date("2013-01-31")`, `timestamp("2013-01-31 12:00:00")` or `decimal("1.50")`; raises
    ParseError when `text` is none.
    """
    try:
        if kind == "date":
            return datetime.date.fromisoformat(text)
        if kind == "timestamp":
            return check_value(_timestamp(text))
        return check_value(decimal.Decimal(text))
    except (ValueError, decimal.InvalidOperation, LftjError) as problem:
        example = {"date": "2013-01-31", "timestamp": "2013-01-31 12:00:00", "decimal": "1.50"}[
            kind
        ]
        message = (
            problem.message if isinstance(problem, LftjError) else f'"{text[:40]}" is not a {kind}'
        )
        raise ParseError(message, span=span, hint=f'write {kind}("{example}")') from None


def _timestamp(text: str) -> datetime.datetime:
    """A timestamp; Python passes over what is finer than microseconds. Raises ValueError."""
    if (finer := _FINER.search(text)) and finer[1].strip("0"):
        raise ValueRangeError(
            f'"{text[:40]}" is finer than the microseconds that a timestamp holds'
        )
    return datetime.datetime.fromisoformat(text)


# ── to text ───────────────────────────────────────────────────────────────────────────────────────
def print_string(value: str) -> str:
    """`value` in quotes, with escapes."""
    return '"' + _TO_ESCAPE.sub(lambda found: _PRINTED[found.group()], value) + '"'


def print_constant(value: LiteralValue) -> str:
    """The text of a constant."""
    match value:
        case bool():
            return "true" if value else "false"
        case Unsigned():
            return f"{int(value)}u"
        case int() | float():
            return repr(value)
        case str():
            return print_string(value)
        case datetime.datetime():
            return f'timestamp("{value.isoformat(sep=" ")}")'
        case datetime.date():
            return f'date("{value.isoformat()}")'
        case decimal.Decimal():
            return f'decimal("{value}")'
    return "NULL"  # of a row that is shown; no rule writes it


# ── from Python ───────────────────────────────────────────────────────────────────────────────────
_EXACT = (bool, int, Unsigned, float, str, datetime.datetime, datetime.date, decimal.Decimal)


def check_value(value: object) -> LiteralValue:
    """`value` as a constant of the language.

    NumPy scalars and pandas timestamps become the Python values that they stand for. Raises
    NullValueError for None (E200) and NaN (E201), ValueRangeError for what no column can hold,
    ValueTypeError for what is no value of the language.
    """
    if type(value) not in _EXACT:
        value = _plain(value)
    if value is None:
        raise NullValueError(
            "None is not a value of a rule", hint="write lftj._ where any value will do"
        )
    match value:
        case bool() | str():
            return value
        case int():
            if not INT64_MIN <= value <= INT64_MAX:
                raise _too_large(str(value) if abs(value) < 10**40 else f"{hex(value)[:40]}…")
            return value
        case float():
            return _finite(value)
        case datetime.datetime():
            return in_utc(value)
        case decimal.Decimal() if not value.is_finite():
            raise NullValueError(f"the decimal {value} is not a number", code="E201")
        case datetime.date() | decimal.Decimal():
            return value
    raise ValueTypeError(
        f"a {type(value).__name__} cannot be a constant in a rule",
        hint="constants are int, float, str, bool, date, datetime and Decimal; variables come from "
        "lftj.vars(…)",
    )


def _plain(value: object) -> object:
    """The built-in value of a NumPy scalar, of a pandas timestamp or of an instance of a subclass;
    None for a missing value of theirs.
    """
    value = plain(value)
    if type(value) in _EXACT:
        return value
    item = getattr(value, "item", None)
    if (
        callable(item)
        and type(value).__name__ not in ("datetime64", "timedelta64")
        and not getattr(value, "shape", ())
    ):
        return item()
    if isinstance(value, datetime.datetime):
        if getattr(value, "nanosecond", 0):
            raise ValueRangeError(
                f"the timestamp {value} has nanoseconds",
                hint="timestamps count microseconds: round it first",
            )
        return datetime.datetime.combine(value.date(), value.timetz())
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def _finite(value: float) -> float:
    if math.isnan(value):
        raise NullValueError("NaN is not a value of a rule", code="E201")
    if math.isinf(value):
        raise ValueRangeError(
            "an infinite float cannot be a constant in a rule", hint="floats end at about 1.8e308"
        )
    return value
