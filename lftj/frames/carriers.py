# SPDX-License-Identifier: Apache-2.0
"""Tables as carriers: results, Arrow and all that speaks Arrow, pandas and NumPy, columns of text.

pandas, Polars and pyspark are recognised by the module of their classes and never imported here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.errors import FrameError
from lftj.frames.arrow_columns import code_arrow
from lftj.frames.coded_rows import CodedCarrier, CodedRows
from lftj.frames.delimited import DelimitedText
from lftj.frames.frame import Carrier, CodedColumn, Late, Place, Target
from lftj.frames.late_columns import Refused, late_codes
from lftj.frames.numpy_carriers import PandasCarrier, carry_array
from lftj.frames.table_handles import versioned_table
from lftj.frames.text_columns import code_text, decimal_integers
from lftj.scantree.frozen import frozen


@frozen
class ArrowCarrier:
    """An Arrow table."""

    table: pa.Table
    place: Place = field(default_factory=Place)

    @property
    def names(self) -> list[Hashable]:
        """Column names in order."""
        return list(self.table.column_names)

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.table.num_columns

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.num_rows

    def code(self, position: int, target: Target) -> CodedColumn:
        """See `Carrier.code`."""
        return code_arrow(self.table.column(position), target)

    def part(self, first: int, end: int) -> ArrowCarrier:
        """See `Carrier.part`."""
        return replace(self, table=self.table.slice(first, end - first))

    def late(self, position: int, target: Target, refused: Refused) -> Late | None:
        """The codes, to be made when they are asked for; see `late_codes`."""
        return late_codes(self.table.column(position), target, refused)


@frozen
class TextCarrier:
    """Columns of strings from a file. An empty field is NULL, save in columns of strings; in
    Soufflé's files of `facts` there is no NULL, and integers may be written as `0x1f` and `0b101`.
    """

    names: list[Hashable] | None
    columns: Sequence[pa.ChunkedArray]
    rows: int
    place: Place
    facts: bool
    null: str | None = None
    """The field that is NULL; None: what stands for it in each type."""

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def code(self, position: int, target: Target) -> CodedColumn:
        """See `Carrier.code`."""
        strings = self.columns[position]
        if self.facts and target.type.name == "int":
            strings = decimal_integers(strings)
        return code_text(strings, target, empty_is_null=not self.facts, null=self.null)

    def part(self, first: int, end: int) -> TextCarrier:
        """See `Carrier.part`."""
        columns = [each.slice(first, end - first) for each in self.columns]
        return replace(self, columns=columns, rows=end - first)


def carry_text(
    text: DelimitedText,
    width: int,
    names: list[Hashable] | None,
    *,
    facts: bool,
    null: str | None,
) -> TextCarrier:
    """The fields of a delimited file. Raises FrameError for rows of another width."""
    columns = text.columns(width)
    place = Place(text.name, text.line_of, is_file=True)
    return TextCarrier(names, columns, len(columns[0]), place, facts, null)


def carry_table(source: Any) -> Carrier | None:
    """The carrier of a table in memory; None when `source` is no such table. Raises FrameError
    (E231) for near misses.
    """
    if isinstance(source, CodedRows):
        return CodedCarrier(source)
    if isinstance(source, pa.Table):
        return ArrowCarrier(source)
    if isinstance(source, pa.RecordBatch):
        return ArrowCarrier(pa.Table.from_batches([source]))
    if isinstance(source, pa.RecordBatchReader):
        return _carry_reader(source)
    if _is_a(source, "pandas", "DataFrame"):
        return PandasCarrier(source)
    if (table := versioned_table(source)) is not None:
        return ArrowCarrier(table.read())
    if _is_a(source, "polars", "LazyFrame"):
        raise FrameError("a LazyFrame holds no rows yet", code="E231", hint="pass frame.collect()")
    if callable(getattr(source, "toArrow", None)):  # pyspark; gathers the rows in this process
        return ArrowCarrier(source.toArrow())
    if isinstance(source, (pa.Array, pa.ChunkedArray)):
        return _carry_structs(source) if pa.types.is_struct(source.type) else None
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return _carry_stream(source)
    if isinstance(source, np.ndarray):
        return carry_array(source)
    if type(source).__module__.startswith("pyarrow.") and callable(
        getattr(source, "to_table", None)
    ):
        raise FrameError(
            f"{type(source).__name__} holds no rows yet",
            code="E231",
            hint="pass what its to_table() gives",
        )
    return None


def _carry_structs(source: pa.Array | pa.ChunkedArray) -> ArrowCarrier:
    """The fields of structs. Raises FrameError (E232) where these say what cannot be."""
    try:
        source.validate()  # Arrow joins what structs and their fields say of NULL
        return ArrowCarrier(pa.Table.from_struct_array(source))
    except pa.ArrowException as reason:
        raise FrameError(f"the array is damaged: {reason}", code="E232") from None


def _carry_reader(source: pa.RecordBatchReader) -> ArrowCarrier:
    """All that a stream gives. Raises FrameError (E232) where it ends too early."""
    try:
        return ArrowCarrier(source.read_all())
    except (pa.ArrowException, OSError) as reason:
        raise FrameError(f"the stream cannot be read: {reason}", code="E232") from None


def _carry_stream(source: Any) -> ArrowCarrier:
    try:
        return ArrowCarrier(pa.table(source))
    except (pa.ArrowException, TypeError, ValueError, OSError) as reason:
        found = f"{type(source).__module__.split('.')[0]}.{type(source).__name__}"
        raise FrameError(
            f"{found} does not come as an Arrow table: {reason}",
            code="E231",
            hint="pass a table with named columns",
        ) from None


def _is_a(source: object, package: str, name: str) -> bool:
    return any(
        base.__name__ == name and base.__module__.split(".")[0] == package
        for base in type(source).__mro__
    )
