# SPDX-License-Identifier: Apache-2.0
"""Names and types of the columns of data, for the declaration of a relation like it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pyarrow as pa

from lftj.errors import DeclarationError, LftjError
from lftj.frames.carriers import ArrowCarrier, TextCarrier, carry_table
from lftj.frames.coded_rows import CodedRows
from lftj.frames.files import carry_file, local_path
from lftj.frames.frame import CodedColumn, Target
from lftj.types import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP, Type, type_of_python
from lftj.types.codes import type_of_value
from lftj.types.dictionary import Dictionary

_READ_AS = (INT, FLOAT, BOOL, DATE, TIMESTAMP)
"""Types that text may be of, in the order in which they are tried."""
_FIRST = 1000
"""Fields that are tried before all are."""


def columns_of(data: object) -> dict[str, Type]:
    """The columns of a table, a file, a result, or rows as dicts; those that hold NULL are
    optional. Text is of the first type that all its fields can be read as. Raises DeclarationError
    (E160) for data without names, (E161) for a column of a type that relations have not.
    """
    if isinstance(data, CodedRows):
        names: Sequence[str] = data.columns  # type: ignore[attr-defined]
        return dict(zip(names, data.types, strict=True))  # type: ignore[attr-defined]
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Mapping):
        return _of_dicts(data)  # pyright: ignore[reportUnknownArgumentType]
    carrier = _carrier(data)
    if isinstance(carrier, TextCarrier):
        return {str(name): _of_text(carrier, i) for i, name in enumerate(carrier.names or [])}
    table = _table(carrier, data)
    return {
        name: _of_arrow(name, table.column(place)) for place, name in enumerate(table.column_names)
    }


def as_table(data: object) -> Any:
    """A table of Arrow of data that names its columns. Raises DeclarationError (E160)."""
    if isinstance(data, CodedRows):
        return data.arrow()  # type: ignore[attr-defined]
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Mapping):
        return pa.Table.from_pylist(list(data))  # pyright: ignore[reportUnknownArgumentType]
    carrier = _carrier(data)
    if isinstance(carrier, TextCarrier):
        return pa.table(dict(zip(map(str, carrier.names or []), carrier.columns, strict=True)))
    return _with_plain_strings(_table(carrier, data))


def _with_plain_strings(table: pa.Table) -> pa.Table:
    """The table without views of strings, as Polars has them, which few functions of Arrow take."""
    plain = [
        each.with_type(pa.large_string()) if pa.types.is_string_view(each.type) else each
        for each in table.schema
    ]
    return table.cast(pa.schema(plain, table.schema.metadata))


def _carrier(data: Any) -> Any:
    """The data as columns with names. Raises DeclarationError (E160)."""
    carrier: Any = None
    if isinstance(data, (str, os.PathLike)):
        carrier = carry_file(local_path(data))
    elif data is not None and not isinstance(data, (list, tuple)):
        carrier = carry_table(data)
    if carrier is None or carrier.names is None:
        raise DeclarationError(
            f"columns are a dict of names and types, found {type(data).__name__}",
            hint='write {"id": int, "country": str}, or pass data that names them: a frame, a file',
        )
    return carrier


def _table(carrier: Any, data: Any) -> Any:
    """The table. Raises DeclarationError (E161) for a column of pandas that has no type."""
    if isinstance(carrier, ArrowCarrier):
        return carrier.table
    if hasattr(data, "iloc"):
        try:
            return pa.Table.from_pandas(data, preserve_index=False)
        except pa.ArrowException as reason:
            message = f"the frame has a column of several types: {': '.join(reason.args[::-1])}"
            hint = "convert the column to one type first, or declare the columns by hand"
            raise DeclarationError(message, code="E161", hint=hint) from None
    return pa.table({str(name): data[name] for name in carrier.names})


def _of_arrow(name: str, column: Any) -> Type:
    try:
        type = type_of_python(column.type)
        return type.or_null if column.null_count else type
    except DeclarationError as error:
        raise DeclarationError(
            f"column `{name}` is {column.type}, of which relations have none",
            code="E161",
            hint=f"convert it first, or declare the columns by hand; {error.hint}",
        ) from None


def _of_text(carrier: TextCarrier, place: int) -> Type:
    """The first type that all fields can be read as, optional where some are empty. What the first
    fields are not is not looked for in all.
    """
    first = replace(carrier, columns=[each.slice(0, _FIRST) for each in carrier.columns])
    for type in _READ_AS if carrier.rows else ():
        if _read(first, place, type) and (found := _read(carrier, place, type)):
            absent = found.absent()
            if absent is None or not absent.all():
                return type if absent is None else type.or_null
    return STR


def _read(carrier: TextCarrier, place: int, type: Type) -> CodedColumn | None:
    """A column's fields as values of a type; None where one cannot be read so."""
    name = str((carrier.names or [])[place])
    try:
        return carrier.code(place, Target(name, type, Dictionary(), carrier.place))
    except LftjError:
        return None


def _of_dicts(rows: Sequence[Mapping[str, object]]) -> dict[str, Type]:
    found: dict[str, Type] = {}
    for name in rows[0]:
        given = [row[name] for row in rows if name in row]
        values = [value for value in given if value is not None]
        types = list(dict.fromkeys(map(type_of_value, values)))
        if not types or any(one.name != other.name for one, other in pairwise(types)):
            shown = ", ".join(map(str, types)) or "no value"
            raise DeclarationError(
                f"column `{name}` has values of {shown}",
                code="E161",
                hint="declare the columns by hand: {…: int}",
            )
        found[name] = types[0].or_null if len(values) < len(given) else types[0]
    return found
