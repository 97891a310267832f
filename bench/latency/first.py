"""The first change of its kind after a load, over the tenth."""

from __future__ import annotations

import statistics
import time

import numpy as np
import pyarrow as pa

import lftj
from bench.engine import connect
from bench.figure import Report, require_equal
from bench.graphs import rmat

SALES = {"s": 2_000, "m": 100_000, "l": 1_000_000}
EDGES = {"s": (2_000, 9), "m": (50_000, 12), "l": (500_000, 15)}
ITEMS, SHOPS = 1_000, 100
TURNS = 3
AROUND_TENTH = slice(7, 12)  # commits whose median stands for the tenth
COMMITS = 12
_RNG = 5

STAR = """
.decl sale(id: number, item: number, shop: number, amount: number)
.decl item(item: number, kind: number)
.decl shop(shop: number, region: number)
.decl by_kind(kind: number, total: number)
.decl by_region(region: number, kind: number, total: number)
.decl unsold(item: number)
by_kind(k, sum(a)) :- sale(_, i, _, a), item(i, k).
by_region(r, k, sum(a)) :- sale(_, i, s, a), item(i, k), shop(s, r).
unsold(i) :- item(i, _), !sale(_, i, _, _).
"""
TRIANGLES = """
.decl edge(x: number, y: number)
.decl triangles(x: number, n: number)
.decl all(n: number)
triangles(x, count()) :- edge(x, y), edge(y, z), edge(x, z).
all(count()) :- edge(x, y), edge(y, z), edge(x, z).
"""
Changes = list[tuple[str, list[tuple[int, ...]], list[tuple[int, ...]]]]
"""Of each commit the relation, rows that go and rows that come."""


def star(size: str) -> tuple[lftj.Workspace, np.ndarray, np.ndarray]:
    """A workspace with sales, items and shops, as loaded, with the columns of sales and items."""
    random, rows = np.random.default_rng(_RNG), SALES[size]
    sales = np.array(
        [
            np.arange(rows),
            random.integers(0, ITEMS, rows),
            random.integers(0, SHOPS, rows),
            random.integers(1, 100, rows),
        ]
    )
    items = np.array([np.arange(ITEMS), random.integers(0, 20, ITEMS)])
    workspace = connect()
    workspace.add_rules(STAR)
    with workspace.transaction() as tx:
        tx.insert("sale", pa.table(dict(zip(("id", "item", "shop", "amount"), sales, strict=True))))
        tx.insert("item", pa.table(dict(zip(("item", "kind"), items, strict=True))))
        tx.insert("shop", [(each, each % 7) for each in range(SHOPS)])
    return workspace, sales, items


def deletions(size: str) -> tuple[lftj.Workspace, Changes]:
    """Commits that delete a sale each."""
    workspace, sales, _ = star(size)
    places = range(7, 7 + 11 * COMMITS, 11)
    return workspace, [("sale", [tuple(sales[:, each].tolist())], []) for each in places]


def dimension_changes(size: str) -> tuple[lftj.Workspace, Changes]:
    """Commits that give an item another kind each."""
    workspace, _, items = star(size)
    old = [tuple(items[:, each].tolist()) for each in range(3, 3 + 7 * COMMITS, 7)]
    return workspace, [("item", [row], [(row[0], (row[1] + 1) % 20)]) for row in old]


def triangle_changes(size: str) -> tuple[lftj.Workspace, Changes]:
    """Commits that delete and insert edges in turn, below counts of triangles."""
    edges, scale = EDGES[size]
    columns = rmat(edges, scale)
    workspace = connect()
    workspace.add_rules(TRIANGLES)
    workspace.load("edge", pa.table({"x": columns[0], "y": columns[1]}))
    step = len(columns[0]) // (COMMITS + 1)
    rows = [(int(columns[0][n * step]), int(columns[1][n * step])) for n in range(1, COMMITS + 1)]
    return workspace, [
        ("edge", [row], []) if n % 2 == 0 else ("edge", [], [rows[n - 1]])
        for n, row in enumerate(rows)
    ]


KINDS = {
    "deletion": deletions,
    "dimension": dimension_changes,
    "triangle": triangle_changes,
}


def seconds_of(workspace: lftj.Workspace, changes: Changes) -> list[float]:
    """Seconds of these commits."""
    taken = []
    for name, gone, come in changes:
        began = time.perf_counter()
        with workspace.transaction() as tx:
            if gone:
                tx.delete(name, gone)
            if come:
                tx.insert(name, come)
        taken.append(time.perf_counter() - began)
    return taken


def measure_first(report: Report) -> None:
    """Record the worst kind: the median of a few workspaces, each prepared after its load."""
    ratios = {}
    for kind, begin in KINDS.items():
        found, first, tenth, prepare = [], [], [], []
        for _ in range(TURNS):
            workspace, changes = begin(report.size)
            began = time.perf_counter()
            workspace.prepare()
            prepare.append(time.perf_counter() - began)
            taken = seconds_of(workspace, changes)
            first.append(taken[0])
            tenth.append(statistics.median(taken[AROUND_TENTH]))
            found.append(first[-1] / tenth[-1])
            require_equal("views that differ", workspace.verify(), [])
        ratios[kind] = statistics.median(found)
        report.note(
            figure="first_vs_tenth",
            kind=kind,
            ratio=ratios[kind],
            first_ms=statistics.median(first) * 1e3,
            tenth_ms=statistics.median(tenth) * 1e3,
            prepare_ms=statistics.median(prepare) * 1e3,
        )
    report.add("first_vs_tenth", max(ratios.values()))
