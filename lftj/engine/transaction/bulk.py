# SPDX-License-Identifier: Apache-2.0
"""Changes in bulk: rows that are deleted by their keys, and relations made equal to a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from lftj import frames
from lftj.engine.commit.staging import Staging, codes_of, require_key
from lftj.engine.programs.declared import checked_key
from lftj.errors import DeclarationError, FrameError, OptionError
from lftj.frames.frame import Late
from lftj.frames.late_columns import HeldCodes
from lftj.program.normal_form import RelationSchema
from lftj.scantree.compare import PIECE, compared
from lftj.scantree.rows import contains, equal_runs, sort_order, sort_rows
from lftj.storage.delta import Columns
from lftj.types import INT64_MAX, INT64_MIN
from lftj.types.dictionary import Dictionary

_CLASSES = {"int": int, "str": str, "bool": bool, "float": float}
"""Types of columns whose values of these classes need no closer look."""
_LISTED = (list, tuple, set, frozenset, dict, range, str)


class PlainKeys:
    """Keys of rows to delete that came one by one, as Python values: they are coded together."""

    def __init__(self, schema: RelationSchema):
        self.columns = [schema.columns[place] for place in schema.key or ()]
        self.rows: list[tuple[Any, ...]] = []
        self._classes = tuple(_CLASSES.get(type.name) for _, type in self.columns)
        self._single = self._classes[0] if len(self._classes) == 1 else None
        self._signed = not any(type.unsigned for _, type in self.columns)

    def take(self, keys: object) -> bool:
        """Note a list of few keys; False for anything that has to be looked at more closely."""
        if type(keys) is not list or len(keys) > 8 or not self._signed:  # pyright: ignore[reportUnknownArgumentType]
            return False
        found = list[tuple[Any, ...]]()
        for key in keys:  # pyright: ignore[reportUnknownVariableType]
            row: tuple[Any, ...] = key if type(key) is tuple else (key,)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            if len(row) != len(self._classes):
                return False
            for value, expected in zip(row, self._classes, strict=True):
                if type(value) is not expected or expected is float:
                    return False
                if expected is int and not INT64_MIN <= value <= INT64_MAX:
                    return False
            found.append(row)
        self.rows += found
        return True


def places_of(schema: RelationSchema, keys: object) -> tuple[tuple[int, ...], object]:
    """The columns by which `keys` tell rows, and the keys as data of these columns: those that a
    table names, else the key of the relation. Raises TransactionError (E324), FrameError (E230).
    """
    keys = _as_table(schema, keys)
    names = frames.names_of(keys)
    known = [name for name, _ in schema.columns]
    if names is not None:
        if unknown := [name for name in names if name not in known]:
            raise FrameError(
                f"keys have a column {unknown[0]!r}, which `{schema.name}` has not",
                hint=f"its columns are {', '.join(known)}",
            )
        return tuple(sorted(known.index(str(name)) for name in names)), keys
    require_key(schema)
    if isinstance(keys, (list, set, frozenset, range)) and len(schema.key or ()) == 1:
        keys = [key if isinstance(key, (tuple, list)) else (key,) for key in keys]  # pyright: ignore[reportUnknownVariableType]
    return tuple(schema.key or ()), keys


def _as_table(schema: RelationSchema, keys: Any) -> object:
    """Keys of one column as a table of it, where they are an array or a series; else themselves."""
    one_column = schema.key is not None and len(schema.key) == 1
    if isinstance(keys, np.ndarray):
        return pa.table({_key_name(schema): keys}) if one_column and _is_plain(keys) else keys
    if hasattr(keys, "columns") or not hasattr(keys, "__len__") or isinstance(keys, _LISTED):
        return keys
    array = keys.to_arrow() if hasattr(keys, "to_arrow") else keys  # of Polars
    is_array = isinstance(array, (pa.Array, pa.ChunkedArray)) or hasattr(array, "dtype")
    if not is_array:
        return keys
    if not one_column:
        return list(keys)
    return pa.table(
        {
            _key_name(schema): pa.array(array, from_pandas=True)
            if not isinstance(array, (pa.Array, pa.ChunkedArray))
            else array
        }
    )


def _key_name(schema: RelationSchema) -> str:
    assert schema.key is not None
    return schema.columns[schema.key[0]][0]


def _is_plain(keys: np.ndarray) -> bool:
    """Test for an array of one dimension, of values."""
    return keys.ndim == 1 and keys.dtype.names is None


def identity_of(schema: RelationSchema, by: str | Sequence[str] | None) -> tuple[int, ...]:
    """The columns that tell rows apart: those that are given, else the key, else all. Raises
    UnknownNameError (E111).
    """
    if by is None:
        return tuple(range(schema.arity)) if schema.key is None else schema.key
    return checked_key(schema.name, dict(schema.columns), by) or ()


def require_one(data: object) -> None:
    """Raise OptionError (E171) for rows beside keys."""
    if data is not None:
        raise OptionError(
            "rows to delete were given twice, as rows and as keys",
            code="E171",
            hint="give whole rows, tx.delete(relation, rows), or keys: tx.delete(relation, keys=…)",
        )


class Synced(NamedTuple):
    """The numbers of identities that a table had anew, with other values, and not any more."""

    inserted: int
    updated: int
    deleted: int


def sync(
    staging: Staging,
    schema: RelationSchema,
    rows: Sequence[Late],
    count: int,
    by: Sequence[int],
    scope: dict[int, int],
) -> Synced:
    """Make a relation equal to a table: its `count` rows, or those with the values of a scope. Of
    rows with the same values in the columns `by` the last one counts.
    """
    inserts, erases = _differences(staging, rows, count, by, scope)
    staging.add("delete", erases)
    staging.add("insert", inserts)
    if not by:
        return Synced(len(inserts[0]), 0, len(erases[0]))
    came, went = (sort_rows([each[place] for place in by]) for each in (inserts, erases))
    updated = int(np.count_nonzero(contains(came, went)))
    return Synced(len(came[0]) - updated, updated, len(went[0]) - updated)


def _differences(
    staging: Staging, rows: Sequence[Late], count: int, by: Sequence[int], scope: dict[int, int]
) -> tuple[Columns, Columns]:
    """The rows of a table that the relation lacks, and the reverse. O(n) for a table in the order
    of the relation, of which nothing is read twice, else O(n log n).
    """
    width = next((place for place in range(len(rows)) if place not in by), len(rows))
    found, tells = None, set(staging.alone) <= set(range(width))  # rows of other identities apart
    if tells:
        found = _compared(staging, rows, count, width, scope)
    if found is None:
        columns = [late() for late in rows]
        if tells:
            found = _compared(staging, *_held(sort_rows(columns)), width, scope)
        if found is None:
            columns = _last(columns, by) if by else columns
            found = _compared(staging, *_held(sort_rows(columns)), len(rows), scope)
    assert found is not None  # what is sorted ascends
    return found


def _held(columns: Columns) -> tuple[Sequence[Late], int]:
    """Columns that are there, and their rows."""
    return list(map(HeldCodes, columns)), len(columns[0])


def _compared(
    staging: Staging, rows: Sequence[Late], count: int, width: int, scope: dict[int, int]
) -> tuple[Columns, Columns] | None:
    """As `_differences`; None for rows that do not ascend in their first `width` columns."""

    def read(first: int, out: np.ndarray, beside: np.ndarray) -> None:
        for late, codes, likely in zip(rows, out, beside, strict=True):
            late.read(first, codes, likely)

    return compared(read, count, len(rows), width, staging.pieces(scope, PIECE))


def _last(rows: Columns, by: Sequence[int]) -> Columns:
    """The last row of each identity, of which there is some column."""
    columns = [rows[place] for place in by]
    order = sort_order(columns)
    starts = equal_runs([column[order] for column in columns], len(columns))
    last = order[np.append(starts[1:], len(order))[: len(starts)] - 1]
    return [column[last] for column in rows]


def scope_of(
    schema: RelationSchema,
    rows: Sequence[Late],
    count: int,
    where: Mapping[str, object],
    dictionary: Dictionary,
) -> dict[int, int] | None:
    """The values of `where` as codes; None where some is a string that no row has. Raises
    DeclarationError (E160) for rows outside, UnknownNameError (E111).
    """
    scope = codes_of(schema, where, dictionary)
    if scope is None and count:
        raise _outside(schema.name, ", ".join(where))
    for place, code in (scope or {}).items():
        if (rows[place]() != code).any():
            raise _outside(schema.name, schema.columns[place][0])
    return scope


def _outside(relation: str, column: str) -> DeclarationError:
    return DeclarationError(
        f"rows of the table for `{relation}` have other values in {column} than where= says",
        hint="leave these rows out, or the column out of where=",
    )
