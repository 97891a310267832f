"""What `read` refuses, with the exact words."""

from __future__ import annotations

import datetime
import gzip
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from lftj.dictionary import Dictionary
from lftj.errors import FileMissingError, FrameError, LftjError, NullValueError
from lftj.frames import read
from lftj.types import DATE, FLOAT, INT, STR, TIMESTAMP, decimal
from tests.unit.frames.carriers import SparkLike, read_back

EDGE = [("src", INT), ("dst", INT)]
XFER = [("src", INT), ("amt", FLOAT), ("who", STR)]


def message(source: Any, columns: Any = XFER, **options: Any) -> str:
    """The text of the error that reading raises."""
    with pytest.raises(LftjError) as caught:
        read(source, columns, dictionary=Dictionary(), **options)
    return str(caught.value)


# ── columns ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_missing_column_with_a_guess() -> None:
    assert message(pa.table({"src": [1], "dest": [2]}), EDGE) == (
        'error[E230]: the frame has no column "dst" (did you mean "dest"?); it has "src", "dest"\n'
        '  help: rename the column, or load with columns={"dst": "dest"}'
    )


def test_missing_columns_without_a_guess() -> None:
    assert message(pa.table({"x": [1]}), EDGE) == (
        'error[E230]: the frame has no columns "src", "dst"; it has "x"\n'
        '  help: rename the columns, or load with columns={"src": "…", "dst": "…"}'
    )


def test_extra_columns() -> None:
    assert message(pa.table({"w": [1], "src": [1], "v": [0], "dst": [2]}), EDGE) == (
        'error[E230]: the frame has columns that the relation lacks: "w", "v"\n'
        '  help: leave them out, or name the columns to take: columns={"src": "src", "dst": "dst"}'
    )


def test_doubled_column() -> None:
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["src", "dst", "dst"])
    assert message(table, EDGE) == ('error[E230]: the frame has more than one column "dst"\n  help: give each column its own name')


def test_a_mapping_renames_and_leaves_the_rest() -> None:
    table = pa.table({"b": [2], "src": [1], "w": [9]})
    assert read_back(table, EDGE, mapping={"dst": "b"}) == [(1, 2)]
    assert read_back(table, EDGE, mapping={"src": "w", "dst": "w"}) == [(9, 9)]


def test_a_mapping_may_name_labels_that_are_no_text() -> None:
    import pandas

    assert read_back(pandas.DataFrame([(1, 2)]), EDGE, mapping={"src": 0, "dst": 1}) == [(1, 2)]


def test_a_mapping_for_no_column() -> None:
    assert message(pa.table({"src": [1], "dst": [2]}), EDGE, mapping={"form": "src"}) == (
        'error[E230]: columns= maps "form", but the relation\'s columns are "src", "dst"\n'
        '  help: write columns={"relation column": "frame column"}'
    )
    assert message([(1, 2)], EDGE, mapping={"src": "a"}).startswith("error[E230]: row 0 has no column names")


def test_columns_go_by_name_not_by_place() -> None:
    assert read_back(pa.table({"dst": [2], "src": [1]}), EDGE) == [(1, 2)]
    assert read_back({"dst": 2, "src": 1}, EDGE) == [(1, 2)]


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
ROWS = [
    (
        [(1, 2), (1, 2, 3)],
        "error[E120]: row 1 has 3 values, the relation has 2 columns: (1, 2, 3)\n"
        "  help: give each row one value for each column; rows of named values may be dicts or a frame",
    ),
    (
        (1, 2),
        "error[E230]: row 0 is not a row: found 1 (int), expected a tuple or a dict\n"
        "  help: write a list of tuples, also for one row: [(…, …)]",
    ),
    (
        ["ab"],
        "error[E230]: row 0 is not a row: found 'ab' (str), expected a tuple or a dict\n"
        "  help: write a list of tuples, also for one row: [(…, …)]",
    ),
    (
        {"src": [1, 2], "dst": [2, 3]},
        'error[E210]: row 0, column "src": [1, 2] is a column, not a value\n'
        "  help: a dict is one row; for whole columns pass pyarrow.table({…}) or a DataFrame",
    ),
    (
        [{"src": 1, "dst": 2}, {"src": 1}],
        'error[E230]: row 1 and row 0 differ in their columns: "dst"\n  help: give every row the same keys; None is NULL',
    ),
    (
        7,
        "error[E231]: int holds no rows\n"
        "  help: pass rows as a list of tuples, a pandas, Polars, Arrow or Spark table, or the path of a file",
    ),
    (
        [(1, 2), (1, "2")],
        "error[E210]: row 1, column \"dst\": expected int, found '2' (str)\n  help: convert it with int(…), or declare the column str",
    ),
    (
        [(1, 2), (1, 2**63)],
        'error[E220]: row 1, column "dst": 9223372036854775808 is outside the range of int, -9223372036854775808 … 9223372036854775807',
    ),
    (
        [(1, True)],
        'error[E210]: row 0, column "dst": expected int, found True (bool)\n  help: convert it with int(…), or declare the column bool',
    ),
    (np.zeros((1, 3), dtype=np.int64), "error[E230]: the array has 3 columns, the relation has 2 (src, dst)"),
]


@pytest.mark.parametrize(("source", "text"), ROWS, ids=lambda value: None if isinstance(value, str) else repr(value)[:30])
def test_rows_that_are_none(source: object, text: str) -> None:
    assert message(source, EDGE) == text


# ── NULL and NaN ──────────────────────────────────────────────────────────────────────────────────────────────────────
def null_carriers(directory: Path) -> dict[str, object]:
    """Three rows; `amt` is NULL in row 1, `who` in row 2."""
    import pandas
    import polars

    data: dict[str, list[Any]] = {"src": [1, 2, 3], "amt": [1.5, None, 2.5], "who": ["a", "b", None]}
    table = pa.table(data)
    pyarrow.parquet.write_table(table, directory / "n.parquet")
    (directory / "n.csv").write_text("src,amt,who\n1,1.5,a\n2,,b\n3,2.5,c\n")
    return {
        "tuples": list(zip(*data.values(), strict=True)),
        "dicts": table.to_pylist(),
        "arrow": table,
        "chunks": pa.concat_tables([table.slice(0, 2), table.slice(2)]),
        "pandas": pandas.DataFrame(data).convert_dtypes(),
        "pandas objects": pandas.DataFrame(data, dtype=object),
        "polars": polars.DataFrame(data),
        "spark": SparkLike(table),
        "n.parquet": directory / "n.parquet",
        "n.csv": directory / "n.csv",
    }


@pytest.mark.parametrize(
    "carrier", ["tuples", "dicts", "arrow", "chunks", "pandas", "pandas objects", "polars", "spark", "n.parquet", "n.csv"]
)
def test_null_names_row_and_column_or_drops_the_row(carrier: str, tmp_path: Path) -> None:
    source = null_carriers(tmp_path)[carrier]
    place = {"n.parquet": "n.parquet, row 1", "n.csv": "n.csv, line 3 (row 1)"}.get(carrier, "row 1")
    assert message(source) == (
        f'error[E200]: {place}, column "amt": NULL is not a value\n  help: leave the row out, or load with nulls="drop"'
    )
    frame = read(source, XFER, dictionary=Dictionary(), nulls="drop")
    last = [(3, 2.5, "c")] if carrier == "n.csv" else []
    assert (frame.rows, frame.dropped) == (1 + len(last), 2 - len(last))
    assert read_back(source, XFER, nulls="drop") == [(1, 1.5, "a"), *last]


def test_nan_is_not_a_value(tmp_path: Path) -> None:
    import pandas
    import polars

    data = {"src": [1, 2], "amt": [1.0, math.nan], "who": ["a", "b"]}
    (tmp_path / "n.csv").write_text("src,amt,who\n1,1.0,a\n2,NaN,b\n")
    for source in ([(1, 1.0, "a"), (2, math.nan, "b")], pa.table(data), pandas.DataFrame(data), polars.DataFrame(data), tmp_path / "n.csv"):
        place = "n.csv, line 3 (row 1)" if isinstance(source, Path) else "row 1"
        assert message(source) == (
            f'error[E201]: {place}, column "amt": NaN is not a value\n  help: leave the row out, or load with nulls="drop"'
        )
        assert read_back(source, XFER, nulls="drop") == [(1, 1.0, "a")]


def test_the_first_bad_row_is_reported_whichever_its_column() -> None:
    with pytest.raises(NullValueError, match='row 1, column "who"'):
        read([(1, 1.0, "a"), (2, 2.0, None), (None, 3.0, "c")], XFER, dictionary=Dictionary())


def test_a_column_of_nothing_but_null() -> None:
    table = pa.table({"src": [1], "dst": pa.nulls(1)})
    assert 'row 0, column "dst": NULL' in message(table, EDGE)
    assert read(table, EDGE, dictionary=Dictionary(), nulls="drop").dropped == 1


def test_unknown_policy() -> None:
    assert message([], nulls="ignore") == ('error[E230]: nulls=\'ignore\' is not a policy\n  help: write nulls="error" or nulls="drop"')


# ── columns of other types ────────────────────────────────────────────────────────────────────────────────────────────
NOW = datetime.datetime(2013, 1, 1)
TYPES = [
    (INT, pa.array([1.0]), 'column "x": expected int, found float64'),
    (INT, pa.array([True]), 'column "x": expected int, found bool'),
    (INT, pa.array(["1"]), 'column "x": expected int, found string'),
    (FLOAT, pa.array([1]), 'column "x": expected float, found int64'),
    (STR, pa.array([1]), 'column "x": expected str, found int64'),
    (STR, pa.array([b"a"]), 'column "x": expected str, found binary'),
    (DATE, pa.array([NOW]), 'column "x": expected date, found timestamp[us]'),
    (TIMESTAMP, pa.array([NOW], pa.timestamp("us", "UTC")), 'column "x": expected timestamp, found timestamp[us, tz=UTC]'),
    (decimal(4, 2), pa.array([1.5]), 'column "x": expected decimal(4,2), found float64'),
    (INT, pa.array([[1]]), 'column "x": expected int, found list<item: int64>'),
    (INT, pa.array([1, 2**63], pa.uint64()), 'row 1, column "x": 9223372036854775808 is outside the range of int'),
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
    (TIMESTAMP, pa.array([253402300800], pa.timestamp("s")), 'row 0, column "x": 10000-01-01 00:00:00 is outside the range of timestamp'),
    (STR, pa.concat_arrays([pa.array(["a", "b"]), pa.array([b"\xff"]).view(pa.string())]), 'row 2, column "x": not a string of Unicode'),
    (DATE, pa.array([0, 1], pa.int64()).cast(pa.date64()), 'row 1, column "x": dates hold whole days, found 1970-01-01'),
    (decimal(4, 2), pa.array([Decimal("1.234")]), 'row 0, column "x": 1.234 has more than the 2 decimal places of decimal(4,2)'),
    (decimal(4, 2), pa.array([None, Decimal("100.1")]), 'row 1, column "x": 100.1 is outside the range of decimal(4,2)'),
]


@pytest.mark.parametrize(("type", "column", "text"), TYPES, ids=[row[2][:60] for row in TYPES])
def test_columns_that_do_not_fit(type: Any, column: pa.Array, text: str) -> None:
    assert message(pa.table({"x": column}), [("x", type)]).split("]: ", 1)[1].startswith(text)


def test_bytes_that_are_no_text_are_to_be_written_anew() -> None:
    column = pa.array([b"\xff"]).view(pa.string())
    assert message(pa.table({"x": column}), [("x", STR)]).endswith("\n  help: write the text anew in UTF-8")


def test_the_failing_row_is_counted_over_chunks_and_nulls() -> None:
    good = pa.array([None, 1], pa.uint64())
    table = pa.table({"x": pa.chunked_array([good, good, pa.array([3, None, 2**64 - 1], pa.uint64())])})
    assert 'row 6, column "x": 18446744073709551615' in message(table, [("x", INT)])


def test_integers_that_pandas_made_floats() -> None:
    import pandas

    assert message(pandas.DataFrame({"x": [1, None]}), [("x", INT)]) == (
        'error[E210]: column "x": expected int, found float64\n'
        '  help: convert the column to int64 first (in pandas, .astype("Int64") keeps missing values), or declare it float'
    )


def test_pandas_columns_arrow_does_not_know() -> None:
    import pandas

    assert 'column "x": expected int, found complex128' in message(pandas.DataFrame({"x": [1j]}), [("x", INT)])
    assert 'column "x": expected int, found duration[ns]' in message(pandas.DataFrame({"x": pandas.to_timedelta([1])}), [("x", INT)])
    assert 'row 1, column "x": expected str, found 1 (int)' in message(pandas.DataFrame({"x": ["a", 1]}), [("x", STR)])
    assert read_back(pandas.DataFrame({"x": pandas.Categorical(["a", "b", "a"])}), [("x", STR)]) == [("a",), ("b",), ("a",)]


def test_polars_strings_in_every_shape() -> None:
    import polars

    texts = polars.Series(["a", None, "b", "a long string, not kept inline"])
    for column in (texts, texts.cast(polars.Categorical), texts.cast(polars.Enum(texts.drop_nulls().to_list()))):
        frame = polars.DataFrame({"x": column})
        assert read_back(frame, [("x", STR)], nulls="drop") == [("a",), ("b",), ("a long string, not kept inline",)]


def test_lazy_frames_and_other_streams() -> None:
    import duckdb
    import polars

    assert message(polars.DataFrame({"x": [1]}).lazy()) == ("error[E231]: a LazyFrame holds no rows yet\n  help: pass frame.collect()")
    assert "Series does not come as an Arrow table" in message(polars.Series([1]), [("x", INT)])
    assert read_back(duckdb.sql("select 1::bigint as src, 2::bigint as dst"), EDGE) == [(1, 2)]


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_missing_files(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("src,dst\n")
    path = tmp_path / "edges.parquet"
    with pytest.raises(FileMissingError) as caught:
        read(path, EDGE, dictionary=Dictionary())
    assert str(caught.value) == f"error[E240]: there is no file {path}\n  help: did you mean edges.csv?"
    assert isinstance(caught.value, FileNotFoundError)
    (tmp_path / "a.csv").write_text("src,dst\n")
    with pytest.raises(FileMissingError, match=r"did you mean edges\.csv"):
        read(tmp_path / "EDGES.csv", EDGE, dictionary=Dictionary())
    with pytest.raises(FileMissingError):
        read(tmp_path / "none.facts", EDGE, dictionary=Dictionary())


def test_unknown_endings(tmp_path: Path) -> None:
    assert message(tmp_path / "edges.xlsx") == (
        "error[E231]: edges.xlsx: unknown format '.xlsx'\n"
        "  help: name the file .csv, .tsv, .facts (each also with .gz), .parquet, .arrow, .feather or .ipc"
    )


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.csv.gz"])
def test_damaged_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x1f\x8b junk")
    with pytest.raises(FrameError) as caught:
        read(tmp_path / name, EDGE, dictionary=Dictionary())
    assert caught.value.code == "E232"
    assert caught.value.message.startswith(name)


def test_endings(tmp_path: Path) -> None:
    table = pa.table({"src": [1], "dst": [2]})
    with pa.ipc.new_stream(tmp_path / "s.ipc", table.schema) as writer:
        writer.write_table(table)
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"src,dst\n1,2\n"))
    (tmp_path / "C.TSV").write_text("dst\tsrc\n2\t1\n")
    pyarrow.parquet.write_to_dataset(table, tmp_path / "d.parquet")
    for name in ("s.ipc", "c.csv.gz", "C.TSV", "d.parquet"):
        assert read_back(tmp_path / name, EDGE) == [(1, 2)]


def test_null_inside_a_dictionary_encoded_column() -> None:
    for values in (pa.array([7, None]), pa.array(["a", None])):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), values)
        columns = [("x", INT if values.type == pa.int64() else STR)]
        assert 'row 1, column "x": NULL' in message(pa.table({"x": column}), columns)
        assert read_back(pa.table({"x": column}), columns, nulls="drop") == [(values[0].as_py(),)] * 2


def test_tuples_and_dicts_do_not_mix() -> None:
    as_tuples, as_dicts = (1, 2), {"src": 1, "dst": 2}
    for rows, shown in (([as_tuples, as_dicts], as_dicts), ([as_dicts, as_tuples], as_tuples)):
        assert message(rows, EDGE) == (
            f"error[E230]: row 1 is not like row 0: found {shown!r}\n  help: give all rows as tuples, or all as dicts"
        )


def test_a_mapping_that_is_a_list() -> None:
    assert message(pa.table({"src": [1], "dst": [2]}), EDGE, mapping=["src", "dst"]) == (
        'error[E230]: columns= is a dict, found list\n  help: write columns={"relation column": "frame column"}'
    )
