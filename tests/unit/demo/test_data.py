"""The packaged tables are what their README says, and the times in them were converted rightly."""

from __future__ import annotations

import datetime
import re

import pyarrow.compute as pc
import pytest

from lftj.demo import feed
from lftj.demo.prepare import arrival, behind_new_york, minutes

SUMMER, WINTER = datetime.date(2013, 7, 1), datetime.date(2013, 1, 15)
LISTED = re.findall(
    r"^- `(\w+)\.parquet`: ([\d,]+) rows; columns: (.*?)\.$",
    (feed.DATA / "README.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize(("name", "rows", "columns"), LISTED, ids=[name for name, *_ in LISTED])
def test_readme_lists_rows_and_columns(name: str, rows: str, columns: str) -> None:
    table = feed.table(name)
    assert len(table) == int(rows.replace(",", ""))
    assert table.column_names == re.split(r",\s+", re.sub(r"\s*\([^)]*\)", "", columns))


def test_every_table_is_listed() -> None:
    assert {name for name, *_ in LISTED} == {path.stem for path in feed.DATA.glob("*.parquet")}


@pytest.mark.parametrize(
    ("day", "zone", "expected"),
    [
        (SUMMER, "America/New_York", 0),
        (SUMMER, "America/Los_Angeles", 180),
        (SUMMER, "America/Phoenix", 180),
        (WINTER, "America/Phoenix", 120),
        (WINTER, "Pacific/Honolulu", 300),
        (WINTER, "America/Puerto_Rico", -60),
        (SUMMER, "America/Puerto_Rico", 0),
    ],
)
def test_clocks(day: datetime.date, zone: str, expected: int) -> None:
    assert behind_new_york(day, zone) == expected


def test_arrival_counts_on_past_midnight() -> None:
    assert minutes(2359) == 23 * 60 + 59
    assert arrival(SUMMER, minutes(2300), 115, "America/New_York") == 25 * 60 + 15
    assert arrival(SUMMER, minutes(2300), 145, "America/Los_Angeles") == 28 * 60 + 45
    assert arrival(WINTER, minutes(2359), 437, "America/Puerto_Rico") == 24 * 60 + 3 * 60 + 37


def test_flights_are_in_order_and_arrive_after_they_leave() -> None:
    flights = feed.table("flights")
    days = flights["day"].to_pylist()
    assert days == sorted(days)
    assert (days[0], days[-1]) == (datetime.date(2013, 1, 1), datetime.date(2013, 9, 30))
    taken = pc.subtract(flights["arrives"], flights["leaves"])
    assert 45 <= pc.min(taken).as_py() <= pc.max(taken).as_py() <= 12 * 60
    cancelled = flights.filter(pc.is_null(flights["departure_delay"]))
    assert cancelled["arrival_delay"].null_count == len(cancelled) > 0
