"""Results on their way back into a workspace."""

from __future__ import annotations

import copy
import datetime
import decimal
import pickle

import narwhals as narwhals_now
import narwhals.stable.v1 as narwhals
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import interchange

import lftj

SCHEMA = {
    "a": int,
    "f": float,
    "s": str,
    "d": datetime.date,
    "t": datetime.datetime,
    "m": "decimal(10,2)",
    "b": bool,
}
DAY = datetime.date(2013, 1, 31)
NOON = datetime.datetime(2013, 1, 31, 12)
ROWS = [
    (-(2**63), float("-inf"), "", DAY, NOON, decimal.Decimal("-0.01"), False),
    (2**63 - 1, 5e-324, "e\u0301\0x", DAY, NOON, decimal.Decimal("99999999.99"), True),
]


@pytest.fixture
def ws():
    ws = lftj.connect()
    ws.relation("r", SCHEMA)
    ws.load("r", ROWS)
    return ws


@pytest.fixture
def no_python_values(monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("rows became tuples on their way")

    monkeypatch.setattr(lftj.Result, "fetchall", refuse)
    monkeypatch.setattr("lftj.frames.coded_rows.to_values", refuse)


@pytest.mark.usefixtures("no_python_values")
def test_rows_stay_codes(ws):
    ws.relation("copy", {f"{name}2": type for name, type in SCHEMA.items()})
    assert ws.load("copy", ws["r"]) == 2
    with ws.transaction() as tx:
        tx.delete("copy", ws.query("r(a, f, s, d, t, m, b), a > 0"))
        tx.delete("r", ws["r"])
    assert (len(ws["copy"]), len(ws["r"])) == (1, 0)
    assert ws["copy"].arrow().column(0).to_pylist() == [-(2**63)]


@pytest.mark.usefixtures("no_python_values")
def test_strings_of_another_workspace(ws):
    other = lftj.connect()
    other.relation("r", SCHEMA)
    other.load("r", ws["r"])
    other.relation("s", {"s": str})
    other.load("s", [("first",)])
    assert other.load("s", ws.query("r(_, _, s, _, _, _, _)")) == 2
    assert sorted(other["s"].arrow().column(0).to_pylist()) == ["", "e\u0301\0x", "first"]
    assert other["r"].arrow().equals(ws["r"].arrow())


def test_other_types_are_checked_as_values_are(ws):
    ws.relation("wide", {"x": float, "m": "decimal(12,3)"})
    ws.relation("number", {"n": int})
    ws.load("number", [(3,)])
    assert ws.load("wide", ws.query("number(n), r(_, _, _, _, _, m, false)")) == 1
    assert ws["wide"].fetchall() == [(3.0, decimal.Decimal("-0.010"))]
    with pytest.raises(lftj.ValueTypeError, match='row 0, column "n": expected int, found'):
        ws.load("number", ws.query("r(_, f, _, _, _, _, _)"))
    with pytest.raises(lftj.FrameError, match="the result has 1 columns, the relation has 2"):
        ws.load("wide", ws["number"])


def test_libraries_that_read_arrow_streams_take_a_result_as_it_is(ws):
    result = ws["r"]
    assert pa.table(result).equals(result.arrow())
    assert pl.DataFrame(result).rows() == ROWS


def test_libraries_of_charts_take_a_result_as_it_is(ws):
    """As Altair and Plotly read data: by narwhals, and by the interchange of dataframes."""
    found = narwhals.from_native(ws["r"], eager_or_interchange_only=True)
    assert found.rows(named=True) == ws["r"].arrow().to_pylist()
    assert narwhals.to_native(found).equals(ws["r"].arrow())
    frame = narwhals_now.from_native(ws["r"], eager_only=True)
    assert frame.columns == list(SCHEMA)
    shared = interchange.from_dataframe(ws["r"])
    assert shared.column_names == list(SCHEMA)
    assert [tuple(row.values()) for row in shared.to_pylist()] == [
        (a, f, s, datetime.datetime.combine(d, datetime.time()), t, float(m), b)
        for a, f, s, d, t, m, b in ws["r"]
    ]


@pytest.mark.parametrize("rows", [1, 2])
def test_pandas_names_columns_as_the_result_does(ws, rows):
    result = ws["r"].head(rows)
    frame = pd.DataFrame(result)
    assert list(frame.columns) == list(SCHEMA)
    assert list(frame.itertuples(index=False, name=None)) == result.fetchall()
    assert list(pd.DataFrame(result, columns=list("ABCDEFG")).columns) == list("ABCDEFG")
    with ws.transaction() as tx:
        tx.delete("r", ROWS[:1])
    assert list(pd.DataFrame(tx.changes("r")).columns) == [*SCHEMA, "__diff__", "__version__"]


def test_rows_of_a_result_are_equal_to_tuples_and_copied_as_such(ws):
    rows = list(ws["r"])
    assert rows == ws["r"].fetchall()
    for copied in (pickle.loads(pickle.dumps(rows)), copy.deepcopy(rows)):
        assert copied == rows
        assert set(map(type, copied)) == {tuple}
    assert repr(rows) == repr(ws["r"].fetchall())
    assert list(ws.query('r(1, _, "nothing", _, _, _, _)')) == []


def test_rows_without_columns():
    ws = lftj.connect()
    ws.relation("yes", {})
    ws.relation("too", {})
    ws.load("yes", [()])
    assert ws.load("too", ws["yes"]) == 1
    assert ws.load("too", ws["yes"]) == 0


@pytest.mark.parametrize("holds", [True, False])
def test_a_relation_without_columns_keeps_its_row(holds):
    workspace = lftj.connect()
    workspace.add_rules(".decl p() .decl q()" + " p()." * holds)
    result = workspace["p"]
    assert [
        len(table)
        for table in (result.arrow(), result.df(), result.pl(), workspace.query("p()").arrow())
    ] == [int(holds)] * 4
    for table in (result.arrow(), result.df(), result.pl(), result):
        assert workspace.load("q", table) == int(holds)
        assert len(workspace["q"]) == int(holds)
        with workspace.transaction() as tx:
            tx.delete("q", table)
        assert len(workspace["q"]) == 0
