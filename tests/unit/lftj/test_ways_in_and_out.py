"""Anything that gives Arrow goes in, and what comes out gives Arrow to others."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pytest

import lftj

TABLE = pa.table({"a": [1, 2], "b": ["x", "y"]})
ROWS = [(1, "x"), (2, "y")]


class Stream:
    """A table of a library that nobody here knows."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return TABLE.__arrow_c_stream__()


class Batch:
    """The same as one batch."""

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return TABLE.to_batches()[0].__arrow_c_array__()


@pytest.fixture
def ws() -> lftj.Workspace:
    ws = lftj.connect()
    ws.relation("r", {"a": int, "b": str})
    return ws


@pytest.mark.parametrize(
    "make",
    [
        Stream,
        Batch,
        lambda: TABLE,
        lambda: polars.DataFrame(TABLE),
        lambda: pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
        lambda: duckdb.sql("select * from (values (1::bigint, 'x'), (2, 'y')) t(a, b)"),
    ],
)
def test_tables_go_in(ws: lftj.Workspace, make: Any) -> None:
    assert ws.load("r", make()) == 2
    assert ws["r"].fetchall() == ROWS


def test_every_result_is_a_table_to_duckdb_polars_and_arrow(ws: lftj.Workspace) -> None:
    with ws.transaction() as tx:
        tx.insert("r", ROWS)
    result, answer = ws["r"], ws.query("r(a, b)")
    change = tx.changes("r")  # noqa: F841 -- DuckDB finds it by its name
    assert duckdb.sql("from result").fetchall() == ROWS
    assert duckdb.sql("select b from result where a = 2").fetchall() == [("y",)]
    assert duckdb.sql("select sum(__diff__) from change").fetchall() == [(2,)]
    for each in (result, answer, ws.snapshot()["r"]):
        assert polars.DataFrame(each).rows() == ROWS
        assert pa.table(each).num_rows == 2
    other = lftj.connect()
    other.load(other.relation("r", {"a": int, "b": str}), result)
    assert other["r"].fetchall() == ROWS


def test_rows_have_names(ws: lftj.Workspace) -> None:
    ws.load("r", ROWS)
    assert [(row.a, row.b) for row in ws["r"].named()] == ROWS
    assert ws["r"].named() == ws["r"].fetchall(), "named rows are tuples"
    odd = ws.relation("odd", {"class": int, "x": int})
    ws.load(odd, [(1, 2)])
    (row,) = ws["odd"].named()
    assert (row[0], row.x) == (1, 2)
    assert ws.query("r(1, _)").named() == [()]
