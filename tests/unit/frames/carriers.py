"""Rows of every type, and every way to carry them: what the round-trip tests draw from."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import strategies as st

from lftj.errors import LftjError
from lftj.frames import Columns, read, to_tuples
from lftj.types import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP, decimal
from lftj.types.dictionary import Dictionary

COLUMNS: Columns = [
    ("i", INT),
    ("f", FLOAT),
    ("s", STR),
    ("b", BOOL),
    ("d", DATE),
    ("t", TIMESTAMP),
    ("m", decimal(18, 3)),
]
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=8) | st.sampled_from(
    ["", " ", "\t", "\n", "\r\n", '"', ",", "é", "😀", "NULL"]
)
INTS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1, 0])
FLOATS = st.floats(allow_nan=False) | st.sampled_from([-0.0, 5e-324, float("inf"), float("-inf")])
LIMIT = Decimal(10**15) - Decimal("0.001")
ROWS = st.lists(
    st.tuples(
        INTS,
        FLOATS,
        TEXT,
        st.booleans(),
        st.dates(),
        st.datetimes(),
        st.decimals(-LIMIT, LIMIT, places=3),
    ),
    max_size=12,
)
NAMES = [name for name, _ in COLUMNS]


def arrow_table(rows: list[tuple[Any, ...]]) -> pa.Table:
    """The rows as Arrow has them."""
    arrays = [
        pa.array([row[i] for row in rows], type=type.arrow) for i, (_, type) in enumerate(COLUMNS)
    ]
    return pa.table(arrays, names=NAMES)


def as_dicts(rows: list[tuple[Any, ...]], _: Path) -> object:
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def as_chunks(rows: list[tuple[Any, ...]], _: Path) -> object:
    table = arrow_table(rows)
    cut = pa.concat_tables([table.slice(0, 1), table.slice(1, 3), table.slice(4)])
    return cut.set_column(2, "s", cut.column("s").dictionary_encode())


def as_pandas(rows: list[tuple[Any, ...]], _: Path) -> object:
    return arrow_table(rows).to_pandas(date_as_object=True)


def as_pandas_arrow(rows: list[tuple[Any, ...]], _: Path) -> object:
    import pandas

    return arrow_table(rows).to_pandas(types_mapper=pandas.ArrowDtype)


def as_polars(rows: list[tuple[Any, ...]], _: Path) -> object:
    import polars

    return polars.from_arrow(arrow_table(rows))


class SparkLike:
    """Stand-in for pyspark's DataFrame: `toArrow` alone."""

    def __init__(self, table: pa.Table):
        self._table = table

    def toArrow(self) -> pa.Table:
        return self._table


def as_parquet(rows: list[tuple[Any, ...]], directory: Path) -> object:
    path = directory / "rows.parquet"
    pyarrow.parquet.write_table(arrow_table(rows), path)
    return path


def as_ipc(rows: list[tuple[Any, ...]], directory: Path) -> object:
    path = directory / "rows.arrow"
    table = arrow_table(rows)
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return str(path)


def as_csv(rows: list[tuple[Any, ...]], directory: Path) -> object:
    path = directory / "rows.csv"
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(NAMES)
    writer.writerows([(i, repr(f), s, b, d, t, m) for i, f, s, b, d, t, m in rows])
    path.write_bytes(text.getvalue().encode())
    return path


CARRIERS: dict[str, Callable[[list[tuple[Any, ...]], Path], object]] = {
    "tuples": lambda rows, _: rows,
    "generator": lambda rows, _: (list(row) for row in rows),
    "dicts": as_dicts,
    "arrow": lambda rows, _: arrow_table(rows),
    "arrow chunks": as_chunks,
    "arrow reader": lambda rows, _: arrow_table(rows).to_reader(max_chunksize=2),
    "pandas": as_pandas,
    "pandas arrow": as_pandas_arrow,
    "polars": as_polars,
    "spark": lambda rows, _: SparkLike(arrow_table(rows)),
    "parquet": as_parquet,
    "ipc": as_ipc,
    "csv": as_csv,
}


def read_back(source: object, columns: Columns = COLUMNS, **options: Any) -> list[tuple[Any, ...]]:
    """`source` read into codes and decoded again."""
    dictionary = Dictionary()
    frame = read(source, columns, dictionary=dictionary, **options)
    assert all(len(codes) == frame.rows for codes in frame.columns)
    assert all(
        codes.dtype == "int64" and codes.flags.writeable and codes.flags.c_contiguous
        for codes in frame.columns
    )
    return to_tuples([type for _, type in columns], frame.columns, dictionary, rows=frame.rows)


def message(source: object, columns: Any, **options: Any) -> str:
    """The text of the error that reading raises."""
    with pytest.raises(LftjError) as caught:
        read(source, columns, dictionary=Dictionary(), **options)
    return str(caught.value)
