# SPDX-License-Identifier: Apache-2.0
"""The values of a source that do not fit their columns: the first ones in the order of rows, so
that a file or a frame is mended at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from lftj.errors import LftjError, WrongValueError
from lftj.frames.frame import Carrier, Place, Target, null_error, with_null_codes


class _Bare(LftjError):
    """An error, and the row of its value; None: a whole column does not fit."""

    def __init__(self, error: LftjError, row: int | None):
        super().__init__(error.message)
        self.error = error
        self.row = row


class _NoPlace(Place):
    """The place of what is looked through in pieces."""

    __slots__ = ()

    def locate(self, error: LftjError, column: str, row: int | None = None) -> LftjError:
        """The error with its row."""
        return _Bare(error, row)


def with_others(
    first: WrongValueError,
    carrier: Carrier,
    targets: Sequence[Target],
    positions: Sequence[int | None],
    nulls: bool,
) -> WrongValueError:
    """The error of the first value that does not fit, in the order of rows, which lists the next
    ones too; `nulls`: NULL is none that fits. O(n) for each: this is how a load ends.
    """
    most = WrongValueError.shown + 1
    found: list[tuple[int, int, LftjError]] = []
    for number, (target, position) in enumerate(zip(targets, positions, strict=True)):
        if position is not None:
            wrong = islice(_wrong_in(carrier, position, target, nulls), most)
            found += [
                (-1 if row is None else row, number, error)
                for row, error in wrong
                if isinstance(error, WrongValueError)
            ]
    found.sort(key=lambda each: each[:2])
    errors = [
        targets[number].fail(error, None if row < 0 else row) for row, number, error in found[:most]
    ]
    return WrongValueError.of(errors) if errors else first


def _wrong_in(
    carrier: Carrier, position: int, target: Target, nulls: bool
) -> Iterator[tuple[int | None, LftjError]]:
    """The values of a column that do not fit, with their rows."""
    bare = target._replace(place=_NoPlace(), expected=None)
    first = 0
    while first < carrier.rows:
        row, error = _first_wrong(carrier, position, bare, first)
        end = carrier.rows if error is None else row
        if nulls and end is not None and end > first:
            yield from _absent_in(carrier, position, bare, first, end)
        if error is None:
            return
        yield row, error
        if row is None:
            return
        first = row + 1


def _first_wrong(
    carrier: Carrier, position: int, target: Target, first: int
) -> tuple[int | None, LftjError | None]:
    """The first value from a row on that is of another type, or outside the range; None as the
    error: there is none.
    """
    try:
        column = carrier.part(first, carrier.rows).code(position, target)
        with_null_codes(column, target.place, target.name, target.type)
    except _Bare as found:
        return None if found.row is None else first + found.row, found.error
    return None, None


def _absent_in(
    carrier: Carrier, position: int, target: Target, first: int, end: int
) -> Iterator[tuple[int, LftjError]]:
    """The rows among some, all of whose values fit, that have none."""
    column = carrier.part(first, end).code(position, target)
    column = with_null_codes(column, target.place, target.name, target.type)
    absent = column.absent()
    for row in np.flatnonzero(absent) if absent is not None else ():
        nan = column.nans is not None and bool(column.nans[row])
        yield first + int(row), null_error(target.type, nan)
