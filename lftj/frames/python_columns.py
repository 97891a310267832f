# SPDX-License-Identifier: Apache-2.0
"""Columns of Python values: what tuples, dicts and pandas' object columns are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.errors import LftjError, NullValueError
from lftj.frames.frame import CodedColumn, Target
from lftj.types import NULL_CODE, encode_scalar, floats_to_codes
from lftj.types.codes import plain

_DTYPES = {"int": (int, np.int64), "float": (float, np.float64), "bool": (bool, np.int64)}


def code_values(
    values: Sequence[object], target: Target, *, nan_is_null: bool = False
) -> CodedColumn:
    """Codes of Python values. `nan_is_null`: a float NaN in a column of another type means NULL, as
    in pandas.

    About 30 ns a value when all are of the one expected Python type, 1 µs otherwise.
    Raises ValueTypeError or ValueRangeError with row and column.
    """
    if target.type.optional:
        return _code_optional(values, target, nan_is_null)
    return _code_alike(values, target) or _code_each(values, target, nan_is_null)


def _code_optional(values: Sequence[object], target: Target, nan_is_null: bool) -> CodedColumn:
    """Codes of an optional column, whose values may all be alike but for None."""
    missing = None
    if type(None) in set(map(type, values)):
        missing = np.fromiter((value is None for value in values), np.bool_, len(values))
    present = values if missing is None else [value for value in values if value is not None]
    alike = _code_alike(present, target)
    if alike is None or (nan_is_null and alike.nans is not None):
        return _code_each(values, target, nan_is_null)
    if missing is None:
        return alike
    codes, nans = np.zeros(len(values), np.int64), None
    codes[~missing] = alike.codes
    if alike.nans is not None:
        nans = np.zeros(len(values), np.bool_)
        nans[~missing] = alike.nans
    return CodedColumn(codes, missing, nans)


def _code_alike(values: Sequence[object], target: Target) -> CodedColumn | None:
    """All at once, when every value has exactly the expected type; None when the slow way has to
    tell.
    """
    kinds = set(map(type, values))
    name = target.type.name
    if name == "str" and kinds <= {str}:
        try:
            return CodedColumn(target.dictionary.encode(values, target.expected))  # type: ignore[arg-type]
        except LftjError:
            return None
    expected, dtype = _DTYPES.get(name, (None, None))
    if expected is None or not kinds <= {expected}:
        return None
    try:
        column = np.array(values, dtype=dtype)
    except OverflowError:
        return None
    if target.type.unsigned and len(column) and column.min() < 0:
        return None
    if name != "float":
        return CodedColumn(column)
    nans = np.isnan(column)
    return CodedColumn(floats_to_codes(column), nans=nans if nans.any() else None)


def _code_each(values: Sequence[object], target: Target, nan_is_null: bool) -> CodedColumn:
    codes = np.zeros(len(values), dtype=np.int64)
    missing = np.zeros(len(values), dtype=bool)
    nans = np.zeros(len(values), dtype=bool)
    for row, value in enumerate(values):
        if value is None or (
            nan_is_null
            and (target.type.optional or target.type.name != "float")
            and isinstance(value, float)
            and value != value
        ):
            missing[row] = True
            continue
        try:
            codes[row] = encode_scalar(target.type, value, target.dictionary)
            if codes[row] == NULL_CODE:  # or the integer, which is refused later
                missing[row] = plain(value) is None
        except NullValueError as error:
            (nans if error.code == "E201" else missing)[row] = True
        except LftjError as error:
            raise target.fail(error, row) from None
    return CodedColumn(codes, missing, nans)
