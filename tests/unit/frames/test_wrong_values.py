"""Errors name the first values that do not fit, whatever brings the rows."""

from __future__ import annotations

import datetime
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lftj

COLUMNS = {"id": int, "price": lftj.decimal(9, 2), "who": str, "size": "float?"}
ROWS: list[tuple[Any, ...]] = [
    (0, 1, "a", None),
    ("x", 1, "a", 0.5),
    (2, None, 7, "big"),
    (3, 1, "a", 1.0),
    (4, "1.x", "a", 1.0),
]
WRONG = [(1, "id"), (2, "price"), (2, "who"), (2, "size"), (4, "price")]
DICTS = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
EVENTS = [{"op": "c", "before": None, "after": row, "ts": n} for n, row in enumerate(DICTS)]


@pytest.fixture
def ws() -> Any:
    with lftj.connect() as workspace:
        workspace.relation("r", COLUMNS, key="id")
        workspace.relation("n", {"a": int, "b": "date"})
        yield workspace


def refused(call: Any) -> lftj.WrongValueError:
    with pytest.raises(lftj.WrongValueError) as caught:
        call()
    assert len(caught.value.errors) <= lftj.WrongValueError.shown
    return caught.value


def places(error: lftj.WrongValueError) -> list[tuple[str, str]]:
    named = [each.message.split(": ")[0].split(", column ") for each in error.errors]
    return [(row, column.strip('"')) for row, column in named]


@pytest.mark.parametrize("rows", [ROWS, DICTS, pd.DataFrame(DICTS, dtype=object)])
@pytest.mark.parametrize("call", ["load", "insert", "sync", "upsert", "delete"])
def test_all_values_of_rows_are_named(ws: Any, call: str, rows: Any) -> None:
    def run() -> None:
        if call == "load":
            ws.load("r", rows)
        else:
            with ws.transaction() as tx:
                getattr(tx, call)("r", rows)

    expected = [(f"row {row}", column) for row, column in WRONG]
    if isinstance(rows, pd.DataFrame):  # of which None is a NULL as any other
        expected = [each for each in expected if each != ("row 2", "price")] + [("row 2", "price")]
        assert sorted(places(refused(run))) == sorted(expected)
    else:
        assert places(refused(run)) == expected
    assert len(ws["r"]) == 0


@pytest.mark.parametrize("position", [None, "ts"])
def test_changes_are_named_by_their_numbers(ws: Any, position: str | None) -> None:
    feed = None if position is None else "shop"

    def run(events: list[Any]) -> Any:
        with ws.transaction() as tx:
            tx.apply_changes("r", events, feed=feed, position=position)

    found = refused(lambda: run([EVENTS[0], None, *EVENTS[1:]]))
    assert places(found) == [(f"change {row + 1}", column) for row, column in WRONG]
    table = [{"op": "u", "ts": -n, **row} for n, row in enumerate(DICTS)]
    found = refused(lambda: run(table))
    assert sorted(places(found)) == sorted((f"change {row}", column) for row, column in WRONG)


def test_days_that_are_none_are_no_error_of_python(ws: Any) -> None:
    events = [{"op": "c", "after": {"a": 1, "b": day}} for day in ("2020-01-01", "2020-13-01", "")]
    with ws.transaction() as tx:
        found = refused(lambda: tx.apply_changes("n", events))
    assert places(found) == [("change 1", "b"), ("change 2", "b")]


def test_lines_of_files_are_named(ws: Any, tmp_path: Path) -> None:
    text = "id,price,who,size\n1,1.5,a,\nx,1.555,a,y\n3,,a,1\n"
    (tmp_path / "r.csv").write_text(text)
    found = refused(lambda: ws.load("r", tmp_path / "r.csv"))
    at = [("line 3", "id"), ("line 3", "price"), ("line 3", "size"), ("line 4", "price")]
    assert places(found) == [(f"r.csv, {line}", column) for line, column in at]
    (tmp_path / "n.facts").write_text("1\t2020-01-01\nx\ty\n3\t2020-13-01\n")
    found = refused(lambda: ws.load("n", tmp_path / "n.facts"))
    assert [line for line, _ in places(found)] == ["n.facts, line 2"] * 2 + ["n.facts, line 3"]


def test_columns_of_arrays_are_named(ws: Any) -> None:
    big = pa.chunked_array([pa.array([1, 2**63], pa.uint64()), pa.array([2**63 + 1], pa.uint64())])
    table = pa.table({"a": big, "b": pa.array([1, None, 10**9], pa.date32())})
    found = refused(lambda: ws.load("n", table))
    assert places(found) == [("row 1", "a"), ("row 1", "b"), ("row 2", "a"), ("row 2", "b")]
    found = refused(lambda: ws.load("n", pa.table({"a": [1.5], "b": ["x"]})))
    assert [each.message.split(":")[0] for each in found.errors] == ['column "a"', 'column "b"']
    assert refused(lambda: ws.load("n", np.array([[1.5, 2]]))).errors[0].code == "E210"
    ws.relation("m", {"a": float, "b": "date"})
    ws.load("m", [(0.5, datetime.date(2020, 1, day)) for day in (1, 2)])
    assert places(refused(lambda: ws.load("n", ws["m"]))) == [("row 0", "a"), ("row 1", "a")]


def test_ten_are_shown_with_each_remedy_once(ws: Any) -> None:
    rows = [(n + 0.5, None if n == 3 else datetime.date(2020, 1, 1)) for n in range(30)]
    text = str(found := refused(lambda: ws.load("n", rows)))
    assert len(found.errors) == 10
    assert text.count("\n") == 9 + 1 + 2
    assert "and more: these are the first 10" in text
    assert text.count("help: ") == 2
    assert str(pickle.loads(pickle.dumps(found))) == text
    text = str(refused(lambda: ws.load("n", rows[:5])))
    assert text.count(", column ") == 6
    assert "more" not in text
    with pytest.raises(lftj.WrongValueError, match="row 0"):
        ws.load("n", rows, nulls="drop")
