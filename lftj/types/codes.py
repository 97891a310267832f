# SPDX-License-Identifier: Apache-2.0
"""Values to int64 codes and back: floats in bulk, everything one value at a time. The table is in
the package's docstring.
"""

from __future__ import annotations

import datetime
import decimal as python_decimal
import math
import struct
from typing import Any, Protocol

import numpy as np

from lftj.errors import NullValueError, ValueRangeError, ValueTypeError
from lftj.types.column import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP, UNSIGNED, Type, decimal

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

NULL_CODE = INT64_MIN
"""The code of NULL in columns of every optional type: the least, which no other value has but one
integer, and that is refused there.
"""

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)
_WITHOUT_SIGN = np.int64(INT64_MAX)
_RANGES = {
    "date": (
        datetime.date.min.toordinal() - _EPOCH_DAY,
        datetime.date.max.toordinal() - _EPOCH_DAY,
    ),
    "timestamp": (
        (datetime.datetime.min - _EPOCH) // _MICROSECOND,
        (datetime.datetime.max - _EPOCH) // _MICROSECOND,
    ),
}


class Unsigned(int):
    """An unsigned constant as it is written, `1u`: an int that takes no other type of its own
    accord.
    """

    __slots__ = ()


_OF_PYTHON = {
    Unsigned: UNSIGNED,
    int: INT,
    float: FLOAT,
    str: STR,
    bool: BOOL,
    datetime.date: DATE,
    datetime.datetime: TIMESTAMP,
}


class Spelling(Protocol):
    """Decoder of strings."""

    def decode_one(self, code: int) -> str: ...


class Interning(Spelling, Protocol):
    """Encoder and decoder of strings: the dictionary as coding uses it."""

    def encode_one(self, text: str) -> int: ...
    def constant(self, text: str) -> int: ...
    def lookup(self, text: str) -> int | None: ...


def code_range(type: Type) -> tuple[int, int] | None:
    """The least and the greatest code of a type whose values are fewer than its codes: unsigned,
    dates, timestamps, decimals. None for others.
    """
    if type.unsigned:
        return 0, INT64_MAX
    if type.precision is not None:
        return 1 - 10**type.precision, 10**type.precision - 1
    return _RANGES.get(type.name)


# ── floats in bulk ────────────────────────────────────────────────────────────────────────────────
def floats_to_codes(values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Codes (int64) of float64 values, in the same order as the values; in `out` where that is
    given. NaN is the caller's to refuse. O(n), one pass over three.
    """
    room = None if out is None else out.view(np.float64)
    with np.errstate(invalid="ignore"):  # which a signalling NaN is
        codes = np.add(np.asarray(values, np.float64), 0.0, room)  # −0.0 + 0.0 is 0.0
    codes = codes.view(np.int64)
    sign = codes >> 63
    sign &= _WITHOUT_SIGN
    codes ^= sign
    return codes


def codes_to_floats(codes: np.ndarray) -> np.ndarray:
    """The float64 values of int64 codes; inverse of `floats_to_codes`."""
    codes = np.asarray(codes, dtype=np.int64)
    return (codes ^ ((codes >> 63) & _WITHOUT_SIGN)).view(np.float64)


def float_text(value: float) -> str:
    """The fewest digits that read back as the same float, laid out as C++ does with 17: `1`, `0.1`,
    `1e-05`, `12345678901234568`.
    """
    text = repr(value)
    if text.endswith(".0"):
        return text[:-2]
    return str(int(value)) if text.endswith("e+16") else text


def _float_code(value: float) -> int:
    if math.isnan(value):
        raise NullValueError(
            "NaN is not a value", code="E201", hint='leave the row out, or load with nulls="drop"'
        )
    bits: int = struct.unpack("<q", struct.pack("<d", value + 0.0))[0]
    return bits if bits >= 0 else bits ^ INT64_MAX


# ── one value ─────────────────────────────────────────────────────────────────────────────────────
def encode_scalar(type: Type, value: object, dictionary: Interning) -> int:
    """The code of `value` in a column of `type`; a new string enters the dictionary.

    Raises NullValueError (None, NaN), ValueTypeError (another type, or digits would be lost) or
    ValueRangeError.
    """
    if type.name == "str" and isinstance(value, str):
        return dictionary.encode_one(value)
    return code_of(type, value)


def encode_constant(type: Type, value: object, dictionary: Interning) -> int:
    """As `encode_scalar`, for a value that a rule or a question names: plans that are kept may hold
    its code.
    """
    if type.name == "str" and isinstance(value, str):
        return dictionary.constant(value)
    return code_of(type, value)


def lookup_scalar(type: Type, value: object, dictionary: Interning) -> int | None:
    """As `encode_scalar`, but leaves the dictionary alone: None for a string that no relation has
    ever held.
    """
    if type.name == "str" and isinstance(value, str):
        return dictionary.lookup(value)
    return code_of(type, value)


def decode_scalar(type: Type, code: int, texts: Spelling) -> Any:
    """The Python value of a code. Raises ValueRangeError for dates and timestamps that Python
    cannot hold (years 1 to 9999).
    """
    code = int(code)
    if type.optional and code == NULL_CODE:
        return None
    if type.name == "str":
        return texts.decode_one(code)
    if type.name == "decimal":
        return python_decimal.Decimal(f"{code}e-{type.scale}")  # whatever the context of the caller
    if type.name == "float":
        return struct.unpack("<d", struct.pack("<q", code if code >= 0 else code ^ INT64_MAX))[0]
    try:
        if type.name == "date":
            return datetime.date.fromordinal(code + _EPOCH_DAY)
        if type.name == "timestamp":
            return _EPOCH + datetime.timedelta(microseconds=code)
    except (ValueError, OverflowError):
        raise ValueRangeError(
            f"{type} code {code} lies outside the years 1 to 9999 that Python can show"
        ) from None
    return bool(code) if type.name == "bool" else code


def code_of(type: Type, value: object) -> int:
    """The code of a value of any type but str: it follows from the value alone. Raises as
    `encode_scalar`.
    """
    value = plain(value)
    if value is None:
        if type.optional:
            return NULL_CODE
        raise NullValueError(
            "NULL is not a value", hint='leave the row out, or load with nulls="drop"'
        )
    if type.name == "int" and isinstance(value, int) and not isinstance(value, bool):
        return _in_range(type, int(value))
    if type.name == "bool" and isinstance(value, bool):
        return int(value)
    if type.name == "float" and isinstance(value, (float, int)) and not isinstance(value, bool):
        return _float_code(value if isinstance(value, float) else _exact_float(value))
    if type.name == "timestamp" and isinstance(value, datetime.datetime):
        return _timestamp_code(value)
    if (
        type.name == "date"
        and isinstance(value, datetime.date)
        and not isinstance(value, datetime.datetime)
    ):
        return value.toordinal() - _EPOCH_DAY
    if (
        type.name == "decimal"
        and isinstance(value, (python_decimal.Decimal, int))
        and not isinstance(value, bool)
    ):
        return _decimal_code(type, python_decimal.Decimal(value))
    raise ValueTypeError(
        f"expected {type}, found {shown(value)} ({value.__class__.__name__})",
        hint=_remedy(type, value),
    )


# ── parts of code_of ──────────────────────────────────────────────────────────────────────────────
def _in_range(type: Type, code: int) -> int:
    least, greatest = code_range(type) or (INT64_MIN + type.optional, INT64_MAX)
    if not least <= code <= greatest:
        hint = null_hint(type) if code == NULL_CODE else None
        message = f"{shown(code)} is outside the range of {type}, {least} … {greatest}"
        raise ValueRangeError(message, hint=hint)
    return code


def null_hint(type: Type) -> str | None:
    """The reason why the least integer is refused in a column of this type."""
    return (
        f"this integer stands for NULL there; declare the column {type.required}, without NULL"
        if type.optional
        else None
    )


def shown(value: object) -> str:
    """`repr`, cut to a line; integers of more digits than Python writes by their size."""
    try:
        text = repr(value)
    except ValueError:
        return (
            f"<{value.bit_length()} bits>"
            if isinstance(value, int)
            else f"<{type(value).__name__}>"
        )
    return text if len(text) <= 80 else text[:77] + "…"


def in_words(value: object) -> str:
    """A value of a row in a message: strings in quotes, NULL, and all others as `str` has them."""
    return "NULL" if value is None else repr(value) if isinstance(value, str) else str(value)


def _exact_float(value: int) -> float:
    """An integer literal in a float column is welcome while it loses nothing."""
    try:
        if (converted := float(value)) == value:
            return converted
    except OverflowError:
        pass
    raise ValueTypeError(
        f"the integer {shown(value)} has no exact float",
        hint="write it as a float, or make the column int or decimal",
    )


def _timestamp_code(value: datetime.datetime) -> int:
    if getattr(value, "nanosecond", 0):  # pandas.Timestamp
        raise ValueTypeError(
            f"timestamps hold microseconds, found {value}", hint='round it first: value.round("us")'
        )
    return (in_utc(value) - _EPOCH) // _MICROSECOND


def in_utc(value: datetime.datetime) -> datetime.datetime:
    """The date and time in UTC of an instant, which is a timestamp with a zone; any other as it is.
    Raises ValueRangeError where that is before the year 1 or after 9999.
    """
    if value.utcoffset() is None:
        return value
    try:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    except OverflowError:
        message = f"{value.isoformat()} is outside the years 1 to 9999 in UTC"
        raise ValueRangeError(message) from None


def _decimal_code(type: Type, value: python_decimal.Decimal) -> int:
    if value.is_nan():
        raise NullValueError(
            "NaN is not a value", code="E201", hint='leave the row out, or load with nulls="drop"'
        )
    precision, scale = type.precision or 0, type.scale or 0
    if not value.is_finite() or (value and value.adjusted() >= precision - scale):
        raise ValueRangeError(f"{str(value)[:80]} is outside the range of {type}")
    sign, digits, exponent = value.as_tuple()
    shift = int(exponent) + scale
    magnitude = int("".join(map(str, digits)))
    if shift < 0:
        magnitude, rest = divmod(magnitude, 10 ** min(-shift, len(digits) + 1))
        if rest:
            message = f"{str(value)[:80]} has more than the {scale} decimal places of {type}"
            raise ValueTypeError(message, hint="round it first: value.quantize(…)")
    elif magnitude:
        magnitude *= 10**shift
    return -magnitude if sign else magnitude


def _remedy(type: Type, value: object) -> str | None:
    """Suggest a replacement for common type clashes."""
    if value != value:
        return "write None where a value is missing"
    if type.name == "str":
        return "decode it: value.decode()" if isinstance(value, bytes) else "convert it with str(…)"
    if type.name in ("int", "float", "bool") and isinstance(
        value, (bool, int, float, str, python_decimal.Decimal, np.floating)
    ):
        own = (
            type_of_value(value).name
            if isinstance(value, (bool, int, float, str))
            else "decimal(…,…)"
        )
        return f"convert it with {type.name}(…), or declare the column {own}"
    if type.name == "date" and isinstance(value, datetime.datetime):
        return "take value.date(), or declare the column timestamp"
    if type.name == "timestamp" and isinstance(value, datetime.date):
        return "give the time too: datetime.datetime(…), or declare the column date"
    if type.name in ("date", "timestamp") and isinstance(value, np.datetime64):
        return (
            "timestamps hold microseconds, of the years 1 to 9999: "
            "value.astype('datetime64[us]') rounds"
        )
    if type.name in ("date", "timestamp") and isinstance(value, str):
        column = "pandas.to_datetime(column)" + (".dt.date" if type.name == "date" else "")
        return (
            f"convert it with "
            f"{'date' if type.name == 'date' else 'datetime'}.fromisoformat(…), a column of a "
            f"frame with {column}"
        )
    if type.name == "decimal" and isinstance(value, (float, str)):
        return (
            f"make it a decimal.Decimal from text: "
            f"Decimal({'value' if isinstance(value, str) else 'str(value)).quantize(…'})"
        )
    return None


def type_of_value(value: object) -> Type:
    """The type of one Python value; a decimal gets its own digits as precision and scale. Raises
    ValueTypeError.
    """
    value = plain(value)
    if isinstance(value, python_decimal.Decimal) and value.is_finite():
        _, digits, exponent = value.as_tuple()
        scale = max(0, -int(exponent))
        return decimal(max(1, scale, len(digits) + max(0, int(exponent))), scale)
    for base in type(value).__mro__:
        if base in _OF_PYTHON:
            return _OF_PYTHON[base]
    raise ValueTypeError(f"{value!r} ({type(value).__name__}) is not a value of any column type")


def plain(value: object) -> object:
    """A NumPy scalar as the Python value it stands for, where that loses nothing; everything else
    as it is. NaT is None.
    """
    if type(value).__name__ in ("NaTType", "NAType") and type(value).__module__.startswith(
        "pandas."
    ):
        return None
    if not isinstance(value, np.generic):
        return value
    if not isinstance(value, np.datetime64):
        return value.item()
    if np.isnat(value):
        return None
    exact = value if np.datetime_data(value.dtype)[0] == "D" else value.astype("datetime64[us]")
    fits = (
        exact.astype(value.dtype) == value
    )  # what is compared as it is wraps around as the conversion does
    return exact.item() if fits and isinstance(exact.item(), datetime.date) else value
