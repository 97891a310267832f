"""Names and types of the columns of data, for the declaration of a relation like it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from lftj.errors import DeclarationError, LftjError
from lftj.frames.carriers import ArrowCarrier, TextCarrier, carry_table
from lftj.frames.coded_rows import CodedRows
from lftj.frames.files import carry_file, local_path
from lftj.frames.frame import Target
from lftj.types import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP, Type, type_of_python
from lftj.types.codes import type_of_value
from lftj.types.dictionary import Dictionary

_READ_AS = (INT, FLOAT, BOOL, DATE, TIMESTAMP)
"""Types that text may be of, in the order in which they are tried."""


def columns_of(data: object) -> dict[str, Type]:
    """The columns of a table, a file, a result, or rows as dicts. Text is of the first type that
    all its fields can be read as. Raises DeclarationError (E160) for data without names, (E161)
    for a column of a type that relations have not.
    """
    source: Any = data
    if isinstance(source, CodedRows):
        names: Sequence[str] = source.columns  # type: ignore[attr-defined]
        return dict(zip(names, source.types, strict=True))  # type: ignore[attr-defined]
    if isinstance(source, (list, tuple)):
        if source and isinstance(source[0], Mapping):
            return _of_dicts(source)  # pyright: ignore[reportUnknownArgumentType]
        source = None
    is_path = isinstance(source, (str, os.PathLike))
    carrier: Any = None
    if source is not None:
        carrier = carry_file(local_path(source)) if is_path else carry_table(source)
    if carrier is None or carrier.names is None:
        raise DeclarationError(
            f"columns are a dict of names and types, found {type(data).__name__}",
            hint='write {"id": int, "country": str}, or pass data that names them: a frame, a file',
        )
    names = [str(name) for name in carrier.names]
    if isinstance(carrier, TextCarrier):
        return {name: _of_text(carrier, place) for place, name in enumerate(names)}
    table = (
        carrier.table
        if isinstance(carrier, ArrowCarrier)
        else pa.Table.from_pandas(source, preserve_index=False)
        if hasattr(source, "iloc")
        else pa.table({name: data[name] for name in names})  # type: ignore[index]
    )
    return {name: _of_arrow(name, table.column(place)) for place, name in enumerate(names)}


def _of_arrow(name: str, column: Any) -> Type:
    try:
        return type_of_python(column.type)
    except DeclarationError as error:
        raise DeclarationError(
            f"column `{name}` is {column.type}, of which relations have none",
            code="E161",
            hint=f"convert it first, or declare the columns by hand; {error.hint}",
        ) from None


def _of_text(carrier: TextCarrier, place: int) -> Type:
    name = str((carrier.names or [])[place])
    for type in _READ_AS if carrier.rows else ():
        try:
            carrier.code(place, Target(name, type, Dictionary(), carrier.place))
        except LftjError:
            continue
        return type
    return STR


def _of_dicts(rows: Sequence[Mapping[str, object]]) -> dict[str, Type]:
    found: dict[str, Type] = {}
    for name in rows[0]:
        values = [row[name] for row in rows if name in row and row[name] is not None]
        types = list(dict.fromkeys(map(type_of_value, values)))
        if not types or any(one.name != other.name for one, other in pairwise(types)):
            shown = ", ".join(map(str, types)) or "no value"
            raise DeclarationError(
                f"column `{name}` has values of {shown}",
                code="E161",
                hint="declare the columns by hand: {…: int}",
            )
        found[name] = types[0]
    return found
