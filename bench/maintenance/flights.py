"""The packaged flights as in `lftj demo`, one day after another: all views maintained, or evaluated
anew at each commit.

Each side runs the whole stream by itself, and commits every day's rows: read, checked and stored.
They differ in what becomes of the views. A second stream is the worst that days can do to
maintenance: only a week is held, so each commit replaces two sevenths of all there is.
"""

from __future__ import annotations

import datetime
import gc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import lftj
from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import Report, require_equal
from bench.maintenance.recomputation import Recomputation
from lftj.demo import feed
from lftj.demo.desk import RULES, VIEWS, Desk
from lftj.demo.desk import _apply as apply

DAYS = {"s": 2, "m": 6, "l": 29}
EVERY = 7  # days from one verified state to the next; the last is verified too
WEEK = 7
BASES = ("flight", "tail", "delay", "plane", "airline", "airport")

Views = dict[str, pa.Table]


def _split(program: str) -> tuple[str, str]:
    """The declarations of the base relations, and all the rest."""
    lines = program.splitlines()
    bases = tuple(f".decl {name}{bracket}" for name in BASES for bracket in "([")
    return "\n".join(line for line in lines if line.startswith(bases)), "\n".join(
        line for line in lines if not line.startswith(bases)
    )


@dataclass(frozen=True)
class _Days:
    """A stream: `count` days come one by one, and with `held` only so many are kept, the oldest
    going as a new one comes.
    """

    count: int
    held: int | None = None

    def load(self, desk: Desk, program: str) -> None:
        first = feed.FIRST_DAY - feed.ONE_DAY * (self.held - 1) if self.held else None
        desk.fill(feed.FIRST_DAY, program, first)

    def commit(self, workspace: lftj.Workspace, day: datetime.date) -> float:
        """Processor seconds of one day's transaction. Garbage of before is collected first."""
        arrived, gone = (
            feed.daily(day),
            _final_rows(day - feed.ONE_DAY * self.held) if self.held else {},
        )
        gc.collect()

        def run() -> None:
            with workspace.transaction() as transaction:
                apply(transaction, arrived)
                for name, rows in gone.items():
                    transaction.delete(name, rows, missing="error")

        return processor_seconds(run)

    def run(
        self, desk: Desk, evening: Callable[[], tuple[float, lftj.Workspace]]
    ) -> tuple[float, dict[int, Views]]:
        """Processor seconds of all commits and of what comes after each, which says where the views
        are; and these as they were then.
        """
        seconds, seen = 0.0, {}
        for number in range(1, self.count + 1):
            seconds += self.commit(desk.workspace, feed.FIRST_DAY + feed.ONE_DAY * number)
            more, holding = evening()
            seconds += more
            if number % EVERY == 0 or number == self.count:
                seen[number] = _views(holding)
        return seconds, seen


def _final_rows(day: datetime.date) -> dict[str, pa.Table]:
    """The rows of one day, once corrections and withdrawals have come."""
    report = feed.past(day + feed.ONE_DAY, day)
    flights = report.flights.filter(pc.field("day") == day)
    own = pc.field("id").isin(flights["id"])
    return {"flight": flights, "tail": report.tails.filter(own), "delay": report.delays.filter(own)}


def _views(workspace: lftj.Workspace) -> Views:
    tables = {name: workspace[name].arrow() for name in VIEWS}
    return {
        name: table.sort_by([(column, "ascending") for column in table.column_names])
        for name, table in tables.items()
    }


def _maintained(days: _Days, **options: Any) -> tuple[float, dict[int, Views]]:
    """The stream in a workspace with the views."""
    desk = Desk(connect(**options))
    days.load(desk, RULES.read_text(encoding="utf-8"))
    return days.run(desk, lambda: (0.0, desk.workspace))


def _recomputed(days: _Days) -> tuple[float, dict[int, Views]]:
    """The stream in a workspace without views, which are evaluated from nothing at each commit."""
    declarations, rules = _split(RULES.read_text(encoding="utf-8"))
    recomputation = Recomputation(declarations, rules, BASES)
    desk = Desk(connect())
    days.load(desk, declarations)

    def evaluated() -> tuple[float, lftj.Workspace]:
        gc.collect()
        return recomputation.evaluate(desk.workspace)

    return days.run(desk, evaluated)


def _compare(
    report: Report,
    days: _Days,
    others: dict[str, Callable[[_Days], tuple[float, dict[int, Views]]]],
) -> None:
    """By figure, how many times as long another side takes for the same views, of those that are
    asked for.
    """
    if not report.wants(*others):
        return
    _maintained(
        _Days(1, days.held)
    )  # what compiling kernels takes, or reading them from the cache, is not asked here
    maintained, views = _maintained(days)
    for figure in filter(report.wants, others):
        seconds, same = others[figure](days)
        require_equal("views of the flights, the same as evaluated anew", views == same, True)
        report.add(figure, seconds / maintained)
        report.note(figure=figure, days=days.count, maintained_s=maintained, recomputed_s=seconds)


def measure(report: Report, data: Path | None) -> None:
    """Record the figures once all sides of each stream were seen to have the same views on the days
    that are verified.
    """
    count = DAYS[report.size]
    in_full = partial(_maintained, elastic=0)
    _compare(
        report,
        _Days(count),
        {"flights_speedup": _recomputed, "flights_speedup_orders_kept": in_full},
    )
    _compare(report, _Days(count, WEEK), {"flights_week_speedup": _recomputed})
