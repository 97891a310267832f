"""The packaged flights as in `lftj demo`, one day after another: all views maintained, or evaluated anew at each commit.

Each side runs the whole stream by itself, and commits every day's rows: read, checked and stored. They differ in what becomes of the views.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
BASES = ("flight", "tail", "delay", "plane", "airline", "airport", "watched")

Views = dict[str, list[Any]]


def _split(program: str) -> tuple[str, str]:
    """The declarations of the base relations, and all the rest."""
    lines = program.splitlines()
    bases = tuple(f".decl {name}{bracket}" for name in BASES for bracket in "([")
    return "\n".join(line for line in lines if line.startswith(bases)), "\n".join(line for line in lines if not line.startswith(bases))


def _commit(workspace: lftj.Workspace, arrived: feed.Report) -> float:
    """Processor seconds of one day's transaction. Garbage of before is collected first."""
    gc.collect()

    def run() -> None:
        with workspace.transaction() as transaction:
            apply(transaction, arrived)

    return processor_seconds(run)


def _views(workspace: lftj.Workspace) -> Views:
    return {name: sorted(workspace[name].fetchall()) for name in VIEWS}


def _stream(days: int, desk: Desk, evening: Callable[[], tuple[float, lftj.Workspace]]) -> tuple[float, dict[int, Views]]:
    """Processor seconds of all days' commits and of what comes after each, which says where the views are; and these as they were then."""
    seconds, seen = 0.0, {}
    for number in range(1, days + 1):
        seconds += _commit(desk.workspace, feed.daily(feed.FIRST_DAY + feed.ONE_DAY * number))
        more, holding = evening()
        seconds += more
        if number % EVERY == 0 or number == days:
            seen[number] = _views(holding)
    return seconds, seen


def _maintained(days: int, **options: Any) -> tuple[float, dict[int, Views]]:
    """The stream in a workspace with the views."""
    desk = Desk(connect(**options))
    desk.load(feed.FIRST_DAY)
    return _stream(days, desk, lambda: (0.0, desk.workspace))


def _recomputed(days: int) -> tuple[float, dict[int, Views]]:
    """The stream in a workspace without views, which are evaluated from nothing at each commit."""
    declarations, rules = _split(RULES.read_text(encoding="utf-8"))
    recomputation = Recomputation(declarations, rules, BASES)
    desk = Desk(connect())
    desk.fill(feed.FIRST_DAY, declarations)

    def evaluated() -> tuple[float, lftj.Workspace]:
        gc.collect()
        return recomputation.evaluate(desk.workspace)

    return _stream(days, desk, evaluated)


def measure(report: Report, data: Path | None) -> None:
    """Record the figures once all sides were seen to have the same views on the days that are verified."""
    days = DAYS[report.size]
    _maintained(1)  # what compiling kernels takes, or reading them from the cache, is not asked here
    maintained, views = _maintained(days)
    if report.wants("flights_speedup"):
        recomputed, anew = _recomputed(days)
        require_equal("views of the flights, the same as evaluated anew", views == anew, True)
        report.add("flights_speedup", recomputed / maintained)
        report.note(figure="flights_speedup", days=days, maintained_s=maintained, recomputed_s=recomputed)
    if report.wants("flights_speedup_orders_kept"):
        full, anew = _maintained(days, elastic=0)
        require_equal("views of the flights, the same as evaluated in full", views == anew, True)
        report.add("flights_speedup_orders_kept", full / maintained)
        report.note(figure="flights_speedup_orders_kept", days=days, maintained_s=maintained, full_s=full)
