"""Every number that `lftj demo` prints, and every row behind it, after every commit, against
DuckDB. Both have the flights since August: those of a month take all ways that those of eight do.
"""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

import lftj
from lftj.demo import feed, show
from lftj.demo.desk import VIEWS, Commit, Desk
from tests.unit.demo.sql import Evening

SINCE = datetime.date(2013, 8, 1)
DAYS = 4
EVENINGS = [feed.FIRST_DAY + feed.ONE_DAY * offset for offset in range(-1, DAYS)]


@dataclass
class RecordingDesk(Desk):
    """A desk that loads the flights since a day, and keeps, after each commit, the state that it
    made, and the seconds of each derivation anew.
    """

    commits: list[Commit] = field(default_factory=list)
    states: dict[datetime.date, lftj.Snapshot] = field(default_factory=dict)
    anew: list[float] = field(default_factory=list)

    def load(self, last: datetime.date, first: datetime.date | None = None) -> Commit:
        """Load them."""
        return super().load(last, first or SINCE)

    def check(self) -> tuple[float, int]:
        """Keep the seconds."""
        found = super().check()
        self.anew.append(found[0])
        return found

    def _committed(self, *args: Any) -> Commit:
        commit = super()._committed(*args)
        self.commits.append(commit)
        self.states[commit.day] = self.workspace.snapshot()
        return commit


@dataclass
class Show:
    """One run of the demo: the desk behind it, the text printed and the picture's path."""

    desk: RecordingDesk
    text: str
    picture: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Show:
    desk, out = RecordingDesk(), io.StringIO()
    picture = show.run(
        Console(file=out, width=160), tmp_path_factory.mktemp("demo"), days=DAYS, desk=desk
    )
    return Show(desk, out.getvalue(), picture)


@pytest.fixture(scope="module")
def evenings() -> dict[datetime.date, Evening]:
    return {day: Evening(day, SINCE) for day in EVENINGS}


@pytest.mark.parametrize("day", EVENINGS, ids=str)
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_after_every_commit(
    demo: Show, evenings: dict[datetime.date, Evening], day: datetime.date, view: str
) -> None:
    rows = demo.desk.states[day][view].arrow()
    assert len(rows) > 0
    assert evenings[day].against(view, rows) == (0, 0)


@pytest.mark.parametrize("position", range(DAYS + 1))
def test_every_printed_commit(
    demo: Show, evenings: dict[datetime.date, Evening], position: int
) -> None:
    commit, now = demo.desk.commits[position], evenings[EVENINGS[position]]
    before = evenings[EVENINGS[position - 1]] if position else None
    for view in VIEWS:
        changed = now.against(view, before.table(view)) if before else (now.count(view), 0)
        assert (commit.gained[view], commit.lost[view]) == changed, view
    assert commit.day == EVENINGS[position]
    assert commit.version == demo.desk.commits[0].version + position
    if before:
        arrived, gone = now.against("flight", before.table("flight"))
        corrected = (
            f"SELECT count(*) FROM source WHERE day = DATE '{EVENINGS[position - 1]}' AND id % "
            f"20 = 0 AND arrival_delay IS NOT NULL"
        )
        assert commit.flights == arrived
        assert (commit.corrections, commit.withdrawn) == (now.ask(corrected)[0][0], gone)
        assert gone, "a day without a withdrawal shows less than it should"


def test_the_text_says_what_the_commits_returned(demo: Show) -> None:
    first, *rest = demo.desk.commits
    assert f"Loaded {first.flights:,} flights up to {first.day} and derived" in demo.text
    table = dict(row for row in _tables(demo.text)[0] if len(row) == 2)
    assert {view: int(table[view].replace(",", "")) for view in VIEWS} == first.gained
    pattern = (
        r"(\S+)  version (\d+)  (\d+) flights, (\d+) delays corrected, (\d+) cancelled flights "
        r"withdrawn  \(\d+ ms\)\n((?: .*\n)+)"
    )
    found = re.findall(pattern, demo.text)
    assert len(found) == len(rest) == DAYS
    for commit, (day, *numbers, changes) in zip(rest, found, strict=True):
        assert day == commit.day.isoformat()
        assert [int(number) for number in numbers] == [
            commit.version,
            commit.flights,
            commit.corrections,
            commit.withdrawn,
        ]
        moved = {
            view: (int(plus), int(minus))
            for view, plus, minus in re.findall(r"(\w+) \+(\d+)/-(\d+)", changes)
        }
        assert moved == {
            view: (commit.gained[view], commit.lost[view])
            for view in VIEWS
            if commit.gained[view] or commit.lost[view]
        }


def test_the_final_tables(demo: Show, evenings: dict[datetime.date, Evening]) -> None:
    _, routes, unregistered, connections, triangles = _tables(demo.text)
    last = evenings[EVENINGS[-1]]
    columns = (
        "carrier, origin, dest, format('{:,}', n), format('{:.2f}', mean), least::VARCHAR, "
        "most::VARCHAR"
    )
    named = "route_delay(carrier, origin, dest, n, mean, least, most)"
    assert routes == last.ask(
        f"SELECT {columns} FROM route_delay AS {named} WHERE n >= 100 ORDER BY mean DESC, 1, 2, 3 "
        f"LIMIT 8"
    )
    assert unregistered == last.ask(
        "SELECT carrier, name, n::VARCHAR FROM unregistered_planes AS u(carrier, name, n) ORDER BY "
        "n DESC, 1"
    )
    assert triangles == last.ask(
        "SELECT faa, name, n::VARCHAR FROM triangles_at AS t(faa, name, n) ORDER BY n DESC, 1 "
        "LIMIT 8"
    )
    assert connections == [row for day in EVENINGS[-3:] for row in _figures(evenings[day], day)]


def test_the_figures_of_the_picture(demo: Show, evenings: dict[datetime.date, Evening]) -> None:
    drawn = [
        (str(f.day), f.origin, str(f.airports), str(f.connections), f"{f.mean_delay:.2f}")
        for f in demo.desk.figures
    ]
    assert drawn == [row for day in EVENINGS for row in _figures(evenings[day], day)]


def test_the_picture_draws_each_day_beside_a_derivation_anew(demo: Show) -> None:
    assert f"Picture: {demo.picture}" in demo.text
    drawn = ElementTree.parse(demo.picture).getroot()
    costs, airports, delays = drawn.findall("{*}g")
    points = [len(each.attrib["points"].split()) for each in costs.findall("{*}polyline")]
    assert points[:2] == [DAYS, DAYS], "days derived anew, and days committed"
    assert len(airports.findall("{*}polyline")) == 12, "two lines of each airport, and a legend"
    assert len(delays.findall("{*}circle")) == 3 * len(EVENINGS)
    heights = [
        float(point.split(",")[1])
        for each in costs.findall("{*}polyline")[:2]
        for point in each.attrib["points"].split()
    ]
    seconds = [*demo.desk.anew, *(commit.seconds for commit in demo.desk.commits[1:])]
    down = [height for _, height in sorted(zip(seconds, heights, strict=True), reverse=True)]
    assert down == sorted(heights), "less time is further down"
    assert len(set(heights)) > DAYS


def test_the_end_tells_what_to_try(demo: Show) -> None:
    tried = demo.text.partition("\nNext:\n")[2]
    commands = re.findall(r"^  lftj (\w+)", tried, re.MULTILINE)
    assert commands == ["demo", "shell", "report", "run"]
    (query,) = re.findall(r"\? (.+)\.$", tried, re.MULTILINE)
    assert len(demo.desk.workspace.query(query)) == 3


def test_one_row_is_explained_and_the_page_is_there(demo: Show) -> None:
    proof = demo.desk.explained()
    facts = {name: demo.desk.rows(name) for name in ("flight", "tail", "delay", "plane")}
    assert proof.row in demo.desk.rows("only_by_connection")
    assert all(row in facts[name] for name, rows in proof.facts.items() for row in rows)
    assert str(proof).splitlines()[0] in demo.text
    page = demo.picture.with_name(show.PAGE)
    assert f"Page: {page.as_uri()}" in demo.text
    assert "only_by_connection" in page.read_text(encoding="utf-8")


def test_nothing_is_drawn_at_random() -> None:
    again = feed.daily(feed.FIRST_DAY)
    assert again == feed.daily(feed.FIRST_DAY)
    assert 0 < len(again.corrections) < len(again.delays)


def _figures(evening: Evening, day: datetime.date) -> Iterator[tuple[str, ...]]:
    """(day, airport, reachable, only by connection, mean delay) as printed, of that evening's own
    day.
    """
    query = f"""
        SELECT day::VARCHAR, start, airports::VARCHAR, coalesce(c.airports, 0)::VARCHAR,
            format('{{:.2f}}', mean)
        FROM reachable LEFT JOIN connections AS c USING (day, start)
        JOIN day_delay AS d(day, start, n, mean) USING (day, start) WHERE day = DATE '{day}'
            ORDER BY start"""
    yield from evening.ask(query.replace("start, airports::", "start, reachable.airports::"))


def _tables(text: str) -> list[list[tuple[str, ...]]]:
    """The body rows of each printed table, cells stripped."""
    tables: list[list[tuple[str, ...]]] = []
    for line in text.splitlines():
        if line.startswith("┏"):
            tables.append([])
        elif line.startswith("│"):
            tables[-1].append(tuple(cell.strip() for cell in line.strip("│").split("│")))
    return tables
