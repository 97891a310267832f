# SPDX-License-Identifier: Apache-2.0
"""Data in and out: whatever holds rows, to int64 code columns and back.

`read` takes tuples, Arrow, pandas, Polars, Spark and files; `to_arrow`, `to_pandas`, `to_polars`
and `to_tuples` give them back; `read_facts` and `write_facts` speak Soufflé's files. No value is
changed on the way: what does not fit is an error with row and column.
"""

from __future__ import annotations

from lftj.frames.arrow_columns import require_whole
from lftj.frames.coded_rows import CodedRows
from lftj.frames.columns_of import as_table, columns_of
from lftj.frames.confined import (
    check_all_inside,
    check_inside,
    confined,
    is_confined,
    open_folder,
)
from lftj.frames.delta_sink import DeltaSink
from lftj.frames.facts import (
    FactsLayout,
    Parameters,
    check_table_parameters,
    known_parameters,
    read_facts,
    unknown_parameters,
)
from lftj.frames.files import (
    is_table_file,
    name_within,
    refuse_text_name,
    write_parquet,
    write_table,
)
from lftj.frames.frame import Columns, Frame, NullPolicy, Place
from lftj.frames.match import ColumnMap, may_lack
from lftj.frames.out import (
    decode_column,
    for_interchange,
    to_arrow,
    to_pandas,
    to_polars,
    to_tuples,
    to_values,
    value_order,
)
from lftj.frames.parquet import open_parquet, parquet_schema
from lftj.frames.read import names_of, read, read_options
from lftj.frames.table_handles import versioned_table
from lftj.frames.versioned_tables import FilePiece, VersionedTable
from lftj.frames.whole_files import new_file, sync_folder, whole_file
from lftj.frames.write_facts import format_facts, write_delimited, write_facts

__all__ = [
    "CodedRows",
    "ColumnMap",
    "Columns",
    "DeltaSink",
    "FactsLayout",
    "FilePiece",
    "Frame",
    "NullPolicy",
    "Parameters",
    "Place",
    "VersionedTable",
    "as_table",
    "check_all_inside",
    "check_inside",
    "check_table_parameters",
    "columns_of",
    "confined",
    "decode_column",
    "for_interchange",
    "format_facts",
    "is_confined",
    "is_table_file",
    "known_parameters",
    "may_lack",
    "name_within",
    "names_of",
    "new_file",
    "open_folder",
    "open_parquet",
    "parquet_schema",
    "read",
    "read_facts",
    "read_options",
    "refuse_text_name",
    "require_whole",
    "sync_folder",
    "to_arrow",
    "to_pandas",
    "to_polars",
    "to_tuples",
    "to_values",
    "unknown_parameters",
    "value_order",
    "versioned_table",
    "whole_file",
    "write_delimited",
    "write_facts",
    "write_parquet",
    "write_table",
]
