"""Instants, which are timestamps with a zone, and where they come in: all are in UTC."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas
import polars
import pyarrow as pa
import pytest

import lftj

SUMMER = datetime.datetime(2024, 7, 1, 12, 30, 0, 5, tzinfo=ZoneInfo("Europe/Zurich"))
IN_UTC = datetime.datetime(2024, 7, 1, 10, 30, 0, 5)
TWICE = [
    datetime.datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Zurich"), fold=fold)
    for fold in (0, 1)
]  # one hour that is there twice
CARRIERS: dict[str, Any] = {
    "tuple": [(1, SUMMER)],
    "dict": [{"i": 1, "t": SUMMER}],
    "pandas.Timestamp": [(1, pandas.Timestamp(SUMMER))],
    "pandas": pandas.DataFrame({"i": [1], "t": pandas.Series([SUMMER])}),
    "objects": pandas.DataFrame({"i": [1], "t": pandas.Series([SUMMER], dtype=object)}),
    "polars": polars.DataFrame({"i": [1], "t": [SUMMER]}),
    "arrow": pa.table({"i": [1], "t": pa.array([SUMMER], pa.timestamp("us", "Asia/Tokyo"))}),
}


def workspace(*rows: tuple[Any, ...]) -> lftj.Workspace:
    ws = lftj.connect()
    ws.relation("e", {"i": int, "t": datetime.datetime})
    ws.load("e", rows)
    return ws


@pytest.mark.parametrize("carrier", CARRIERS)
def test_rows_with_a_zone_are_in_utc_whatever_carries_them(carrier: str) -> None:
    ws = workspace()
    ws.load("e", CARRIERS[carrier])
    assert ws["e"].fetchall() == [(1, IN_UTC)]
    with ws.transaction() as tx:
        tx.delete("e", CARRIERS[carrier])
    assert ws["e"].fetchall() == []


def test_an_hour_that_is_there_twice_is_two_instants() -> None:
    ws = workspace((1, TWICE[0]), (1, TWICE[1]))
    assert [t.hour for _, t in ws["e"].sort()] == [0, 1]


def test_texts_of_files_may_have_a_zone_or_none(tmp_path: Path) -> None:
    texts = [
        "2024-07-01 10:30:00.000005",
        "2024-07-01T10:30:00.000005Z",
        "2024-07-01 12:30:00.000005+02:00",
        "2024-07-01T05:30:00.000005-0500",
        " 2024-07-01T12:30:00.000005+02 ",
        "2024-07-01",
        "",
    ]
    path = tmp_path / "e.csv"
    path.write_text("i,t\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts)))
    ws = lftj.connect()
    ws.relation("e", {"i": int, "t": datetime.datetime | None})
    ws.load("e", path)
    expected = [IN_UTC] * 5 + [datetime.datetime(2024, 7, 1), None]
    assert [row[1] for row in ws["e"].sort()] == expected


def test_parameters_constants_and_functions_may_have_a_zone() -> None:
    ws = workspace((1, IN_UTC), (2, IN_UTC.replace(hour=12)))

    @ws.function
    def moment(i: int) -> datetime.datetime:
        return SUMMER

    assert ws.query(lftj.Predicate("e")(lftj.Var("i"), SUMMER)).fetchall() == [(1,)]
    assert ws.query("e(i, ?)", SUMMER).fetchall() == [(1,)]
    question = 'e(i, timestamp("2024-07-01 12:30:00.000005+02:00"))'
    assert ws.query(question).fetchall() == [(1,)]
    ws.add_rules(".decl same(i: number) same(i) :- e(i, moment(i)).")
    assert ws["same"].fetchall() == [(1,)]
