# SPDX-License-Identifier: Apache-2.0
"""Coded columns to what users hold: Arrow, pandas, Polars, tuples. Empty results keep
their types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lftj.errors import MissingDependencyError, ValueRangeError
from lftj.scantree.place_sort import places_in_order
from lftj.scantree.process.interrupts import interrupts_wait
from lftj.scantree.rows import sort_rows
from lftj.types import NULL_CODE, Type, codes_to_floats, decode_scalar
from lftj.types.arrow_arrays import acquaint_with_pandas, arrow_array, rows_of_nothing
from lftj.types.texts import Texts

if TYPE_CHECKING:
    import pandas
    import polars

_STRING_BYTES = 2**30
"""Text per Arrow chunk; 2 GiB is what one can hold."""


def decode_column(type: Type, codes: np.ndarray, texts: Texts) -> pa.ChunkedArray:
    """The values of a column of codes as `type.arrow`. O(n); strings are copied, in chunks below 2
    GiB.
    """
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    if type.optional:
        if (absent := codes == NULL_CODE).any():
            return _with_gaps(type.required, codes, absent, texts)
        type = type.required
    if type.name == "str":
        return pa.chunked_array(
            [texts.decode(part) for part in _string_chunks(codes, texts)], type=pa.string()
        )
    return pa.chunked_array([_decode(type, codes)], type=type.arrow)


def _with_gaps(type: Type, codes: np.ndarray, absent: np.ndarray, texts: Texts) -> pa.ChunkedArray:
    """The values of a column of codes, with NULL where they are `absent`."""
    if type.name == "str":
        places = np.cumsum(~absent) - 1
        whole = decode_column(type, codes[~absent], texts)
        return whole.take(pa.array(places, mask=absent))
    filled = _decode(type, np.where(absent, 0, codes))
    valid = pa.py_buffer(np.packbits(~absent, bitorder="little"))
    buffers = [valid, *filled.buffers()[1:]]
    return pa.chunked_array([pa.Array.from_buffers(filled.type, len(codes), buffers)])


def to_arrow(
    names: Sequence[str],
    types: Sequence[Type],
    code_columns: Sequence[np.ndarray],
    texts: Texts,
    *,
    rows: int | None = None,
) -> pa.Table:
    """An Arrow table: int64, float64, string, bool, date32, timestamp[us], decimal128(p, s).

    Integer and timestamp columns share the memory of the codes, so those must not be written to
    afterwards. A relation without columns (as stored: one column that means nothing) is a table
    without columns that has its number of rows, which `rows` tells where not even that column is
    given.
    """
    if not types:
        rows = rows if rows is not None else len(code_columns[0]) if code_columns else 0
        nothing = rows_of_nothing(rows)
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(nothing)])
    columns = [
        decode_column(type, codes, texts) for type, codes in zip(types, code_columns, strict=True)
    ]
    schema = pa.schema(
        [pa.field(name, type.arrow) for name, type in zip(names, types, strict=True)]
    )
    return pa.table(columns, schema=schema)


def for_interchange(table: pa.Table) -> pa.Table:
    """A table without types that the interchange protocol of dataframes does not know."""
    fields = [field.with_type(_interchanged(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def _interchanged(type: pa.DataType) -> pa.DataType:
    if pa.types.is_decimal(type):
        return pa.float64()
    return pa.timestamp("us") if pa.types.is_date(type) else type


def to_pandas(
    names: Sequence[str],
    types: Sequence[Type],
    code_columns: Sequence[np.ndarray],
    texts: Texts,
    *,
    rows: int | None = None,
) -> pandas.DataFrame:
    """A DataFrame: int64, float64, bool; strings as columns of `str`, whose dtype is `str` from
    pandas 3 on and `object` before; dates as object
    columns of `datetime.date`; timestamps as datetime64[us]; decimals as object columns of
    `Decimal`. Optional columns are Int64, Float64 and boolean; in others NULL is None, and NaT
    among timestamps. Raises MissingDependencyError when pandas is not installed.
    """
    pandas = _require("pandas")
    table = to_arrow(names, types, code_columns, texts, rows=rows)
    try:
        frame = table.to_pandas(date_as_object=True)
        for place, type in enumerate(types):
            if type.optional and type.name in _NULLABLE:
                nullable = getattr(pandas, _NULLABLE[type.name])()
                frame.isetitem(place, nullable.__from_arrow__(table.column(place)))
        return frame
    except (OverflowError, ValueError) as reason:
        raise ValueRangeError(
            f"pandas cannot show a value: {reason}", hint="take .arrow() or .pl() instead"
        ) from None


_NULLABLE = {"int": "Int64Dtype", "float": "Float64Dtype", "bool": "BooleanDtype"}
"""pandas' types of optional columns."""


def to_polars(
    names: Sequence[str],
    types: Sequence[Type],
    code_columns: Sequence[np.ndarray],
    texts: Texts,
    *,
    rows: int | None = None,
) -> polars.DataFrame:
    """A Polars DataFrame: Int64, Float64, String, Boolean, Date, Datetime("us"), Decimal.

    Raises MissingDependencyError when Polars is not installed."""
    return _require("polars").from_arrow(to_arrow(names, types, code_columns, texts, rows=rows))


def to_tuples(
    types: Sequence[Type], code_columns: Sequence[np.ndarray], texts: Texts, *, rows: int = 0
) -> list[tuple[Any, ...]]:
    """Rows as tuples of Python values. `rows` counts those of a relation without columns. About 50
    ns a value, 1 µs for dates, timestamps and decimals.
    """
    if not types:
        return [()] * rows
    return list(
        zip(
            *(
                to_values(type, codes, texts)
                for type, codes in zip(types, code_columns, strict=True)
            ),
            strict=True,
        )
    )


def to_values(type: Type, codes: np.ndarray, texts: Texts) -> list[Any]:
    """The Python values of a column of codes. Raises ValueRangeError for dates beyond the years 1
    to 9999.
    """
    if type.optional:
        codes = np.asarray(codes)
        if (absent := codes == NULL_CODE).any():
            found = iter(to_values(type.required, codes[~absent], texts))
            return [None if gap else next(found) for gap in absent.tolist()]
    if type.name == "int":
        return np.asarray(codes).tolist()
    if type.name == "float":
        return codes_to_floats(codes).tolist()
    if type.name == "bool":
        return (np.asarray(codes) != 0).tolist()
    if type.name == "str":
        return decode_column(type, codes, texts).to_pylist()
    return [decode_scalar(type, code, texts) for code in np.asarray(codes).tolist()]


def value_order(
    types: Sequence[Type],
    code_columns: Sequence[np.ndarray],
    texts: Texts,
    *,
    descending: Sequence[bool] = (),
) -> np.ndarray:
    """The permutation (int64) that sorts rows by their values, first column first; strings by code
    point, NULL last in either direction. `descending`: of each column, none by default. O(n · bits
    of a row).
    """
    if not code_columns:
        return np.empty(0, dtype=np.int64)
    keys = [
        _sort_key(type, np.asarray(codes), texts, falls)
        for type, codes, falls in zip(
            types, code_columns, descending or [False] * len(types), strict=True
        )
    ]
    return places_in_order(keys)


def _sort_key(type: Type, codes: np.ndarray, texts: Texts, descending: bool) -> np.ndarray:
    if type.optional and (absent := codes == NULL_CODE).any():
        key = np.zeros(len(codes), np.int64)
        if not absent.all():
            there = _sort_key(type.required, codes[~absent], texts, descending)
            there = there if descending else there - 1  # no value is the least of all integers
            key[~absent] = there
            key[absent] = there.max() + 1
        return key
    if type.name == "str" and len(codes):
        (distinct,) = sort_rows([codes])
        codes = texts.ranks(distinct)[np.searchsorted(distinct, codes)]
    return ~codes if descending else codes


def _decode(type: Type, codes: np.ndarray) -> pa.Array:
    """Any column but strings; ints, timestamps and floats without a further copy."""
    if type.name == "float":
        return arrow_array(codes_to_floats(codes))
    if type.name == "bool":
        return arrow_array(codes != 0)
    if type.name == "date":
        return arrow_array(codes.astype(np.int32)).view(pa.date32())
    if type.name == "decimal":
        words = np.stack([codes, codes >> 63], axis=1)  # 128-bit integers: value, then sign
        return pa.Array.from_buffers(type.arrow, len(codes), [None, pa.py_buffer(words)])
    return arrow_array(codes).view(type.arrow)


def _string_chunks(codes: np.ndarray, texts: Texts) -> Iterator[np.ndarray]:
    if not len(codes):
        return
    ends = np.cumsum(texts.lengths(codes))
    start = 0
    while start < len(codes):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _STRING_BYTES, side="right")))
        yield codes[start:stop]
        start = stop


def _require(package: str) -> Any:
    """The package, imported whole while an interrupt waits. Raises
    MissingDependencyError (E250).
    """
    try:
        with interrupts_wait():
            module = import_module(package)
    except ImportError:
        raise MissingDependencyError.of(package) from None
    acquaint_with_pandas()
    return module
