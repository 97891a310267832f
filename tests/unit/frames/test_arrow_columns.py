"""Columns of Arrow, pandas and Polars whose type or values do not fit, and those that do in every
shape.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lftj.frames.arrow_columns import code_arrow
from lftj.frames.frame import Place, Target, with_null_codes
from lftj.frames.late_columns import late_codes
from lftj.types import BOOL, DATE, FLOAT, INT, NULL_CODE, STR, TIMESTAMP, Type, decimal
from lftj.types.dictionary import Dictionary
from lftj.types.expected_texts import ExpectedTexts
from tests.unit.frames.carriers import message, read_back

EDGE = [("src", INT), ("dst", INT)]


NOW = datetime.datetime(2013, 1, 1)
TYPES = [
    (INT, pa.array([1.0]), 'column "x": expected int, found float64'),
    (INT, pa.array([True]), 'column "x": expected int, found bool'),
    (INT, pa.array(["1"]), 'column "x": expected int, found string'),
    (FLOAT, pa.array([1]), 'column "x": expected float, found int64'),
    (STR, pa.array([1]), 'column "x": expected str, found int64'),
    (STR, pa.array([b"a"]), 'column "x": expected str, found binary'),
    (DATE, pa.array([NOW]), 'column "x": expected date, found timestamp[us]'),
    (
        DATE,
        pa.array([NOW], pa.timestamp("us", "UTC")),
        'column "x": expected date, found timestamp[us, tz=UTC]',
    ),
    (decimal(4, 2), pa.array([1.5]), 'column "x": expected decimal(4,2), found float64'),
    (
        decimal(4, 2),
        pa.array([Decimal(0)]).cast(pa.decimal128(4, 0)).view(pa.decimal128(4, -37)),
        'column "x": expected decimal(4,2), found decimal128(4, -37)',
    ),
    (INT, pa.array([[1]]), 'column "x": expected int, found list<item: int64>'),
    (
        INT,
        pa.array([1, 2**63], pa.uint64()),
        'row 1, column "x": 9223372036854775808 is outside the range of int',
    ),
    (
        TIMESTAMP,
        pa.array([0, 1], pa.timestamp("ns")),
        'row 1, column "x": timestamps hold microseconds, found 1970-01-01 00:00:00.000000001',
    ),
    (
        DATE,
        pa.array([0, 2**31 - 1], pa.int32()).view(pa.date32()),
        'row 1, column "x": <value out of range: 2147483647>',
    ),
    (
        TIMESTAMP,
        pa.array([0, 2**63 - 1], pa.int64()).view(pa.timestamp("us")),
        'row 1, column "x": <value out of range: 9223372036854775807>',
    ),
    (
        TIMESTAMP,
        pa.array([253402300800], pa.timestamp("s")),
        'row 0, column "x": 10000-01-01 00:00:00 is outside the range of timestamp',
    ),
    (
        STR,
        pa.concat_arrays([pa.array(["a", "b"]), pa.array([b"\xff"]).view(pa.string())]),
        'row 2, column "x": not a string of Unicode',
    ),
    (
        DATE,
        pa.array([0, 1], pa.int64()).cast(pa.date64()),
        'row 1, column "x": dates hold whole days, found 1970-01-01',
    ),
    (
        decimal(4, 2),
        pa.array([Decimal("1.234")]),
        'row 0, column "x": 1.234 has more than the 2 decimal places of decimal(4,2)',
    ),
    (
        decimal(4, 2),
        pa.array([None, Decimal("100.1")]),
        'row 0, column "x": NULL is not a value\n  '
        'row 1, column "x": 100.1 is outside the range of decimal(4,2)\n',
    ),
]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "-05:30"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_instants_are_their_date_and_time_in_utc(zone: str, unit: str) -> None:
    moments = [datetime.datetime(2013, 7, 1, 12), None, datetime.datetime(1969, 12, 31, 23, 59)]
    plain = pa.array(moments, pa.timestamp(unit))
    instants = plain.cast(pa.timestamp(unit, "UTC")).cast(pa.timestamp(unit, zone))
    columns = [("x", TIMESTAMP.or_null)]
    found = pa.chunked_array([instants, instants.dictionary_encode().cast(instants.type)])
    expected = [(moment,) for moment in moments]
    assert read_back(pa.table({"x": found}), columns) == expected * 2
    assert read_back(pa.table({"x": instants}).to_pandas(), columns) == expected


@pytest.mark.parametrize(("type", "column", "text"), TYPES, ids=[row[2][:60] for row in TYPES])
def test_columns_that_do_not_fit(type: Any, column: pa.Array, text: str) -> None:
    assert message(pa.table({"x": column}), [("x", type)]).split("]: ", 1)[1].startswith(text)


def test_bytes_that_are_no_text_are_to_be_written_anew() -> None:
    column = pa.array([b"\xff"]).view(pa.string())
    assert message(pa.table({"x": column}), [("x", STR)]).endswith(
        "\n  help: write the text anew in UTF-8"
    )


def test_the_failing_row_is_counted_over_chunks_and_nulls() -> None:
    good = pa.array([None, 1], pa.uint64())
    table = pa.table(
        {"x": pa.chunked_array([good, good, pa.array([3, None, 2**64 - 1], pa.uint64())])}
    )
    assert 'row 6, column "x": 18446744073709551615' in message(table, [("x", INT)])


def test_integers_that_pandas_made_floats() -> None:
    import pandas

    assert message(pandas.DataFrame({"x": [1, None]}), [("x", INT)]) == (
        'error[E210]: column "x": expected int, found float64\n'
        '  help: convert the column to int64 first (in pandas, .astype("Int64") keeps missing '
        "values), or declare it float"
    )


def test_pandas_columns_arrow_does_not_know() -> None:
    import pandas

    assert 'column "x": expected int, found complex128' in message(
        pandas.DataFrame({"x": [1j]}), [("x", INT)]
    )
    assert 'column "x": expected int, found duration[ns]' in message(
        pandas.DataFrame({"x": pandas.to_timedelta([1])}), [("x", INT)]
    )
    assert 'row 1, column "x": expected str, found 1 (int)' in message(
        pandas.DataFrame({"x": ["a", 1]}), [("x", STR)]
    )
    assert read_back(
        pandas.DataFrame({"x": pandas.Categorical(["a", "b", "a"])}), [("x", STR)]
    ) == [("a",), ("b",), ("a",)]


def test_a_pandas_index_that_is_looked_for_among_the_columns() -> None:
    import pandas

    frame = pandas.DataFrame({"x": [1, 1], "n": [2, 3]}).groupby("x").sum()
    assert message(frame, [("x", INT), ("n", INT)]) == (
        'error[E230]: the frame has no column "x"; it has "n"\n'
        "  help: the frame has it as its index, which is not read: pass frame.reset_index()"
    )
    assert read_back(frame.reset_index(), [("x", INT), ("n", INT)]) == [(1, 5)]


def test_labels_of_several_levels_are_no_delimiters() -> None:
    import pandas

    frame = pandas.DataFrame([[1]], columns=pandas.MultiIndex.from_tuples([("a", "b")]))
    assert message(frame, [("x", INT)]).endswith(
        '\n  help: rename the column, or load with columns={"x": "…"}'
    )
    assert read_back(frame, [("x", INT)], mapping={"x": ("a", "b")}) == [(1,)]


def test_run_end_encoded_columns() -> None:
    column = pa.RunEndEncodedArray.from_arrays(
        pa.array([2, 3, 4], pa.int32()), pa.array(["a", None, "b"])
    )
    rows = [("a",), ("a",), ("b",)]
    assert read_back(pa.table({"x": column}), [("x", STR)], nulls="drop") == rows
    assert read_back(pa.table({"x": column.slice(1)}), [("x", STR)], nulls="drop") == rows[1:]
    assert "expected int, found string" in message(pa.table({"x": column}), [("x", INT)])


def test_arrays_of_structs_are_tables() -> None:
    structs = pa.array([{"x": 1, "y": "a"}, None, {"x": 2, "y": "b"}])
    columns = [("x", INT), ("y", STR)]
    for source in (structs, pa.chunked_array([structs.slice(0, 1), structs.slice(1)])):
        assert read_back(source, columns, nulls="drop") == [(1, "a"), (2, "b")]
        assert "row 1, column" in message(source, columns)


def test_polars_strings_in_every_shape() -> None:
    import polars

    texts = polars.Series(["a", None, "b", "a long string, not kept inline"])
    for column in (
        texts,
        texts.cast(polars.Categorical),
        texts.cast(polars.Enum(texts.drop_nulls().to_list())),
    ):
        frame = polars.DataFrame({"x": column})
        assert read_back(frame, [("x", STR)], nulls="drop") == [
            ("a",),
            ("b",),
            ("a long string, not kept inline",),
        ]


def test_lazy_frames_and_other_streams() -> None:
    import duckdb
    import polars

    assert message(polars.DataFrame({"x": [1]}).lazy(), [("x", INT)]) == (
        "error[E231]: a LazyFrame holds no rows yet\n  help: pass frame.collect()"
    )
    assert "Series does not come as an Arrow table" in message(polars.Series([1]), [("x", INT)])
    assert read_back(duckdb.sql("select 1::bigint as src, 2::bigint as dst"), EDGE) == [(1, 2)]


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize(
    ("type", "values"),
    [
        (INT, pa.array([3, -(2**63), 2**63 - 1, 0])),
        (INT, pa.array([3, -7, 127, 0], pa.int8())),
        (FLOAT, pa.array([-0.0, 1e300, -2.5, float("inf")])),
        (BOOL, pa.array([True, False, False, True])),
        (DATE, pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31)] * 2)),
        (TIMESTAMP, pa.array([datetime.datetime(1, 1, 1), datetime.datetime.max] * 2)),
        (decimal(18, 2), pa.array([Decimal("-1.50"), Decimal("9" * 16)] * 2, pa.decimal128(18, 2))),
    ],
)
def test_what_cannot_fail_is_coded_late_as_it_is_at_once(
    type: Type, values: pa.Array, pieces: int
) -> None:
    column = pa.chunked_array([values.slice(1)] * pieces)
    target = Target("c", type, Dictionary())
    late = late_codes(column, target, lambda error: error)
    assert late is not None
    assert late().tolist() == code_arrow(column, target).codes.tolist()
    missing = pa.chunked_array([values, pa.nulls(1, values.type)])
    assert late_codes(missing, target, lambda error: error) is None
    for first in range(len(column)):
        out = np.empty(len(column) - first, np.int64)
        late.read(first, out, out)
        assert out.tolist() == late().tolist()[first:]


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize(
    ("type", "values"),
    [
        (INT, pa.array([None, -(2**63) + 1, 7, None, 0])),
        (INT, pa.array([None, 3, -7, None, 0], pa.int16())),
        (FLOAT, pa.array([float("nan"), -0.0, 2.5, float("nan"), 1.0], from_pandas=True)),
        (FLOAT, pa.array([1.0, None, -0.0, 2.5, None])),
        (BOOL, pa.array([None, True, False, None, True])),
        (DATE, pa.array([None, datetime.date(1, 1, 1), None, datetime.date.max, None])),
        (STR, pa.array(["", None, "a", "ä" * 9, None], pa.large_string())),
        (STR, pa.array([None, "new", None, "a", "b"])),
        (STR, pa.array(["a", None, "b", "a", None]).dictionary_encode()),
    ],
)
def test_optional_columns_are_coded_late_too(type: Type, values: pa.Array, pieces: int) -> None:
    column = pa.chunked_array([values.slice(1), values, *[values.slice(0, 2)] * (pieces - 1)])
    dictionary = Dictionary()
    there = dictionary.encode(["", "a", "b"] * 5)
    there[3] = NULL_CODE
    target = Target(
        "c", replace(type, optional=True), dictionary, expected=ExpectedTexts(lambda: there)
    )
    late = late_codes(column, target, lambda error: error)
    assert late is not None
    codes = with_null_codes(
        code_arrow(column, target._replace(expected=None)), Place(), "c", target.type
    ).codes.tolist()
    for first in (0, 1, 5, len(codes) - 1):
        out = np.empty(len(codes) - first, np.int64)
        late.read(first, out, there[: len(out)])
        assert out.tolist() == codes[first:]
    assert late().tolist() == codes


def test_a_value_that_stands_for_null_or_is_nan_is_not_coded_late() -> None:
    for type, values in [
        (INT, pa.array([None, -(2**63)])),
        (FLOAT, pa.array([None, float("nan")])),
    ]:
        target = Target("c", replace(type, optional=True), Dictionary())
        assert late_codes(pa.chunked_array([values]), target, lambda error: error) is None


@pytest.mark.parametrize(
    ("type", "values"),
    [
        (DATE, pa.array([-(10**6)], pa.int32()).cast(pa.date32())),
        (TIMESTAMP, pa.array([2**62]).cast(pa.timestamp("us"))),
        (TIMESTAMP, pa.array([1500]).cast(pa.timestamp("ns"))),
        (FLOAT, pa.array([1.0, float("nan")])),
        (decimal(4, 2), pa.array([Decimal("100.00")], pa.decimal128(18, 2))),
    ],
)
def test_what_may_fail_is_coded_at_once(type: Type, values: pa.Array) -> None:
    target = Target("c", type, Dictionary())
    assert late_codes(pa.chunked_array([values]), target, lambda error: error) is None
