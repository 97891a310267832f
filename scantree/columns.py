# SPDX-License-Identifier: Apache-2.0
"""Rows on their way into compiled code: a list of equally long int64 columns as one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Columns = Sequence[NDArray[np.int64]] | NDArray[np.int64]
"""A list of columns, or a matrix of columns × rows."""

_COPIED = 1 << 13  # words that are copied in less time than it takes to see whether they need be


class Lines(list[NDArray[np.int64]]):
    """Columns that are also there as a matrix: its lines, or `columns` equal to these. Not to be
    changed.
    """

    __slots__ = ("matrix",)

    def __init__(
        self, matrix: NDArray[np.int64], columns: Sequence[NDArray[np.int64]] | None = None
    ) -> None:
        super().__init__(matrix if columns is None else columns)
        self.matrix = matrix


def _lines_of(columns: Columns) -> NDArray[np.int64] | None:
    """The matrix whose lines these columns are, all of them in their order; None when there is
    none.
    """
    base = columns[0].base
    if (
        not isinstance(base, np.ndarray)
        or base.shape != (len(columns), len(columns[0]))
        or base.dtype != np.int64
    ):
        return None
    places = [base.ctypes.data + line * base.strides[0] for line in range(len(columns))]
    same = all(
        column.ctypes.data == place and column.strides == (8,)
        for column, place in zip(columns, places, strict=True)
    )
    return base if same and base.flags.c_contiguous else None


@cache
def _no_rows(width: int) -> NDArray[np.int64]:
    """No rows of so many columns. Most changes only insert or only erase."""
    return np.empty((width, 0), np.int64)


def as_matrix(columns: Columns, width: int) -> NDArray[np.int64]:
    """`columns` as one array of shape width × n, no copy if they are one, or many and its lines.

    No columns are `width` of no rows. ValueError where they are not so many, or not equally long.
    """
    if type(columns) is list and len(columns) == width and width * len(columns[0]) <= _COPIED:
        return _copied(columns)
    if type(columns) is Lines:
        data = columns.matrix = np.ascontiguousarray(columns.matrix)
    elif (
        isinstance(columns, np.ndarray)
        and columns.ndim == 2
        and columns.dtype == np.int64
        and columns.flags.c_contiguous
    ):
        data = columns
    elif not any(map(len, columns)):
        if len(columns) not in (0, width):
            raise ValueError(f"{width} columns expected, {len(columns)} given")
        return _no_rows(width)
    elif len(columns) * len(columns[0]) <= _COPIED or (data := _lines_of(columns)) is None:
        data = _copied(columns)
    if data.shape[0] != width:
        raise ValueError(f"{width} columns expected, {data.shape[0]} given")
    return data


def _copied(columns: Columns) -> NDArray[np.int64]:
    try:
        return np.array(columns, np.int64, order="C")
    except ValueError:
        raise ValueError(
            f"columns of {' and '.join(str(len(column)) for column in columns)} rows"
        ) from None
