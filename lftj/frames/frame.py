# SPDX-License-Identifier: Apache-2.0
"""Common parts of all carriers of data: coded columns, the place of a value in its source, and the
treatment of NULL and NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from typing import Literal, NamedTuple, Protocol

import numpy as np

from lftj.errors import FrameError, LftjError, NullValueError
from lftj.scantree.frozen import frozen
from lftj.types import NULL_CODE, Type, code_of
from lftj.types.dictionary import Dictionary
from lftj.types.expected_texts import ExpectedTexts

NullPolicy = Literal["error", "drop"]
Columns = Sequence[tuple[str, Type]]
"""Names and types of a relation's columns, in order."""


def missing_hint(type: Type, what: str) -> str:
    """The remedy for a missing value in a column of this type."""
    if what == "NaN":
        first = "write None where a value is missing" if type.optional else "leave the row out"
        return f'{first}, or load with nulls="drop"'
    return f'leave the row out, load with nulls="drop", or declare the column {type}?'


class Late(Protocol):
    """A column that has a code in each row, made when it is asked for, as often as that is."""

    def __call__(self) -> np.ndarray:
        """All codes, which nobody may write to."""
        ...

    def read(self, first: int, out: np.ndarray, beside: np.ndarray) -> None:
        """Write the codes of the rows from `first` on to `out`; the texts of these rows probably
        have the codes `beside`.
        """
        ...


class Frame(NamedTuple):
    """Data on its way into a relation: one int64 array of codes per column, in the order of the
    relation's columns.

    `rows` counts the rows (a relation without columns has them too); `dropped` counts those left
    out for a NULL or NaN. Rows are in the order of the input, duplicates included. The arrays are
    contiguous, writable and the caller's own.

    `late`: each column when it is asked for, for who reads one after the other and asked for them
    so; then `columns` has none. What it gives may be the memory of the source.
    """

    columns: list[np.ndarray]
    rows: int
    dropped: int = 0
    late: list[Late] | None = None


@frozen(slots=True)
class Place:
    """Names rows and columns of one source in messages. `line_of` gives the 1-based line of a row,
    for text files; `first`: the number of its first row, where it is read in pieces; `chosen`: the
    numbers of its rows in the piece, where not all of them are read; `file_of` gives the file of a
    folder that has a row, and the row's number there.
    """

    subject: str = "the frame"
    line_of: Callable[[int], int | None] | None = None
    is_file: bool = False
    first: int = 0
    chosen: np.ndarray | None = field(default=None, compare=False)
    file_of: Callable[[int], tuple[str, int]] | None = None
    row_is: str = "row"
    """The word for a row."""

    def row(self, row: int) -> str:
        """A row for a message: by its line, from 1 as in every editor, where it has one, else by
        its number, from 0 as in every frame.
        """
        if self.chosen is not None:
            row = int(self.chosen[row])
        if not self.is_file:
            return f"{self.row_is} {self.first + row}"
        if self.file_of is not None:
            file, row = self.file_of(row)
            return f"{file}, row {row}"
        line = self.line_of(row) if self.line_of else None
        return (
            f"{self.subject}, row {self.first + row}"
            if line is None
            else f"{self.subject}, line {line}"
        )

    def column(self, column: str) -> str:
        """A whole column for a message."""
        return f'{self.subject}, column "{column}"' if self.is_file else f'column "{column}"'

    def locate(self, error: LftjError, column: str, row: int | None = None) -> LftjError:
        """The same error, saying where."""
        where = self.column(column) if row is None else f'{self.row(row)}, column "{column}"'
        return type(error)(f"{where}: {error.message}", code=error.code, hint=error.hint)


class CodedColumn(NamedTuple):
    """Codes of one column; where `missing` (NULL) or `nans` is true the code means nothing. None:
    there are none.
    """

    codes: np.ndarray
    missing: np.ndarray | None = None
    nans: np.ndarray | None = None

    def absent(self) -> np.ndarray | None:
        """True where there is no value for either reason; None when there is always one."""
        masks = [mask for mask in (self.missing, self.nans) if mask is not None and mask.any()]
        return None if not masks else masks[0] if len(masks) == 1 else masks[0] | masks[1]


class Target(NamedTuple):
    """The relation column that a source column is to become, and where to report trouble."""

    name: str
    type: Type
    dictionary: Dictionary
    place: Place = Place()
    expected: ExpectedTexts | None = None
    """Codes that strings of the column probably have."""

    def fail(self, error: LftjError, row: int | None = None) -> LftjError:
        """`error` with its place."""
        return self.place.locate(error, self.name, row)


class Carrier(Protocol):
    """A source of rows: pandas, Arrow, text, tuples. `names` is None when columns go by
    position.
    """

    @property
    def names(self) -> Sequence[Hashable] | None: ...
    @property
    def width(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def place(self) -> Place: ...

    def code(self, position: int, target: Target) -> CodedColumn:
        """Codes of the source column at `position`. Raises ValueTypeError, ValueRangeError with row
        and column.
        """
        ...

    def part(self, first: int, end: int) -> Carrier:
        """The rows numbered [first, end), to look for values that do not fit."""
        ...


def with_null_codes(column: CodedColumn, place: Place, name: str, type: Type) -> CodedColumn:
    """The column with the code of NULL where values of an optional column are missing. Raises
    ValueRangeError for an integer that has this code. O(n) for optional columns.
    """
    if not type.optional:
        return column
    codes, missing = column.codes, column.missing
    if missing is not None and not missing.any():
        missing = None
    if type.name == "int" and not type.unsigned and len(codes) and codes.min() == NULL_CODE:
        taken = codes == NULL_CODE
        if missing is not None:
            taken &= ~missing
        if taken.any():
            try:
                code_of(type, NULL_CODE)
            except LftjError as error:
                raise place.locate(error, name, int(np.argmax(taken))) from None
    if missing is not None:
        codes[missing] = NULL_CODE
    return CodedColumn(codes, None, column.nans)


def without_nulls(
    coded: Sequence[CodedColumn], columns: Columns, rows: int, nulls: NullPolicy, place: Place
) -> Frame:
    """Apply the policy for NULL and NaN to coded columns. Raises NullValueError for the first one
    in row order.
    """
    absent = [column.absent() for column in coded]
    present = [mask for mask in absent if mask is not None]
    if not present:
        return Frame([column.codes for column in coded], rows)
    if nulls == "drop":
        keep = ~np.logical_or.reduce(present)
        return Frame(
            [column.codes[keep] for column in coded], int(keep.sum()), int(rows - keep.sum())
        )
    row, position = min(
        (int(np.argmax(mask)), i) for i, mask in enumerate(absent) if mask is not None
    )
    name, type = columns[position]
    nans = coded[position].nans
    raise place.locate(null_error(type, nans is not None and bool(nans[row])), name, row)


def null_error(type: Type, nan: bool) -> NullValueError:
    """The error about a value that is missing."""
    what, code = ("NaN", "E201") if nan else ("NULL", "E200")
    return NullValueError(f"{what} is not a value", code=code, hint=missing_hint(type, what))


def check_policy(nulls: str) -> None:
    """Raises FrameError for a policy that is neither "error" nor "drop"."""
    if nulls not in ("error", "drop"):
        raise FrameError(
            f"nulls={nulls!r} is not a policy",
            hint='write nulls="error" or nulls="drop"; '
            "null= says which field of a text file is NULL",
        )


def not_a_policy(null: str | None) -> str | None:
    """A hint for a text of NULL that reads like a policy."""
    if null not in ("error", "drop"):
        return None
    does = "leaves out" if null == "drop" else "refuses"
    return (
        f"null={null!r} says that the text {null!r} is NULL; nulls={null!r} {does} rows with NULL"
    )
