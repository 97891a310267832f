"""One-row commits with two maintained views: in memory, at a path, and bare ones of SQLite."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import lftj
from bench.faults.power import durable_of
from bench.figure import Report, require_equal

FIGURES = ("added_vs_sqlite", "off_vs_memory", "branch_us", "at_vs_now")
COMMITS = {"s": 20, "m": 200, "l": 1_000}
ROWS = 10_000
PROGRAM = """
.decl sale(id: int, shop: int, amount: int)
.decl shop(shop: int, region: int)
.decl total(shop: int, t: int)
total(s, sum(a)) :- sale(_, s, a).
.decl dear(id: int, region: int)
dear(i, r) :- sale(i, s, a), a > 90, shop(s, r).
"""


def measure(report: Report, folder: Path) -> None:
    """Fill the figures of commits."""
    count = COMMITS[report.size]
    with (
        _filled(None) as memory,
        _filled(folder / "full.lftj") as full,
        _filled(folder / "off.lftj", durability="off") as off,
    ):
        bare = Bare(folder / "bare.sqlite")
        ways = {
            "memory": lambda number: _commit(memory, number),
            "full": lambda number: _commit(full, number),
            "off": lambda number: _commit(off, number),
            "sqlite": bare.commit,
        }
        for number in range(3):
            _commit(full, -1 - number)
        bare.size = _bytes_of_a_commit(full)
        for number in range(3):
            for workspace in (memory, off):
                _commit(workspace, -1 - number)
        seconds = _in_turns(ways, count)
        require_equal("rows", sorted(full["dear"]), sorted(memory["dear"]))
        medians = {name: median(each) * 1e6 for name, each in seconds.items()}
        report.note(commits=count, bytes=bare.size, **{f"{n}_us": us for n, us in medians.items()})
        report.add("added_vs_sqlite", (medians["full"] - medians["memory"]) / medians["sqlite"])
        report.add("off_vs_memory", medians["off"] / medians["memory"])
        _branches(report, full, memory, bare, count)
        _past(report, full, count)


def _filled(path: Path | None, durability: str = "full") -> lftj.Workspace:
    workspace = lftj.connect(path, durability=durability, keep="all") if path else lftj.connect()
    with workspace.transaction() as tx:
        tx.add_rules(PROGRAM)
        tx.insert("sale", [(-10 - each, each % 97, each % 89) for each in range(ROWS)])
        tx.insert("shop", [(each, each % 7) for each in range(97)])
    return workspace


def _commit(workspace: lftj.Workspace, number: int) -> None:
    workspace.load("sale", [(number, number % 97, 91 + number % 9)])


class Bare:
    """A table of SQLite, each commit of which inserts a row of so many bytes."""

    def __init__(self, path: Path):
        self.size = 0
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("CREATE TABLE bare (number INTEGER PRIMARY KEY, row BLOB)")

    def commit(self, number: int) -> None:
        """One commit."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO bare (row) VALUES (?)", (b"x" * self.size,))
        self._connection.execute("COMMIT")


def _bytes_of_a_commit(workspace: lftj.Workspace) -> int:
    """Bytes of the last commit in the log, and of its record."""
    with durable_of(workspace).log.reading() as connection:
        (rows,) = connection.execute(
            "SELECT length(rows) FROM commits ORDER BY number DESC LIMIT 1"
        ).fetchone()
        (note,) = connection.execute(
            "SELECT length(note) FROM notes ORDER BY number DESC LIMIT 1"
        ).fetchone()
    return rows + note


def _in_turns(ways: dict[str, Callable[[int], object]], count: int) -> dict[str, list[float]]:
    """Seconds of each way, one call of each after the other."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(count):
        for name, run in ways.items():
            start = time.perf_counter()
            run(number)
            seconds[name].append(time.perf_counter() - start)
    return seconds


def _branches(
    report: Report, full: lftj.Workspace, memory: lftj.Workspace, bare: Bare, count: int
) -> None:
    ways = {
        "branch": lambda number: full.branch(f"b{number}"),
        "branch_in_memory": lambda number: memory.branch(f"b{number}"),
        "sqlite": bare.commit,
    }
    seconds = _in_turns(ways, min(count, 100))
    micros = {name: median(each) * 1e6 for name, each in seconds.items()}
    report.note(**{f"{name}_us": each for name, each in micros.items()})
    report.add("branch_us", micros["branch"])
    for name in list(full.branches)[1:]:
        full.branch(name).drop()


def _past(report: Report, workspace: lftj.Workspace, count: int) -> None:
    """The same query of the version `count` commits ago, once it was read, and of the present."""
    version = workspace.version - count
    start = time.perf_counter()
    then = workspace.at(version)
    first = time.perf_counter() - start
    ask = "dear(i, 3)"
    require_equal("the past", len(then["sale"]), len(workspace["sale"]) - count)
    seconds = _in_turns(
        {
            "then": lambda _: then.query(ask).fetchall(),
            "now": lambda _: workspace.query(ask).fetchall(),
        },
        20,
    )
    micros = {name: median(each) * 1e6 for name, each in seconds.items()}
    report.note(commits_ago=count, first_reached_ms=first * 1e3, **micros)
    report.add("at_vs_now", micros["then"] / micros["now"])
