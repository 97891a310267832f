# SPDX-License-Identifier: Apache-2.0
"""Parquet files as Arrow tables, with columns of INT96 as what they are: instants.

Spark writes timestamps so by default, moved from the zone of its session to UTC. Arrow reads them
as timestamps without a zone, in nanoseconds, which wrap around beyond the year 2262.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from lftj.frames.confined import check_all_inside

INSTANT = pa.timestamp("us", "UTC")
_READ: dict[str, Any] = {"coerce_int96_timestamp_unit": "us"}


def open_parquet(source: Any) -> Any:
    """A `ParquetFile`. Its own schema does not say which timestamps are instants."""
    from pyarrow import parquet  # only where a file is read

    return parquet.ParquetFile(source, **_READ)


def parquet_schema(file: Any) -> pa.Schema:
    """The columns of an opened file."""
    return _with_instants(file.schema_arrow.empty_table(), _int96(file.metadata)).schema


def read_file(source: Any) -> pa.Table:
    """All rows of one file."""
    file = open_parquet(source)
    flat = [field.name for field in file.schema_arrow if not pa.types.is_nested(field.type)]
    table = _with_nested(file.read(columns=flat), file.schema_arrow)
    return _with_instants(table, _int96(file.metadata))


def read_folder(folder: Path) -> pa.Table:
    """All rows of a folder of files as Spark writes them, where folders named `column=value` are
    columns too.
    """
    from pyarrow import parquet

    folder = check_all_inside(folder)
    files = parquet.ParquetDataset(folder, **_READ)
    schema = _schema_of_all(files)
    flat = pa.schema([field for field in schema if not pa.types.is_nested(field.type)])
    table = _with_nested(parquet.read_table(folder, schema=flat, **_READ), schema)
    return _with_instants(
        table, {name for file in files.fragments for name in _int96(file.metadata)}
    )


def _with_nested(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with columns that nobody reads, since no type has lists or structs: Arrow cannot
    read some. Their names and types are told, their values are NULL.
    """
    for place, field in enumerate(schema):
        if pa.types.is_nested(field.type):
            table = table.add_column(place, field, pa.nulls(table.num_rows, field.type))
    return table


def _int96(metadata: Any) -> set[str]:
    """The names of columns of INT96."""
    columns = map(metadata.schema.column, range(metadata.num_columns))
    return {column.path for column in columns if column.physical_type == "INT96"}


def _with_instants(table: pa.Table, names: set[str]) -> pa.Table:
    """The table where timestamps of these names are in UTC. Nothing is copied."""
    for place, field in enumerate(table.schema):
        if field.name in names and pa.types.is_timestamp(field.type):
            instants = table.column(place).cast(INSTANT)
            table = table.set_column(place, field.with_type(INSTANT), instants)
    return table


def _schema_of_all(files: Any) -> pa.Schema:
    """The columns of all files of a folder: those of the first, then what only later ones have.
    Arrow goes by the first alone, and has dictionaries for what the names of folders say, which it
    does not find again.
    """
    inside = {name for file in files.fragments for name in file.physical_schema.names}
    named = [
        field
        for field in files.schema
        if field.name not in inside and pa.types.is_dictionary(field.type)
    ]
    schema = files.schema
    for field in named:
        schema = schema.set(
            schema.get_field_index(field.name), field.with_type(field.type.value_type)
        )
    for file in files.fragments:
        for field in file.physical_schema:
            if field.name not in schema.names:
                schema = schema.append(field)
    return schema
