# SPDX-License-Identifier: Apache-2.0
"""pandas and NumPy as carriers: columns that are arrays in memory."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.errors import FrameError, ValueTypeError
from lftj.frames.arrow_columns import all_missing, code_arrow
from lftj.frames.frame import CodedColumn, Place, Target
from lftj.frames.python_columns import code_values
from lftj.scantree.frozen import frozen
from lftj.types.arrow_arrays import arrow_array


@frozen
class PandasCarrier:
    """A pandas DataFrame, read column by column: `object` columns value by value, the others
    through Arrow.
    """

    frame: Any
    place: Place = field(default_factory=Place)

    @property
    def names(self) -> list[Hashable]:
        """Column labels in order; the index is not read."""
        return list(self.frame.columns)

    @property
    def index_names(self) -> list[Hashable]:
        """Names of the index levels: columns that a user may look for, as after a `groupby`."""
        return list(self.frame.index.names)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.frame.columns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    def code(self, position: int, target: Target) -> CodedColumn:
        """See `Carrier.code`. NaN and NaT in other than float columns are NULL."""
        column = self.frame.iloc[:, position]
        if column.dtype == object or (
            column.dtype == np.float64 and not len(column)
        ):  # which pandas gives to a column of nothing
            return code_values(column.tolist(), target, nan_is_null=True)
        if isinstance(column.dtype, np.dtype):
            values = column.to_numpy()
            if target.type.optional and column.dtype.kind == "f":
                return _code_gaps(values, target)
            return _code_array(values, target)
        try:
            array = arrow_array(column, from_pandas=True)
        except (pa.ArrowException, TypeError) as reason:
            raise _unknown(column.dtype, reason, target) from None
        return code_arrow(array, target)

    def part(self, first: int, end: int) -> PandasCarrier:
        """See `Carrier.part`."""
        return PandasCarrier(self.frame.iloc[first:end], self.place)


@frozen
class ArrayCarrier:
    """A NumPy array: the columns of one with two dimensions go by position, the fields of a
    structured one by name.
    """

    array: np.ndarray
    place: Place = field(default_factory=lambda: Place("the array"))

    @property
    def names(self) -> list[Hashable] | None:
        """The fields of a structured array, or None."""
        fields = self.array.dtype.names
        return None if fields is None else list(fields)

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.array.shape[1] if self.names is None else len(self.names)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.array.shape[0]

    def code(self, position: int, target: Target) -> CodedColumn:
        """See `Carrier.code`."""
        fields = self.array.dtype.names
        column = self.array[:, position] if fields is None else self.array[fields[position]]
        return (
            code_values(column.tolist(), target)
            if column.dtype == object
            else _code_array(column, target)
        )

    def part(self, first: int, end: int) -> ArrayCarrier:
        """See `Carrier.part`."""
        return ArrayCarrier(self.array[first:end], self.place)


def carry_array(array: np.ndarray) -> ArrayCarrier | None:
    """The carrier of an array; None for one that holds rows as Python objects. Raises FrameError
    (E231) for other shapes.
    """
    if isinstance(array, np.matrix):
        array = np.asarray(array)  # whose columns are two-dimensional again
    structured = array.dtype.names is not None
    if array.ndim == (1 if structured else 2):
        return ArrayCarrier(array)
    if array.ndim == 1 and array.dtype == object:
        return None
    hint = (
        "pass array.ravel()"
        if structured
        else "pass one with two, a row for each first index: array.reshape(-1, 1) is one column"
    )
    dimensions = f"{array.ndim} dimension{'s' if array.ndim != 1 else ''}"
    raise FrameError(f"an array of {dimensions} is no table", code="E231", hint=hint)


def _code_gaps(column: np.ndarray, target: Target) -> CodedColumn:
    """Codes of pandas' floats for an optional column, where NaN is NULL: pandas makes floats of
    whole numbers with gaps, and of these they come back where none is lost.
    """
    missing = np.isnan(column)
    if len(column) and missing.all():  # what pandas makes of a field that is empty in all rows
        return all_missing(len(column))
    filled = np.where(missing, 0.0, column)
    whole = (np.abs(filled) < _EXACT_TO).all() and (np.floor(filled) == filled).all()
    if target.type.name == "int" and missing.any() and whole:
        filled = filled.astype(np.int64)
    coded = _code_array(filled, target)
    return CodedColumn(coded.codes, missing, None)


_EXACT_TO = 2.0**53
"""Whole numbers of floats that stand for one integer each."""


def _code_array(column: np.ndarray, target: Target) -> CodedColumn:
    """Codes of a one-dimensional array of any type but object; its mask, where it has one, says
    what is NULL.
    """
    if (
        not column.dtype.isnative
    ):  # as from files of other machines; Arrow knows this one's order of bytes alone
        column = column.astype(column.dtype.newbyteorder("="))
    try:
        array = arrow_array(column)
    except (pa.ArrowException, TypeError) as reason:
        raise _unknown(column.dtype, reason, target) from None
    return code_arrow(array, target)


def _unknown(dtype: object, reason: BaseException, target: Target) -> Exception:
    """The error for a column of a type that Arrow has nothing for."""
    hint = f"convert the column to {target.type.arrow} first, or declare it otherwise"
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        hint = 'convert it with .astype("datetime64[s]") or "datetime64[us]" first'
    return target.fail(
        ValueTypeError(f"expected {target.type}, found {dtype}: {reason}", hint=hint)
    )
