"""Values of every type come back unchanged through every carrier, and out again in every form."""

from __future__ import annotations

import datetime
import math
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

from lftj.errors import LftjError, ValueRangeError
from lftj.frames import read, to_arrow, to_pandas, to_polars, to_tuples, value_order
from lftj.types import DATE, FLOAT, INT, STR
from lftj.types.dictionary import Dictionary
from tests.unit.frames.carriers import CARRIERS, COLUMNS, NAMES, ROWS, arrow_table, read_back

TYPES = [type for _, type in COLUMNS]


@pytest.mark.parametrize("carrier", CARRIERS)
def test_every_carrier_brings_the_values(carrier: str) -> None:
    @given(ROWS)
    def check(rows: list[tuple[Any, ...]]) -> None:
        with tempfile.TemporaryDirectory() as directory:
            assert read_back(CARRIERS[carrier](rows, Path(directory))) == rows

    check()


@given(ROWS)
def test_every_form_gives_the_values(rows: list[tuple[Any, ...]]) -> None:
    dictionary = Dictionary()
    codes = read(rows, COLUMNS, dictionary=dictionary).columns
    table = to_arrow(NAMES, TYPES, codes, dictionary)
    assert table.schema == arrow_table([]).schema
    assert [tuple(row.values()) for row in table.to_pylist()] == rows
    assert [tuple(row) for row in to_polars(NAMES, TYPES, codes, dictionary).rows()] == rows
    frame = to_pandas(NAMES, TYPES, codes, dictionary)
    assert list(frame.itertuples(index=False, name=None)) == rows
    assert read_back(frame) == rows


def test_empty_results_keep_their_types() -> None:
    codes = [np.empty(0, dtype=np.int64) for _ in COLUMNS]
    assert to_arrow(NAMES, TYPES, codes, Dictionary()).schema.types == [
        type.arrow for type in TYPES
    ]
    text = str(pd.Series(["x"]).dtype)  # "str" from pandas 3 on
    assert text in ("object", "str")
    assert [str(kind) for kind in to_pandas(NAMES, TYPES, codes, Dictionary()).dtypes] == [
        *("int64", "float64", text, "bool", "object", "datetime64[us]", "object")
    ]
    assert [str(kind) for kind in to_polars(NAMES, TYPES, codes, Dictionary()).dtypes] == [
        *(
            "Int64",
            "Float64",
            "String",
            "Boolean",
            "Date",
            "Datetime(time_unit='us', time_zone=None)",
            "Decimal(precision=18, scale=3)",
        )
    ]
    assert to_tuples(TYPES, codes, Dictionary()) == []


@pytest.mark.parametrize(
    "source",
    [[], (), iter(()), arrow_table([]), arrow_table([]).to_pandas()],
    ids=lambda s: type(s).__name__,
)
def test_empty_frames_are_empty_relations(source: object) -> None:
    assert read_back(source) == []


def test_pandas_columns_of_nothing_fit_every_type() -> None:
    """Whatever dtype they got: pandas makes lists without values float64."""
    import pandas

    assert read_back(pandas.DataFrame({name: [] for name in NAMES})) == []
    assert read_back(pandas.DataFrame({name: np.empty(0) for name in NAMES})) == []
    assert read_back(pandas.DataFrame(columns=NAMES)) == []
    with pytest.raises(LftjError, match="expected int, found float64"):
        read_back(pandas.DataFrame({"x": [1.5]}), [("x", INT)])


def test_large_integers_stay_integers() -> None:
    import pandas

    values = [-(2**63), 2**63 - 1, 2**53 + 1]
    frame = pandas.DataFrame({"x": pandas.array([*values, None], dtype="Int64")})
    assert read_back(frame, [("x", INT)], nulls="drop") == [(value,) for value in values]
    codes = read(frame.dropna(), [("x", INT)], dictionary=Dictionary()).columns
    assert to_pandas(["x"], [INT], codes, Dictionary())["x"].tolist() == values


def test_minus_zero_comes_in_as_zero() -> None:
    for source in ([(-0.0,)], pa.table({"x": [-0.0]}), np.array([[-0.0]])):
        assert math.copysign(1, read_back(source, [("x", FLOAT)])[0][0]) == 1


@pytest.mark.parametrize(
    ("column", "type"),
    [
        (pa.array([1, 2], pa.int8()), "int"),
        (pa.array([1, 2], pa.uint64()), "int"),
        (pa.array([1, 2], pa.int32()).dictionary_encode(), "int"),
        (pa.array([1.0, 2.5], pa.float32()), "float"),
        (pa.array(["a", "b"], pa.large_string()), "str"),
        (pa.array(["a", "b"]).cast(pa.string_view()), "str"),
        (pa.array([datetime.date(2013, 1, 1)], pa.date64()), "date"),
        (pa.array([datetime.datetime(2013, 1, 1)], pa.timestamp("s")), "timestamp"),
        (pa.array([datetime.datetime(2013, 1, 1)], pa.timestamp("ns")), "timestamp"),
        (pa.array([Decimal("1.5")], pa.decimal256(30, 1)), "decimal(4,2)"),
        (pa.array([Decimal("-1.5")], pa.decimal32(5, 1)), "decimal(4,2)"),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else value,
)
def test_exact_relatives_in_arrow(column: pa.Array, type: str) -> None:
    from lftj.types import type_of_python

    assert read_back(pa.table({"x": column}), [("x", type_of_python(type))]) == [
        (value,) for value in column.to_pylist()
    ]


def test_rows_sort_by_value_not_by_code() -> None:
    dictionary = Dictionary()
    few = [("b", 2), ("a", 1), ("b", -1), ("B", 9), ("ä", 0), ("", 5), ("a", 1)]
    for rows in (
        few,
        [(s, i * n % 1009 - (n % 7 == 0) * 2**62) for n in range(500) for s, i in few],
    ):
        codes = read(rows, [("s", STR), ("i", INT)], dictionary=dictionary).columns
        order = value_order([STR, INT], codes, dictionary)
        assert [rows[i] for i in order] == sorted(rows)


def test_a_relation_without_columns_counts_its_rows() -> None:
    frame = read([(), ()], [], dictionary=Dictionary())
    assert (frame.rows, frame.columns) == (2, [])
    assert to_tuples([], [], Dictionary(), rows=2) == [(), ()]
    assert to_arrow([], [], [np.zeros(2, dtype=np.int64)], Dictionary()).shape == (2, 0)
    assert to_arrow([], [], [], Dictionary()).shape == (0, 0)


def test_dates_pandas_cannot_show() -> None:
    codes = [np.array([3_000_000], dtype=np.int64)]
    with pytest.raises(ValueRangeError):
        to_pandas(["d"], [DATE], codes, Dictionary())
    assert to_arrow(["d"], [DATE], codes, Dictionary()).num_rows == 1
