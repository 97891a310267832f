"""NULL and NaN: the row and column that are named, and the rows that are left out instead."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import lftj
from lftj.errors import NullValueError
from lftj.frames import read
from lftj.types import FLOAT, INT, STR
from lftj.types.dictionary import Dictionary
from tests.unit.frames.carriers import SparkLike, message, read_back

EDGE = [("src", INT), ("dst", INT)]
XFER = [("src", INT), ("amt", FLOAT), ("who", STR)]


def null_carriers(directory: Path) -> dict[str, object]:
    """Three rows; `amt` is NULL in row 1, `who` in row 2."""
    import pandas
    import polars

    data: dict[str, list[Any]] = {
        "src": [1, 2, 3],
        "amt": [1.5, None, 2.5],
        "who": ["a", "b", None],
    }
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
    "carrier",
    [
        "tuples",
        "dicts",
        "arrow",
        "chunks",
        "pandas",
        "pandas objects",
        "polars",
        "spark",
        "n.parquet",
        "n.csv",
    ],
)
def test_null_names_row_and_column_or_drops_the_row(carrier: str, tmp_path: Path) -> None:
    source = null_carriers(tmp_path)[carrier]
    place = {"n.parquet": "n.parquet, row 1", "n.csv": "n.csv, line 3"}.get(carrier, "row 1")
    remedy = 'leave the row out, load with nulls="drop", or declare the column'
    other = {"n.parquet": "n.parquet, row 2"}.get(carrier, "row 2")
    names = "" if carrier == "n.csv" else f'  {other}, column "who": NULL is not a value\n'
    assert message(source, XFER) == (
        f'error[E200]: {place}, column "amt": NULL is not a value\n{names}'
        f"  help: {remedy} float?" + (f"\n  help: {remedy} str?" if names else "")
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
    for source in (
        [(1, 1.0, "a"), (2, math.nan, "b")],
        pa.table(data),
        pandas.DataFrame(data),
        polars.DataFrame(data),
        tmp_path / "n.csv",
    ):
        place = "n.csv, line 3" if isinstance(source, Path) else "row 1"
        assert message(source, XFER) == (
            f'error[E201]: {place}, column "amt": NaN is not a value\n  help: leave the row out, '
            f'or load with nulls="drop"'
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
    assert message([], XFER, nulls="ignore") == (
        "error[E230]: nulls='ignore' is not a policy\n"
        '  help: write nulls="error" or nulls="drop"; null= says which field of a text file is NULL'
    )


def test_null_inside_a_dictionary_encoded_column() -> None:
    for values in (pa.array([7, None]), pa.array(["a", None])):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), values)
        columns = [("x", INT if values.type == pa.int64() else STR)]
        assert 'row 1, column "x": NULL' in message(pa.table({"x": column}), columns)
        assert (
            read_back(pa.table({"x": column}), columns, nulls="drop") == [(values[0].as_py(),)] * 2
        )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [1, 1000, 70_000])
def test_a_signalling_nan_is_a_nan_without_a_word_of_numpy(rows: int) -> None:
    values = np.arange(rows, dtype=np.float64)
    values.view(np.int64)[rows // 2] = 0x7FF0_0000_0000_0001
    halves = np.zeros(rows, np.float16)
    halves.view(np.int16)[rows // 2] = 0x7C01
    sources = [
        values.reshape(-1, 1),
        pa.table({"x": values}),
        halves.reshape(-1, 1),
        [(value,) for value in values.tolist()],
    ]
    for source in sources:
        for late in (None, 1):
            assert "E201" in message(source, [("x", FLOAT)], late_from=late)
            assert len(read_back(source, [("x", FLOAT)], nulls="drop")) == rows - 1


@pytest.mark.parametrize(
    "type", ["int?", "str?", "date?", "timestamp?", "decimal(8, 2)?", "bool?", "float?"]
)
@pytest.mark.parametrize("dtype", ["float64", "datetime64[ns]", "object", "Int64"])
def test_a_column_without_values_is_of_every_optional_type(type: str, dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    workspace = lftj.connect()
    workspace.relation("o", {"i": int, "x": type})
    empty = pandas.Series([None, None]).astype(dtype)
    workspace.load("o", pandas.DataFrame({"i": [1, 2], "x": empty}))
    assert workspace["o"].fetchall() == [(1, None), (2, None)]


OPTIONAL = {"id": int, "name": "str?", "n": "int?", "at": "date?"}


@pytest.mark.parametrize("name", ["o.csv", "o.tsv.gz", "o.facts"])
@pytest.mark.parametrize("null", ["", "NA", "-"])
def test_null_is_written_and_read_as_it_is_said(tmp_path: Path, name: str, null: str) -> None:
    workspace, path = lftj.connect(), tmp_path / name
    workspace.relation("o", OPTIONAL)
    rows = [(1, None, None, None), (2, "a", 3, None), (3, "b", None, None)]
    workspace.load("o", rows)
    if name == "o.facts":
        workspace["o"].write_facts(path, {"null": null})
        assert path.read_text() == "1\t@\t@\t@\n2\ta\t3\t@\n3\tb\t@\t@\n".replace("@", null)
    else:
        workspace["o"].write_csv(path, null=null)
    workspace.relation("again", OPTIONAL)
    workspace.load("again", path, null=null)
    assert workspace["again"].fetchall() == rows
    workspace.relation("whole", {**OPTIONAL, "name": str})
    with pytest.raises(NullValueError, match='column "name"'):
        workspace.load("whole", path, null=null)
    workspace.load("whole", path, null=null, nulls="drop")
    assert workspace["whole"].fetchall() == rows[1:]


def test_a_value_that_is_written_as_null_and_a_null_elsewhere_are_refused(tmp_path: Path) -> None:
    workspace = lftj.connect()
    workspace.relation("o", OPTIONAL)
    workspace.load("o", [(1, "NA", None, None), (2, "", 7, None)])
    for null, column in (("NA", "name"), ("", "name"), ("7", "n")):
        with pytest.raises(lftj.FrameError, match=f'column "{column}".*could not be read back'):
            workspace["o"].write_csv(tmp_path / "o.csv", null=null)
    for null in (",", '"', "a\nb"):
        with pytest.raises(lftj.FrameError, match="cannot stand in a field"):
            workspace["o"].write_csv(tmp_path / "o.csv", null=null)
    workspace["o"].write_parquet(tmp_path / "o.parquet")
    for source in (tmp_path / "o.parquet", [(1, None, None, None)], workspace["o"].arrow()):
        with pytest.raises(lftj.FrameError, match="null= is for files of text"):
            workspace.load("o", source, null="NA")


def test_the_text_of_null_and_what_is_done_with_null_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\n1\nNA\n\n")
    workspace = lftj.connect()
    workspace.relation("a", {"x": int})
    with pytest.raises(lftj.FrameError, match="is not a policy") as caught:
        workspace.load("a", path, nulls="NA")  # pyright: ignore[reportArgumentType]
    assert (caught.value.hint or "").endswith("null= says which field of a text file is NULL")
    with pytest.raises(lftj.ValueTypeError) as wrong:
        workspace.load("a", path, null="drop")
    said = "null='drop' says that the text 'drop' is NULL; nulls='drop' leaves out rows with NULL"
    assert said in str(wrong.value)
    assert workspace.load("a", path, null="NA", nulls="drop") == 1
