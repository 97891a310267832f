"""A small graph with views of every kind, and the same on one process to compare with."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import lftj

Edge = tuple[int, int]

RULES = """
.decl tri(x: number, n: number)
tri(x, count()) :- e(x, y), e(y, z), e(x, z).
.decl total(n: number, w: float, m: float)
total(count(), sum(f), mean(f)) :- e(x, y), e(y, z), e(x, z), f = to_float(x) / 3.0 - to_float(z).
.decl reach(x: number, y: number)
reach(x, y) :- e(x, y), x < 12.
reach(x, z) :- reach(x, y), e(y, z).
.decl sink(y: number)
sink(y) :- reach(_, y), !e(y, _).
.decl two(x: number, z: number)
two(x, z) :- e(x, y), e(y, z).
two(y, y) :- sink(y).
.decl linked(x: number, y: number)
linked(x, y) :- e(x, y), x > 25.
linked(x, z) :- linked(x, y), linked(y, z).
"""
VIEWS = ("e", "tri", "total", "reach", "sink", "two", "linked")


def edges(count: int = 150, nodes: int = 40) -> list[Edge]:
    """Random edges, the same each time."""
    draw = random.Random(7)
    return sorted({(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(count)})


def made(workspace: Any, rows: object) -> Any:
    """The workspace with the relation, rows and rules."""
    relation = workspace.relation("e", {"x": int, "y": int})
    workspace.load(relation, rows)
    workspace.add_rules(RULES)
    return workspace


def rows_of(workspace: Any) -> dict[str, list[tuple[Any, ...]]]:
    """All relations, sorted."""
    return {name: sorted(workspace[name].fetchall()) for name in VIEWS}


def expected(rows: object) -> dict[str, list[tuple[Any, ...]]]:
    """Expected views of these edges, by a workspace of one process."""
    return rows_of(made(lftj.connect(), rows))


def open_path(spark: Any, path: Path, partitions: int = 3, **options: Any) -> lftj.Workspace:
    """The distributed workspace at a path."""
    return lftj.connect(executor=lftj.SparkExecutor(spark, partitions, path=path), **options)
