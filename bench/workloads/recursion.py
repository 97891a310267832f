"""Recursive views: closures, paths and points-to analyses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import lftj
from bench.engine import CLOSURE
from bench.graphs import random_forest, rmat


def forest(ws: lftj.Workspace) -> Iterator[None]:
    """All ancestors in a forest."""
    parent, child = random_forest(20_000, 2_000)
    ws.add_rules(".decl edge(x: number, y: number)")
    ws.load("edge", pa.table({"x": parent, "y": child}))
    yield
    ws.add_rules(CLOSURE)


def day_plans(ws: lftj.Workspace) -> Iterator[None]:
    """Stops that are reached on each of many days, when legs of one day change."""
    draw = np.random.default_rng(1)
    days, legs, stops = 200, 150, 60
    ws.add_rules(
        ".decl leg(d: number, x: number, y: number)  .decl start(d: number, x: number)\n"
        ".decl reach(d: number, x: number)\n"
        "reach(d, x) :- start(d, x).  reach(d, y) :- reach(d, x), leg(d, x, y)."
    )
    rows = np.column_stack(
        [np.repeat(np.arange(days), legs), draw.integers(0, stops, (days * legs, 2))]
    )
    with ws.transaction() as tx:
        tx.insert("start", [(day, 0) for day in range(days)])
        tx.insert("leg", pa.table({"d": rows[:, 0], "x": rows[:, 1], "y": rows[:, 2]}))
    yield
    for day in range(40):
        gone = [tuple(row) for row in rows[day * legs : day * legs + 60].tolist()]
        with ws.transaction() as tx:
            tx.delete("leg", gone)
        with ws.transaction() as tx:
            tx.insert("leg", gone)


ODD_AND_EVEN = """
.decl odd(x: number, y: number)  .decl even(x: number, y: number)
odd(x, y) :- edge(x, y).
odd(x, z) :- even(x, y), edge(y, z).
even(x, z) :- odd(x, y), edge(y, z).
"""


def _edges(ws: lftj.Workspace, rules: str, last: int) -> list[tuple[int, int]]:
    """Load the edges of a power-law graph but for the `last` ones, which it returns, and rules."""
    x, y = rmat(4_000, 11, oriented=False)
    ws.add_rules(".decl edge(x: number, y: number)")
    first = len(x) - last
    ws.load("edge", pa.table({"x": x[:first], "y": y[:first]}))
    ws.add_rules(rules)
    return list(zip(x[first:].tolist(), y[first:].tolist(), strict=True))


def edges_come(ws: lftj.Workspace) -> Iterator[None]:
    """Paths of odd and even lengths, of edges that only come."""
    coming = _edges(ws, ODD_AND_EVEN, 100)
    yield
    for start in range(0, 100, 10):
        with ws.transaction() as tx:
            tx.insert("edge", coming[start : start + 10])


def edges_go(ws: lftj.Workspace) -> Iterator[None]:
    """A closure, of edges that come and then go."""
    coming = _edges(ws, CLOSURE, 20)
    ws.load("edge", coming)
    yield
    for edge in coming:
        with ws.transaction() as tx:
            tx.delete("edge", [edge])


Roads = list[tuple[int, int, int]]


def _grid(side: int) -> Roads:
    """Roads of random lengths in a grid, to the right and down, in random order."""
    draw = np.random.default_rng(1)
    node = np.arange(side * side).reshape(side, side)
    x = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    y = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    length = draw.integers(1, 1_000, len(x))
    order = draw.permutation(len(x))
    return list(zip(x[order].tolist(), y[order].tolist(), length[order].tolist(), strict=True))


def _load(ws: lftj.Workspace, roads: Roads) -> None:
    ws.add_rules(".decl road(x: number, y: number, w: number)  .decl root(x: number)")
    ws.load("road", roads)
    ws.load("root", [(0,)])


SHORTEST = """
.decl dist(y: number, d: number)
dist(y, min(0)) :- root(y).
dist(y, min(d + w)) :- dist(x, d), road(x, y, w).
"""


def grid_of_roads(ws: lftj.Workspace) -> Iterator[None]:
    """Shortest paths from one corner of a grid whose roads lead both ways."""
    roads = _grid(120)
    _load(ws, roads + [(y, x, w) for x, y, w in roads])
    yield
    ws.add_rules(SHORTEST)


def roads_close(ws: lftj.Workspace) -> Iterator[None]:
    """Shortest paths, while roads close and open again."""
    roads = _grid(200)
    _load(ws, roads)
    ws.add_rules(SHORTEST)
    yield
    for road in roads[:20]:
        with ws.transaction() as tx:
            tx.delete("road", [road])
        with ws.transaction() as tx:
            tx.insert("road", [road])


def roads_open(ws: lftj.Workspace) -> Iterator[None]:
    """Shortest paths, while shorter roads open."""
    roads = _grid(100)
    _load(ws, roads)
    ws.add_rules(SHORTEST)
    yield
    for x, y, w in roads[:20]:
        with ws.transaction() as tx:
            tx.insert("road", [(x, y, w // 2)])
