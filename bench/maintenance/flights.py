"""The packaged flights as in `lftj demo`: one day after another committed, all views of the demo maintained."""

from __future__ import annotations

from pathlib import Path

from bench.clock import processor_seconds
from bench.figure import Report
from bench.maintenance.recomputation import Recomputation, require_same_views
from lftj.demo import feed
from lftj.demo.desk import RULES, VIEWS, Desk
from lftj.demo.desk import _apply as apply

DAYS = {"s": 2, "m": 6, "l": 29}
EVERY = 7  # days from one verified state to the next; the last is verified too
BASES = ("flight", "tail", "delay", "plane", "airline", "airport", "watched")


def _split(program: str) -> tuple[str, str]:
    """The declarations of the base relations, and all the rest."""
    lines = program.splitlines()
    bases = tuple(f".decl {name}{bracket}" for name in BASES for bracket in "([")
    return "\n".join(line for line in lines if line.startswith(bases)), "\n".join(line for line in lines if not line.startswith(bases))


def _commit(desk: Desk, arrived: feed.Report) -> None:
    with desk.workspace.transaction() as transaction:
        apply(transaction, arrived)


def measure(report: Report, data: Path | None) -> None:
    """Seconds of recomputing at each commit over the seconds of all commits."""
    recomputation = Recomputation(*_split(RULES.read_text(encoding="utf-8")), BASES)
    desk = Desk()
    desk.load(feed.FIRST_DAY)
    days = [feed.FIRST_DAY + feed.ONE_DAY * (1 + number) for number in range(DAYS[report.size])]
    maintained = recomputed = 0.0
    for number, day in enumerate(days, 1):
        arrived = feed.daily(day)
        maintained += processor_seconds(lambda arrived=arrived: _commit(desk, arrived))
        seconds, anew = recomputation.evaluate(desk.workspace)
        recomputed += seconds
        if number % EVERY == 0 or day == days[-1]:
            require_same_views(VIEWS, f"in the evening of {day}", desk.workspace, anew)
    report.add("flights_speedup", recomputed / maintained)
    report.note(figure="flights_speedup", days=len(days), maintained_s=maintained, recomputed_s=recomputed)
