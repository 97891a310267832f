# SPDX-License-Identifier: Apache-2.0
"""Arrow columns to codes: only conversions that lose nothing, a column at a time.

| relation column | Arrow columns that fit |
|---|---|
| `int` | int8 … int64, uint8 … uint32, uint64 below 2⁶³ |
| `float` | float16, float32, float64 |
| `str` | string, large_string, string_view |
| `bool` | bool |
| `date` | date32, date64 on whole days; of the years 1 to 9999 |
| `timestamp` | timestamp, years 1 to 9999: s, ms, us; ns on whole microseconds |
| `decimal(p,s)` | decimals of any width whose values have p digits, s after the point |

A timestamp with a zone is an instant, and fits as its date and time in UTC, whatever the zone: the
zone says how the column is shown.

A column that is dictionary-encoded or run-end encoded fits where its values do; a column of type
null is all NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.errors import FrameError, LftjError, ValueRangeError, ValueTypeError
from lftj.frames.frame import CodedColumn, Place, Target
from lftj.types import INT, NULL_CODE, Type, code_of, code_range, floats_to_codes, type_of_python
from lftj.types import arrow_compute as pc
from lftj.types.arrow_arrays import as_large_strings, numpy_array
from lftj.types.arrow_validity import require_valid


def code_arrow(column: pa.ChunkedArray | pa.Array, target: Target) -> CodedColumn:
    """Codes of an Arrow column. One copy of the data; strings also pass through the dictionary.

    Raises ValueTypeError for a column that does not fit, FrameError (E232) for one that is
    damaged, and ValueTypeError or ValueRangeError for a value that does not fit.
    """
    if _PLAIN.get(column.type.id) != target.type.name:
        nested = pa.types.is_nested(column.type)
        if not nested and column.null_count and column.null_count == len(column):
            require_whole(column, target.name, target.place)
            return all_missing(len(column))  # what is missing is of every type
        _check_fits(column.type, target)
        require_whole(column, target.name, target.place)
        if pa.types.is_run_end_encoded(column.type):
            column = pc.run_end_decode(column)
        if pa.types.is_dictionary(column.type) or pa.types.is_string_view(column.type):
            column = _without_indirection(column)
    else:
        require_whole(column, target.name, target.place)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    rows = len(column)
    if not rows:
        return CodedColumn(np.empty(0, np.int64))
    if len(chunks) == 1 and not chunks[0].null_count and target.type.name != "float":
        # what nearly all columns of small frames are: one new array, filled at once
        return CodedColumn(
            np.array(
                _code_chunk(chunks[0], target, slice(0, rows), None),
                np.int64,
                copy=target.type.name != "str",
            )
        )
    codes = (np.zeros if column.null_count else np.empty)(rows, np.int64)
    missing = np.zeros(rows, dtype=bool) if column.null_count else None
    nans = np.zeros(rows, dtype=bool) if target.type.name == "float" else None
    start = 0
    for chunk in chunks:
        span = slice(start, start + len(chunk))
        start = span.stop
        if missing is None or not chunk.null_count:
            codes[span] = _code_chunk(chunk, target, span, nans)
            continue
        missing[span] = numpy_array(chunk.is_null())
        valid = span.start + np.flatnonzero(~missing[span])
        if len(valid):
            codes[valid] = _code_chunk(chunk.drop_null(), target, valid, nans)
    return CodedColumn(codes, missing, nans)


def all_missing(rows: int) -> CodedColumn:
    """A column without any value."""
    return CodedColumn(np.zeros(rows, np.int64), np.ones(rows, bool))


def is_held(found: pa.DataType, type: Type) -> bool:
    """Test for a column whose memory holds its codes, or floats, though perhaps in fewer bits."""
    if type.name == "int":
        return found in _EXACT and not type.unsigned
    if type.name in ("float", "bool", "date", "decimal"):
        return bool(found.equals(type.arrow))
    return type.name == "timestamp" and bool(found.equals(pa.timestamp("us")))


def held_in(chunk: pa.Array, type: Type) -> np.ndarray | None:
    """The codes, or floats, that a chunk holds, anything where it lacks a value; None where there
    is a value that has no code. O(n) for what has a range.
    """
    convert = _CONVERSIONS.get(type.name)
    try:
        values = convert(chunk, type) if convert else numpy_array(chunk)
    except OverflowError:
        return None
    if type.name == "float":
        wrong = np.isnan(values) if np.isnan(values.min()) else None
    elif type.name == "int" and type.optional and values.dtype == np.int64:
        wrong = values == NULL_CODE if values.min() == NULL_CODE else None
    else:
        return values
    if wrong is not None and chunk.null_count:
        wrong &= ~numpy_array(chunk.is_null())
    return None if wrong is not None and wrong.any() else values


def is_text(found: pa.DataType) -> bool:
    """Test for strings, however they are kept, but for runs of them."""
    values = found.value_type if pa.types.is_dictionary(found) else found
    return bool(
        pa.types.is_string(values)
        or pa.types.is_large_string(values)
        or pa.types.is_string_view(values)
    )


_DATE32, _UINT64 = pa.date32().id, pa.uint64().id
_SIGNED = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_UNSIGNED = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
_EXACT = frozenset((*_SIGNED, *_UNSIGNED[:-1]))
_PLAIN = {arrow.id: "int" for arrow in (*_SIGNED, *_UNSIGNED)} | {
    pa.string().id: "str",
    pa.date32().id: "date",
    pa.bool_().id: "bool",
}
"""The types that most columns have, by Arrow's numbers for them: nothing about them has to be asked
that would take time.
"""

_SHOWN_YEAR = re.compile(r"(?!0000)\d{4}-")
"""Beginning of the text of a date or timestamp that Python can represent too."""
_NUMPY_NAMES = {"halffloat": "float16", "float": "float32", "double": "float64"}


# ── types ─────────────────────────────────────────────────────────────────────────────────────────
def _check_fits(found: pa.DataType, target: Target) -> None:
    if pa.types.is_run_end_encoded(found):
        found = found.value_type
    values = found.value_type if pa.types.is_dictionary(found) else found
    if pa.types.is_null(values):
        return
    try:
        fits = (
            pa.types.is_decimal(values) and _can_be_scaled(values, target.type)
            if target.type.name == "decimal"
            else type_of_python(values) == (INT if target.type.unsigned else target.type.required)
        )
    except LftjError:
        fits = False
    if not fits:
        shown = _NUMPY_NAMES.get(str(found), str(found))
        raise target.fail(
            ValueTypeError(
                f"expected {target.type}, found {shown}", hint=_remedy(values, target.type)
            )
        )


def _can_be_scaled(found: pa.DataType, type: Type) -> bool:
    """Test for decimals whose digits Arrow can shift: what it does with more places than its widest
    power of ten is not defined.
    """
    widest = 76 if pa.types.is_decimal256(found) else 38
    return abs(found.scale - (type.scale or 0)) <= widest


def _remedy(found: pa.DataType, type: Type) -> str:
    """Suggest a conversion for a whole column of another type."""
    if pa.types.is_integer(found) and type.name == "float":
        return (
            "convert the column to float64 first (integers beyond 2⁵³ would change), or "
            "declare it int"
        )
    if pa.types.is_floating(found) and type.name == "int":
        return (
            'convert the column to int64 first (in pandas, .astype("Int64") keeps missing '
            "values), or declare it float"
        )
    pandas = _IN_PANDAS.get(type.name, f".astype(pd.ArrowDtype(pa.{type.arrow}))")
    return (
        f"convert the column to {type.arrow} first, in pandas by {pandas}, or declare it otherwise"
    )


_IN_PANDAS = {
    "str": '.astype("string")',
    "int": '.astype("Int64")',
    "bool": '.astype("boolean")',
    "float": '.astype("float64")',
    "date": ".dt.date",
    "timestamp": '.astype("datetime64[us]")',
}
"""Conversions of a pandas column that keep missing values, by the type wanted."""


def require_whole(column: pa.ChunkedArray | pa.Array, name: str, place: Place) -> None:
    """Raise FrameError (E232) for a damaged column, which machine code must not see."""
    try:
        require_valid(column)
    except pa.ArrowException as reason:
        hint = "write the file, or make the frame, anew"
        error = FrameError(f"the column is damaged: {reason}", code="E232", hint=hint)
        raise place.locate(error, name) from None


def _without_indirection(column: pa.ChunkedArray | pa.Array) -> Any:
    """Dictionary-encoded columns and string views as plain ones: a NULL may hide in the former, and
    Arrow filters no views.
    """
    values = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return as_large_strings(column) if is_text(values) else column.cast(values)


# ── values ────────────────────────────────────────────────────────────────────────────────────────
def _code_chunk(
    values: pa.Array, target: Target, rows: slice | np.ndarray, nans: np.ndarray | None
) -> np.ndarray:
    """Codes of an array without NULL; `rows` says which rows of the frame it holds."""
    if target.type.name == "str":
        return code_texts(values, target, rows)
    if nans is not None:
        floats = numpy_array(values.cast(pa.float64()))
        nans[rows] = np.isnan(floats)
        return floats_to_codes(floats)
    convert = _CONVERSIONS[target.type.name]
    try:
        return convert(values, target.type)
    except (pa.ArrowInvalid, OverflowError):
        first = first_failing(values, lambda part: convert(part, target.type))
        raise target.fail(_error_of(values[first], target.type), _row(rows, first)) from None


def code_texts(values: pa.Array, target: Target, rows: slice | np.ndarray) -> np.ndarray:
    """Codes of strings without NULL; `rows`: as for `_code_chunk`. Raises ValueTypeError for what
    is no text.
    """
    try:
        return target.dictionary.encode(values, target.expected)
    except ValueTypeError as error:
        raise target.fail(
            error, _row(rows, first_failing(values, lambda part: part.validate(full=True)))
        ) from None


def _row(rows: slice | np.ndarray, place: int) -> int:
    """The row of the frame at a place of a chunk."""
    return rows.start + place if isinstance(rows, slice) else int(rows[place])


def _integers(values: pa.Array, type: Type) -> np.ndarray:
    """Integers of any width; only those of 64 bits without sign have to be looked at one by one."""
    codes = numpy_array(values.cast(pa.int64()) if values.type.id == _UINT64 else values)
    return _in_range(codes, type) if type.unsigned else codes


def _truths(values: pa.Array, type: Type) -> np.ndarray:
    return numpy_array(values)


def _days(values: pa.Array, type: Type) -> np.ndarray:
    days = values if values.type.id == _DATE32 else values.cast(pa.date32())
    last = days.offset + len(days)
    return _in_range(np.frombuffer(days.buffers()[1], np.int32, last)[days.offset :], type)


def _microseconds(values: pa.Array, type: Type) -> np.ndarray:
    return _in_range(numpy_array(values.cast(pa.timestamp("us")).cast(pa.int64())), type)


def _in_range(codes: np.ndarray, type: Type) -> np.ndarray:
    """The codes. Raises OverflowError where one has no value of the type: a negative one that is to
    be unsigned, or a date of Arrow's beyond the years 1 to 9999.
    """
    low, high = code_range(type) or (0, 0)
    if len(codes) and not (low <= codes.min() and codes.max() <= high):
        raise OverflowError
    return codes


def _scaled(values: pa.Array, type: Type) -> np.ndarray:
    """The low words of 128-bit integers: with at most 18 digits they hold the whole value, sign
    included (little-endian).
    """
    decimals = values.cast(type.arrow)
    last = decimals.offset + len(decimals)
    words = np.frombuffer(decimals.buffers()[1], "<i8", 2 * last)
    return words[2 * decimals.offset :: 2]


_CONVERSIONS: dict[str, Callable[[pa.Array, Type], np.ndarray]] = {
    "int": _integers,
    "bool": _truths,
    "date": _days,
    "timestamp": _microseconds,
    "decimal": _scaled,
}


def first_failing(values: pa.Array, convert: Callable[[pa.Array], object]) -> int:
    """Index of the first value that `convert` refuses, given that it refuses the whole. O(n):
    halves are tried, not values.
    """
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            convert(values.slice(low, middle - low))
            low = middle
        except (pa.ArrowInvalid, OverflowError):
            high = middle
    return low


def _error_of(value: pa.Scalar, type: Type) -> LftjError:
    """Build the error of one value that has no code."""
    if type.name in ("date", "timestamp"):
        text = pc.cast(value, pa.string()).as_py()
        if not _SHOWN_YEAR.match(text):
            hint = 'leave the row out, or make it NULL and load with nulls="drop"'
            return ValueRangeError(
                f"{text} is outside the range of {type}, the years 1 to 9999", hint=hint
            )
        finest = "microseconds" if type.name == "timestamp" else "whole days"
        return ValueTypeError(f"{type}s hold {finest}, found {text}", hint="round the column first")
    try:
        code_of(type, value.as_py())
    except LftjError as error:
        return error
    return ValueTypeError(f"expected {type}, found {value}")
