# SPDX-License-Identifier: Apache-2.0
"""Columns of text, as files have them, to codes of any type.

Numbers may have blanks around them and a leading plus; strings are taken as they are. Written
forms: `true false 1 0`, `2013-01-31`, `2013-01-31 23:59:59.123456` (or with a `T`), `inf -inf`. A
zone behind a time, `Z` or `+01:00`, makes it one of UTC.
"""

from __future__ import annotations

import decimal
import math
import re
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.errors import LftjError, ValueRangeError, ValueTypeError
from lftj.frames.arrow_columns import code_arrow, first_failing
from lftj.frames.frame import CodedColumn, Target
from lftj.frames.parquet import INSTANT
from lftj.types import INT64_MAX, INT64_MIN, TIMESTAMP, Type, code_of, code_range
from lftj.types import arrow_compute as pc
from lftj.types.arrow_arrays import arrow_array, arrow_scalar, numpy_array

_HINTS = {
    "int": "write whole numbers as -12, or declare the column float or str",
    "float": "write numbers as -1.5 or 2e10, or declare the column str",
    "decimal": "write numbers as -1.50, or declare the column str",
    "bool": "write true or false",
    "date": "write dates as 2013-01-31",
    "timestamp": "write timestamps as 2013-01-31 23:59:59.123456, or with a zone, +01:00",
}
_PREFIXED = re.compile(r"\s*([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+))\s*")
_ZONED = r":\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$"
_WORDS_FOR_NULL = {"na", "n/a", "null", "none", "nil", "\\n", "<na>"}


def code_text(
    strings: pa.ChunkedArray, target: Target, *, empty_is_null: bool, null: str | None
) -> CodedColumn:
    """Codes of a column of strings without NULL. `empty_is_null`: an empty field in a column of
    another type than str is NULL; in optional ones it always is. `null`: the field that is NULL in
    a column of any type; None: `\\N`, in an optional column of strings.

    Raises ValueTypeError or ValueRangeError naming row, column and text.
    """
    if target.type.name == "str":
        if null is not None or target.type.optional:
            return code_arrow(_null_where(strings, NULL_TEXT if null is None else null), target)
        return CodedColumn(target.dictionary.encode(strings))
    if null is not None:
        strings = _null_where(strings, null)
    empty_is_null |= target.type.optional
    if empty_is_null:
        strings = _null_where(strings, "")
    return code_arrow(_parse_column(strings, target, empty_is_null), target)


NULL_TEXT = "\\N"
"""Field of a file that is the NULL of an optional column of strings."""


def _null_where(strings: pa.ChunkedArray, text: str) -> pa.ChunkedArray:
    """The strings, with NULL in place of one of them."""
    return pc.if_else(pc.equal(strings, arrow_scalar(text)), pa.nulls(1, strings.type)[0], strings)


def decimal_integers(strings: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whole numbers that are written as `0x1f` or `0b101`, as Soufflé's fact files may have them,
    in decimals. O(n), little without any.
    """
    if not any(
        pc.any(pc.match_substring(strings, prefix, ignore_case=True)).as_py()
        for prefix in ("0x", "0b")
    ):
        return strings
    return pa.chunked_array(
        [arrow_array([_decimal(text) for text in strings.to_pylist()], strings.type)]
    )


def _decimal(text: str) -> str:
    found = _PREFIXED.fullmatch(text) if len(text) <= 400 else None
    if found is None:
        return text
    sign, hexadecimal, binary = found.groups()
    return sign + str(int(hexadecimal or binary, 16 if hexadecimal else 2))


def _parse_column(strings: pa.ChunkedArray, target: Target, empty_is_null: bool) -> pa.ChunkedArray:
    """The strings as values of the target's Arrow type."""
    try:
        return _parse(strings, target.type)
    except pa.ArrowInvalid:
        trimmed = pc.replace_substring_regex(
            pc.utf8_trim_whitespace(strings), r"^\+([0-9.])", r"\1"
        )
    try:
        return _parse(trimmed, target.type)
    except pa.ArrowInvalid:
        valid = trimmed.combine_chunks().drop_null()
        first = first_failing(valid, lambda part: _parse(part, target.type))
        row = int(np.flatnonzero(numpy_array(strings.is_valid()))[first])
        raise target.fail(
            _error_of(strings[row].as_py(), target.type, empty_is_null), row
        ) from None


def _parse(strings: Any, type: Type) -> Any:
    """As Arrow casts text, less what it does silently: hexadecimal numbers wrap around there, and
    great floats become infinite.
    """
    if type.name == "timestamp":
        return _moments(strings)
    parsed = pc.cast(strings, type.arrow)
    if type.name == "int" and pc.any(pc.match_substring(strings, "x", ignore_case=True)).as_py():
        raise pa.ArrowInvalid("hexadecimal")
    if type.name == "float":
        infinite = pc.fill_null(pc.is_inf(parsed), arrow_scalar(False))
        if (
            pc.any(infinite).as_py()
            and not pc.all(
                pc.match_substring(strings.filter(infinite), "inf", ignore_case=True)
            ).as_py()
        ):
            raise pa.ArrowInvalid("out of range")
    return parsed


def _moments(strings: Any) -> Any:
    """Dates and times; those with a zone in UTC."""
    try:
        return pc.cast(strings, TIMESTAMP.arrow)
    except pa.ArrowInvalid:
        zoned = pc.match_substring_regex(strings, _ZONED)
        missing = pa.nulls(1, strings.type)[0]
        instants = pc.cast(pc.if_else(zoned, strings, missing), INSTANT)
        others = pc.cast(pc.if_else(zoned, missing, strings), TIMESTAMP.arrow)
        return pc.if_else(zoned, pc.cast(instants, TIMESTAMP.arrow), others)


def _error_of(text: str, type: Type, empty_is_null: bool) -> LftjError:
    """Build the error of a text that is not a value of the type."""
    trimmed = text.strip()
    if type.name == "int" and re.fullmatch(r"[+-]?[0-9]+", trimmed):
        least, greatest = code_range(type) or (INT64_MIN + type.optional, INT64_MAX)
        return ValueRangeError(f"{trimmed} is outside the range of {type}, {least} … {greatest}")
    if (
        type.name == "float"
        and re.fullmatch(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", trimmed, re.IGNORECASE)
        and math.isinf(float(trimmed))
    ):
        return ValueRangeError(f"{trimmed} is outside the range of float")
    if type.name == "decimal":
        try:
            code_of(type, decimal.Decimal(trimmed))
        except LftjError as error:
            return error
        except decimal.InvalidOperation:
            pass
    hint = _HINTS.get(type.name)
    if trimmed.casefold() in _WORDS_FOR_NULL and empty_is_null:
        hint = f'NULL is an empty field, not the word {trimmed}, which null="{trimmed}" makes it'
    return ValueTypeError(f"expected {type}, found {text!r}", hint=hint)
