# SPDX-License-Identifier: Apache-2.0
"""The operations desk: a workspace with the rules of `flights.dl`, to which days are committed one
by one.

Everything that the demo prints or draws is returned by these functions first, so that tests can
check each number.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import lftj
from lftj.demo import feed

RULES = Path(__file__).parent / "flights.dl"
VIEWS = (
    "route_delay",
    "day_delay",
    "unregistered",
    "unregistered_planes",
    "flown",
    "leg",
    "reach",
    "earliest",
    "only_by_connection",
    "reachable",
    "connections",
    "linked",
    "triangle",
    "triangles_at",
)
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Commit:
    """One committed report: how many rows it brought, how many rows each view gained and lost, and
    what took how long.

    `gained` and `lost` are keyed by view, in the order of `VIEWS`; a correction that changes a row
    counts once on each side.
    """

    day: datetime.date
    version: int
    flights: int
    corrections: int
    withdrawn: int
    gained: dict[str, int]
    lost: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class DayFigure:
    """Figures of the views for one day and airport, in the evening of that day."""

    day: datetime.date
    origin: str
    airports: int
    connections: int
    mean_delay: float


@dataclass(frozen=True)
class DayCost:
    """Seconds that a day's commit took, and deriving all views anew after it."""

    day: datetime.date
    commit: float
    anew: float


@dataclass
class Desk:
    """A workspace being fed. `figures` grows by one row per airport and day."""

    workspace: Any = field(default_factory=lambda: lftj.connect())
    figures: list[DayFigure] = field(default_factory=list)

    def load(self, last: datetime.date, first: datetime.date | None = None) -> Commit:
        """Register the rules and load everything known in the evening of `last`, in one
        transaction; with `first` flights since then.
        """
        started = time.perf_counter()
        tx, report = self.fill(last, RULES.read_text(encoding="utf-8"), first)
        return self._committed(tx, report, started)

    def fill(
        self, last: datetime.date, program: str, first: datetime.date | None = None
    ) -> tuple[Any, feed.Report]:
        """As `load`, with another program that declares what is reported; the transaction, which is
        over, and what it brought.
        """
        with self.workspace.transaction() as tx:
            tx.add_rules(program)
            for relation, name in (
                ("plane", "planes"),
                ("airline", "airlines"),
                ("airport", "airports"),
            ):
                tx.insert(relation, feed.table(name))
            report = feed.past(last, first)
            _apply(tx, report)
        return tx, report

    def commit(self, day: datetime.date) -> Commit:
        """Commit what `day` brings, as one transaction."""
        report = feed.daily(day)
        started = time.perf_counter()
        with self.workspace.transaction() as tx:
            _apply(tx, report)
        return self._committed(tx, report, started)

    def _committed(self, tx: Any, report: feed.Report, started: float) -> Commit:
        seconds = time.perf_counter() - started
        signs = {
            view: np.bincount(
                tx.changes(view).arrow()["__diff__"].to_numpy() + 1, minlength=3
            ).tolist()
            for view in VIEWS
        }
        self.figures.extend(self._figures(report.day))
        return Commit(
            day=report.day,
            version=tx.version,
            flights=len(report.flights),
            corrections=len(report.corrections),
            withdrawn=len(report.withdrawn),
            gained={view: signs[view][2] for view in VIEWS},
            lost={view: signs[view][0] for view in VIEWS},
            seconds=seconds,
        )

    def _figures(self, day: datetime.date) -> Iterator[DayFigure]:
        of_day = {
            name: {row[1]: row[-1] for row in self.rows(name) if row[0] == day}
            for name in ("reachable", "connections", "day_delay")
        }
        for origin, airports in sorted(of_day["reachable"].items()):
            yield DayFigure(
                day,
                origin,
                airports,
                of_day["connections"].get(origin, 0),
                of_day["day_delay"][origin],
            )

    def rows(self, relation: str) -> list[Row]:
        """All rows of a relation or view, sorted."""
        return sorted(self.workspace[relation].fetchall())

    def asked(self) -> str:
        """A question about a row that takes several steps to derive, in words."""
        day, start, airport = self._connected()
        return f"On {day} one can be in {airport} from {start}, without a flight of its own:"

    def explained(self) -> Any:
        """The proof of that row."""
        return self.workspace.explain("only_by_connection", self._connected())

    def _connected(self) -> Row:
        """The last airport that was reached by connection only."""
        return max(self.workspace["only_by_connection"].fetchall())

    def check(self) -> tuple[float, int]:
        """Derive all views anew and compare: seconds, and how many differ from what the commits
        made of them.
        """
        started = time.perf_counter()
        differing = len(self.workspace.verify())
        return time.perf_counter() - started, differing

    def slowest_routes(self, count: int = 8, least_flights: int = 100) -> list[Row]:
        """Rows of `route_delay` with at least `least_flights` flights, by falling mean delay."""
        rows = [row for row in self.rows("route_delay") if row[3] >= least_flights]
        return sorted(rows, key=lambda row: (-row[4], row[:3]))[:count]

    def unregistered(self) -> list[Row]:
        """(carrier, name, planes), the largest first."""
        return sorted(self.rows("unregistered_planes"), key=lambda row: (-row[2], row[0]))

    def triangles(self, count: int = 8) -> list[Row]:
        """(airport, name, triangles), the largest first."""
        return sorted(self.rows("triangles_at"), key=lambda row: (-row[2], row[0]))[:count]


def _apply(tx: Any, report: feed.Report) -> None:
    tx.insert("flight", report.flights, existing="error")
    tx.insert("tail", report.tails)
    tx.insert("delay", report.delays)
    tx.upsert("delay", report.corrections)
    tx.delete("flight", report.withdrawn, missing="error")
    tx.delete("tail", report.withdrawn_tails, missing="error")
