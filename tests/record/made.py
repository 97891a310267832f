"""Larger histories, made by formula: graphs of some hundred edges under recursion, where an update
may cost more than it is worth.

Python's `random.Random` draws the same from a seed in every version that this project runs on, as
long as only `random()` is asked.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import lftj
from tests.record.lines import Commit, History, Work
from tests.record.observing import observed

EPOCHS = "ssssslssslsddss"  # one row, a few rows, half of all; d: many rows go, few come
Row = tuple[int, ...]

DECLARED = """
.decl edge(x: number, y: number)
.decl cost(x: number, y: number, w: number)
.decl root(x: number)
"""
PROGRAMS = {
    "closure": """
        .decl path(x: number, y: number)
        path(x, y) :- edge(x, y).
        path(x, z) :- path(x, y), edge(y, z).
    """,
    "closure, both sides": """
        .decl path(x: number, y: number)
        path(x, y) :- edge(x, y).
        path(x, z) :- path(x, y), path(y, z).
    """,
    "reached": """
        .decl reached(x: number)
        .decl lost(x: number)
        reached(x) :- root(x).
        reached(y) :- reached(x), edge(x, y).
        lost(x) :- edge(x, _), !reached(x).
    """,
    "shortest": """
        .decl dist(x: number, d: number)
        dist(x, min(0)) :- root(x).
        dist(y, min(d + w)) :- dist(x, d), cost(x, y, w).
        .decl far(d: number, n: number)
        far(d, count()) :- dist(_, d).
    """,
    "least label": """
        .decl label(x: number, l: number)
        label(x, min(x)) :- edge(x, _).
        label(y, min(l)) :- label(x, l), edge(x, y).
        label(y, min(l)) :- label(x, l), edge(y, x).
    """,
    "spanning tree": """
        .decl parent(y: number, x: number) choice-domain y
        parent(y, y) :- root(y).
        parent(y, x) :- parent(x, _), edge(x, y).
    """,
    "two choices": """
        .decl pair(x: number, y: number) choice-domain x, y
        pair(x, y) :- edge(x, y).
        pair(x, y) :- pair(_, x), edge(x, y).
    """,
    "flows and aliases": """
        .decl flow(x: number, y: number)
        .decl alias(x: number, y: number)
        flow(x, y) :- edge(x, y).
        flow(x, z) :- flow(x, y), flow(y, z).
        alias(x, y) :- flow(z, x), flow(z, y), root(z).
        flow(x, y) :- cost(x, z, 7), alias(z, y).
    """,
    "same generation": """
        .decl same(x: number, y: number)
        same(x, x) :- root(x).
        same(x, y) :- edge(p, x), same(p, q), edge(q, y).
    """,
    "reached at each cost": """
        .decl reach(w: number, y: number)
        .decl together(w: number, n: number)
        reach(w, y) :- root(x), cost(x, y, w).
        reach(w, z) :- reach(w, y), cost(y, z, w).
        together(w, count()) :- reach(w, _).
    """,
    "triangles": """
        .decl per_vertex(x: number, n: number)
        .decl total(n: number)
        per_vertex(x, count()) :- edge(x, y), edge(y, z), edge(x, z).
        total(count()) :- edge(x, y), edge(y, z), edge(x, z).
    """,
    "aggregates": """
        .decl out(x: number, n: number, total: number, least: number, most: number)
        .decl mean_of(x: number, m: float)
        .decl top(x: number, y: number)
        out(x, count(), sum(w), min(w), max(w)) :- cost(x, _, w).
        mean_of(y, mean(w)) :- cost(_, y, w).
        top(x, y) :- cost(x, y, w), !( cost(x, _, v), v > w ).
    """,
    "joins": """
        .decl two(x: number, z: number)
        .decl cheap(x: number, z: number, w: number)
        .decl near(x: number, y: number)
        .decl fan(x: number, k: number)
        two(x, z) :- edge(x, y), edge(y, z), !edge(x, z).
        cheap(x, z, v + w) :- cost(x, y, v), cost(y, z, w), v + w < 40, root(x).
        near(x, y) :- cost(x, _, v), cost(y, _, w), v / 9 = w / 9, root(x), x != y.
        fan(x, k) :- root(x), k = count : { edge(x, y), edge(y, _) }.
    """,
}
SHARES = {"default": 0.2, "anew": 0.0, "updated": math.inf}
OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {"elastic": share} for name, share in SHARES.items()},
    "no traces": {"trace_budget": 0},
}


@dataclass(frozen=True)
class Graph:
    """Size of a random graph: nodes, edges, and the nodes of an island, from which no edge leads
    away.
    """

    nodes: int
    edges: int
    island: int


GRAPHS = {"one graph": Graph(90, 260, 90), "islands": Graph(3000, 6000, 15)}


@dataclass(frozen=True)
class Made:
    """A program on a graph, under one way to connect."""

    program: str
    graph: str
    way: str

    @property
    def name(self) -> str:
        """Name of the history in the record."""
        return f"{self.program}, {self.graph}, {self.way}"

    def play(self) -> History:
        """Do all of it, and say what each commit did."""
        commits: History = []
        with observed(_into(commits)):
            workspace: Any = lftj.connect(**OPTIONS[self.way])
            workspace.add_rules(DECLARED)
            facts = Facts(GRAPHS[self.graph], random.Random(1))
            for name, rows in facts.first():
                workspace.load(name, rows)
            workspace.add_rules(PROGRAMS[self.program])
            for kind in EPOCHS:
                with workspace.transaction() as transaction:
                    for name, gone, new in facts.changes(kind):
                        transaction.delete(name, gone)
                        transaction.insert(name, new)
        return commits


def made() -> Iterator[Made]:
    """All of them."""
    for program in PROGRAMS:
        for graph in GRAPHS:
            for way in OPTIONS:
                yield Made(program, graph, way)


def _into(commits: History) -> Callable[[int, int, list[Work]], None]:
    return lambda _, version, works: commits.append(Commit(version, "", works))


class Facts:
    """Draws rows of the three relations, and changes of them."""

    def __init__(self, graph: Graph, by: random.Random):
        self._graph, self._by = graph, by
        self._rows: dict[str, set[Row]] = {
            "edge": {self._row("edge") for _ in range(graph.edges)},
            "cost": {self._row("cost") for _ in range(graph.edges)},
            "root": {(0,), (1,), (graph.nodes // 2,)},
        }

    def first(self) -> Iterator[tuple[str, list[Row]]]:
        """Initial rows of the relations."""
        for name, rows in self._rows.items():
            yield name, sorted(rows)

    def changes(self, kind: str) -> Iterator[tuple[str, list[Row], list[Row]]]:
        """Relation, rows that go and rows that come."""
        most = self._graph.edges // 2
        go, come = {"s": (1, 1), "d": (most // 3, 2), "l": (most, most)}[kind]
        for name in ("edge", "cost"):
            held = self._rows[name]
            ordered = sorted(held)
            gone = {ordered[self._below(len(ordered))] for _ in range(go)}
            new = {self._row(name) for _ in range(come)} - held
            self._rows[name] = (held - gone) | new
            yield name, sorted(gone), sorted(new)

    def _row(self, name: str) -> Row:
        size = self._graph.island
        first = size * self._below(self._graph.nodes // size)
        source, target = (
            first + min(self._below(size), self._below(size)),
            first + self._below(size),
        )
        return (source, target) if name == "edge" else (source, target, 1 + self._below(20))

    def _below(self, number: int) -> int:
        return int(self._by.random() * number)
