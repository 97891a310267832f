"""A program with views of each kind, and changes by number; the same in one process."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lftj
from bench.partition.small_commits import StoringExecutor
from lftj.distributed.work.worker import forget

RULES = """
.decl degree(x: symbol, n: number, last: symbol)
degree(x, count(), max(y)) :- road(x, y, _).
.decl corners(x: symbol, n: number)
corners(x, count()) :- road(x, y, _), road(y, z, _), road(x, z, _).
.decl total(n: number, s: number, m: float)
total(count(), sum(w), mean(f)) :- road(x, y, w), road(y, z, _), f = to_float(w) / 3.0.
.decl reach(x: symbol, z: symbol)
reach(x, y) :- road(x, y, _).
reach(x, z) :- reach(x, y), road(y, z, _).
.decl linked(x: symbol, z: symbol)
linked(x, y) :- road(x, y, w), w > 50.
linked(x, z) :- linked(x, y), linked(y, z).
.decl best(x: symbol, d: number)
best(x, min(0)) :- road(x, _, w), w > 90.
best(y, min(d + w)) :- best(x, d), road(x, y, w).
.decl sink(y: symbol)
sink(y) :- reach(_, y), !road(y, _, _).
"""
NAMES = ("road", "degree", "corners", "total", "reach", "linked", "best", "sink")
NODES, START = 16, 24
Row = tuple[str, str, int]
Rows = dict[str, list[list[Any]]]


def begin(workspace: Any) -> None:
    """Declare, load and derive."""
    chance = random.Random(0)
    workspace.relation("road", {"x": str, "y": str, "w": int})
    workspace.load("road", [_road(chance) for _ in range(START)])
    workspace.add_rules(RULES)


def _road(chance: random.Random) -> Row:
    x, y = chance.sample(range(NODES), 2)
    return f"place {x}", f"place {y}", chance.randrange(1, 100)


def change(chance: random.Random, there: list[list[Any]]) -> tuple[list[Row], list[Row]]:
    """Rows to insert, of which some are there, and rows to delete: about as many as come."""
    gone = chance.sample([(x, y, w) for x, y, w in there], chance.choice((0, 1, 2, 4)))
    return [_road(chance) for _ in range(chance.choice((1, 1, 2, 5)))], gone


def commit(workspace: Any, came: list[Row], gone: list[Row]) -> dict[str, list[list[Any]]]:
    """Commit a change; what it did to each relation."""
    with workspace.transaction() as tx:
        tx.delete("road", gone)
        tx.insert("road", came)
    return {name: _sorted(tx.changes(name), 1) for name in NAMES}


def rows(workspace: Any) -> Rows:
    """All rows of all relations."""
    return {name: _sorted(workspace[name]) for name in NAMES}


def _sorted(result: Any, without: int = 0) -> list[list[Any]]:
    """Rows in order, without so many last columns."""
    found = [list(row) for row in result.fetchall()]
    return sorted(row[: len(row) - without] for row in found)


def warm() -> None:
    """Load what parts need for the program and its changes, in this process."""
    chance = random.Random(0)
    with TemporaryDirectory() as folder:
        executor: Any = StoringExecutor(Path(folder), 2)
        with lftj.connect(executor=executor) as workspace:
            begin(workspace)
            for _ in range(6):
                commit(workspace, *change(chance, rows(workspace)["road"]))
    forget()


def single() -> Any:
    """The workspace of one process."""
    workspace = lftj.connect()
    begin(workspace)
    return workspace
