"""Joins over keys and over graphs: names for numbers, steps between constants, open triangles,
cycles.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bench.analytics.shape import FACTS, Shape
from bench.graphs import rmat

GRAPHS = {"s": (500, 8), "m": (20_000, 12), "l": (200_000, 14)}
"""Edges and scale of the power-law graph."""
_CAST = """
.decl cast(n: number, p: number, t: number, role: number)
.decl person(p: number, name: symbol, country: number)
.decl title(t: number, name: symbol, year: number)
.decl made(t: number, c: number)
.decl company(c: number, name: symbol, country: number)
.decl found(person: symbol, title: symbol, company: symbol)
"""
_STAR = """
.decl sale(n: number, shop: number, article: number, price: number)
.decl shop(s: number, region: number)
.decl article(a: number, kind: number)
.decl found(region: number, total: number)
"""
_EDGE = ".decl edge(x: number, y: number)\n.decl found(n: number)"


def _cast(rows: int) -> dict[str, pa.Table]:
    by = np.random.default_rng(4)
    persons, titles, companies = rows // 10, rows // 10, max(20, rows // 500)
    cast = {
        "n": np.arange(rows),
        "p": by.integers(0, persons, rows),
        "t": by.integers(0, titles, rows),
        "role": by.integers(0, 10, rows),
    }
    person = {
        "p": np.arange(persons),
        "name": [f"person {number}" for number in range(persons)],
        "country": by.integers(0, 100, persons),
    }
    title = {
        "t": np.arange(titles),
        "name": [f"title {number}" for number in range(titles)],
        "year": by.integers(1920, 2020, titles),
    }
    company = {
        "c": np.arange(companies),
        "name": [f"company {number}" for number in range(companies)],
        "country": by.integers(0, 100, companies),
    }
    made = {"t": np.arange(titles), "c": by.integers(0, companies, titles)}
    return {
        "cast": pa.table(cast),
        "person": pa.table(person),
        "title": pa.table(title),
        "made": pa.table(made),
        "company": pa.table(company),
    }


def _table(edges: tuple[np.ndarray, np.ndarray]) -> dict[str, pa.Table]:
    return {"edge": pa.table({"x": edges[0], "y": edges[1]})}


def _random(edges: int, nodes: int) -> dict[str, pa.Table]:
    packed = np.unique(np.random.default_rng(5).integers(0, nodes * nodes, edges))
    return _table((packed // nodes, packed % nodes))


def of_rows(rows: int) -> Iterator[Shape]:
    """Joins of so many rows: over one key, over two, and triangles of a graph in which nodes have
    ten neighbours on average.
    """
    by, few = np.random.default_rng(6), max(10, rows // 10)
    sale = {
        "n": by.permutation(rows),
        "shop": by.integers(0, few, rows),
        "article": by.integers(0, few, rows),
        "price": by.integers(1, 1000, rows),
    }
    tables = {
        "sale": pa.table(sale),
        "shop": pa.table({"s": np.arange(few), "region": by.integers(0, 50, few)}),
        "article": pa.table({"a": np.arange(few), "kind": by.integers(0, 5, few)}),
    }
    yield Shape(
        "join over a key",
        tables,
        _STAR,
        "found(r, sum(p)) :- sale(_, s, _, p), shop(s, r).",
        "select region, sum(price) from sale join shop on shop = s group by region",
    )
    yield Shape(
        "join over two keys",
        tables,
        _STAR,
        "found(r, sum(p)) :- sale(_, s, a, p), shop(s, r), article(a, 3).",
        "select region, sum(price) from sale join shop on shop = s join article on article = a "
        "where kind = 3 group by region",
    )
    yield Shape(
        "triangles",
        _random(rows, few),
        _EDGE,
        "found(count()) :- edge(x, y), edge(y, z), edge(x, z).",
        "select count(*) from edge e join edge f on e.y = f.x join edge g "
        "on g.x = e.x and g.y = f.y having count(*) > 0",
    )


def shapes(size: str) -> Iterator[Shape]:
    """Joins of five tables, of three steps, of triangles without a side, and of cycles."""
    yield Shape(
        "names",
        _cast(FACTS[size] // 2),
        _CAST,
        "found(person, title, company) :- cast(_, p, t, 3), person(p, person, 7), "
        "title(t, title, year), year >= 1990, made(t, c), company(c, company, country), "
        "country < 50.",
        'select distinct person.name, title.name, company.name from "cast" join person using (p) '
        "join title using (t) join made using (t) join company using (c) where role = 3 "
        "and person.country = 7 and year >= 1990 and company.country < 50",
    )
    steps = _random(FACTS[size] // 5, max(20, FACTS[size] // 100))
    yield Shape(
        "steps between constants",
        steps,
        _EDGE,
        "found(count()) :- edge(7, a), edge(a, b), edge(b, 11).",
        "select count(*) from edge e join edge f on e.y = f.x join edge g on f.y = g.x "
        "where e.x = 7 and g.y = 11 having count(*) > 0",
    )
    yield Shape(
        "open triangles",
        _random(FACTS[size] // 10, max(20, FACTS[size] // 200)),
        _EDGE,
        "found(count()) :- edge(x, y), edge(y, z), !edge(x, z).",
        "select count(*) from edge e join edge f on e.y = f.x "
        "where not exists (from edge g where g.x = e.x and g.y = f.y)",
    )
    yield Shape(
        "cycles of four",
        _table(rmat(*GRAPHS[size], oriented=False)),
        _EDGE,
        "found(count()) :- edge(a, b), edge(b, c), edge(c, d), edge(d, a).",
        "select count(*) from edge e join edge f on e.y = f.x join edge g on f.y = g.x "
        "join edge h on g.y = h.x and h.y = e.x",
    )
