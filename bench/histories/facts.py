"""Facts of all programs: each twice, side by side with values of their own, and one row that joins
the two, the *bridge*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench.cases import CASES
from bench.engine import program
from bench.histories.programs import RULES, columns, split
from bench.recursion.changes import rows_of_table

Row = tuple[Any, ...]
Facts = dict[str, list[Row]]
Random = np.random.Generator
SEEDS = {"s": (1,), "m": (1, 2, 3), "l": (1, 2, 3)}


@dataclass(frozen=True)
class Subject:
    """A program with facts of one seed. `relation` is the one of which rows come and go, `bridge`
    the row of it that joins two halves.
    """

    name: str
    seed: int
    declarations: str
    rules: list[str]
    facts: Mapping[str, pa.Table]
    relation: str
    bridge: Row | None = None

    def rows(self) -> np.ndarray:
        """The rows that come and go, rows × columns."""
        return rows_of_table(self.facts[self.relation])


def _drawn(random: Random, low: int, high: int, many: int) -> list[int]:
    return random.integers(low, high, many).tolist()


def _near(random: Random, low: int, high: int, width: int, many: int) -> Iterator[tuple[int, int]]:
    """Pairs of numbers that are at most so far apart."""
    for first, apart in zip(
        _drawn(random, low, high, many), _drawn(random, -width, width + 1, many), strict=True
    ):
        yield first, min(high - 1, max(low, first + apart))


def _points_to(random: Random, low: int, high: int) -> Facts:
    many = high - low
    allocated = range(low, high, 5)
    return {
        "alloc": [(v, v) for v in allocated],
        "move": list(_near(random, low, high, 20, many + many // 3)),
        "store": [(b, f, v) for (b, v), f in _with(random, 6, low, high, many // 5)],
        "fetch": [(v, b, f) for (v, b), f in _with(random, 6, low, high, many // 5)],
    }


def _with(
    random: Random, fields: int, low: int, high: int, many: int
) -> Iterator[tuple[tuple[int, int], int]]:
    return zip(_near(random, low, high, 20, many), _drawn(random, 0, fields, many), strict=True)


def _flow(random: Random, low: int, high: int) -> list[Row]:
    """Control flow: a line of points, with branches onwards and some loops."""
    many = high - low
    edges = [(n, n + 1) for n in range(low, high - 1)]
    for n in _drawn(random, low, high, many // 3):
        edges.append((n, min(high - 1, n + int(random.integers(2, 30)))))
    for n in _drawn(random, low, high, many // 10):
        edges.append((n, max(low, n - int(random.integers(2, 30)))))
    return edges


def _borrow_check(random: Random, low: int, high: int) -> Facts:
    many = high - low
    origins, loans = many // 8, many // 10
    origin = lambda count: _drawn(random, low, low + origins, count)  # noqa: E731
    loan = lambda count: _drawn(random, low, low + loans, count)  # noqa: E731
    point = lambda count: _drawn(random, low, high, count)  # noqa: E731
    return {
        "cfg_edge": _flow(random, low, high),
        "used": _rows(origin(2 * origins), point(2 * origins)),
        "defined": _rows(origin(origins), point(origins)),
        "subset_base": _rows(origin(many // 2), origin(many // 2), point(many // 2)),
        "issued": _rows(origin(loans), list(range(low, low + loans)), point(loans)),
        "killed": _rows(loan(loans), point(loans)),
        "invalidated": _rows(point(loans), loan(loans)),
    }


def _rows(*columns: list[int]) -> list[Row]:
    return list(zip(*columns, strict=True))


def _cspa(random: Random, low: int, high: int) -> Facts:
    many = high - low
    return {
        "Assign": list(_near(random, low, high, 12, many * 3 // 5)),
        "Dereference": list(_near(random, low, high, 12, many * 2 // 5)),
    }


def _university(random: Random, low: int, high: int) -> Facts:
    a = f"{low}-"
    triples: list[Row] = [
        (f"{a}class{n}", "rdfs:subClassOf", f"{a}class{n // 2}") for n in range(2, 40)
    ]
    triples += [(f"{a}part{n}", "rdfs:subPropertyOf", f"{a}part{n // 3}") for n in range(3, 12)]
    for verb, subject in (("takes", 30), ("teaches", 20)):
        triples.append((f"{a}{verb}", "rdfs:domain", f"{a}class{subject}"))
        triples.append((f"{a}{verb}", "rdfs:range", f"{a}class31"))
    for person in range(high - low):
        name, courses = f"{a}person{person}", _drawn(random, 0, 400, 4)
        triples.append((name, "rdf:type", f"{a}class{random.integers(1, 40)}"))
        triples += [(name, f"{a}takes", f"{a}course{each}") for each in courses[:3]]
        triples.append((name, f"{a}part{random.integers(0, 12)}", f"{a}course{courses[3]}"))
    return {"triple": triples}


def _above(random: Random, some: range) -> list[Row]:
    """Each of some numbers but the first, with one or two that are lower."""
    return [
        (each, int(random.integers(some.start, each)))
        for each in some[1:]
        for _ in range(1 + each % 2)
    ]


def _vocabulary(random: Random, low: int, high: int) -> Facts:
    """Classes and properties of an ontology, each below one or two of a lower number, and what
    individuals state of one another.
    """
    classes, properties, many = range(low, low + 40), range(low, low + 24), high - low
    stated = zip(
        _near(random, low, high, 12, 2 * many),
        _drawn(random, low, properties.stop, 2 * many),
        strict=True,
    )
    return {
        "sub_class": _above(random, classes),
        "sub_property": _above(random, properties)[::2],
        "domain": [(p, int(random.integers(low, classes.stop))) for p in properties[::2]],
        "range": [(p, int(random.integers(low, classes.stop))) for p in properties[::3]],
        "typed": [(x, int(random.integers(low, classes.stop))) for x in range(low, high)],
        "stated": [(x, p, y) for (x, y), p in stated],
    }


def _ontology(random: Random, low: int, high: int) -> Facts:
    """The same with inverse, symmetric and transitive properties, a chain of two, restrictions,
    and a key that makes some individuals the same.
    """
    facts = _vocabulary(random, low, high)
    last, key = low + 23, low + 24
    pairs = zip(*[_drawn(random, low, high, (high - low) // 10) for _ in range(2)], strict=True)
    facts["stated"] += [(x, key, pair[0]) for pair in pairs for x in pair]
    return facts | {
        "inverse": [(last - 1, last - 2), (last - 2, last - 1)],
        "symmetric": [(last - 3,)],
        "transitive": [(last,)],
        "chain": [(last - 4, last - 5, last - 6)],
        "some": [(low + 30 + n, last - n, low + 20 + n) for n in range(6)],
        "both": [(low + 36 + n, low + 10 + n, low + 20 + n) for n in range(4)],
        "key": [(key,)],
    }


def _doop(random: Random, low: int, high: int) -> Facts:
    """Methods of ten variables each, whose first one is the receiver of calls."""
    variables, methods = range(low, high), range(low, low + (high - low) // 10)
    last, kinds, names = methods.stop, 12, 6
    of = lambda variable: low + (variable - low) // 10  # noqa: E731
    calls = [(low + number, each) for number, each in enumerate(variables[::4])]
    return {
        "entry": [(method,) for method in methods[::8]],
        "alloc": [(v, v, of(v)) for v in variables[::3]],
        "type": [(v, low + v % kinds) for v in variables[::3]],
        "method": [
            (low + kind, name, int(random.integers(low, last)))
            for kind in range(kinds)
            for name in range(names)
        ],
        "move": list(_near(random, low, high, 8, high - low)),
        "store": [(b, f, v) for (b, v), f in _with(random, 4, low, high, (high - low) // 6)],
        "fetch": [(v, b, f) for (v, b), f in _with(random, 4, low, high, (high - low) // 6)],
        "dispatch": [(b, int(random.integers(0, names)), c, of(b)) for c, b in calls],
        "actual": [(c, 0, b) for c, b in calls],
        "formal": [(m, 0, low + 10 * (m - low)) for m in methods],
        "assigned": [(c, min(high - 1, b + 1)) for c, b in calls],
        "returned": [(m, low + 10 * (m - low) + 9) for m in methods],
    }


def _modules(random: Random, low: int, high: int) -> Facts:
    """The same in modules of a hundred variables, as a program of many files has them: objects of a
    module have a type of their own, whose methods are the module's.
    """
    kinds, names = range((high - low) // 100), 4
    called = random.integers(0, 10, (len(kinds), names)).tolist()
    facts = _doop(random, low, high)
    move = list(_near(random, low, high, 8, (high - low) // 2))
    return facts | {
        "type": [(v, low + (v - low) // 100) for v, _ in facts["type"]],
        "method": [
            (low + kind, name, low + 10 * kind + called[kind][name])
            for kind in kinds
            for name in range(names)
        ],
        "move": move,
    }


def _definitions(random: Random, low: int, high: int) -> Facts:
    names = [range(low, high)[first::25] for first in range(25)]
    return {
        "edge": _flow(random, low, high),
        "gen": [(n, n) for n in range(low, high)],
        "kill": [(n, d) for same in names for n in same for d in same if n != d],
    }


def _parents(random: Random, low: int, high: int) -> Facts:
    rows = [
        (x, int(random.integers(max(low, x - 60), x)))
        for x in range(low + 1, high)
        for _ in range(1 + (x % 4 == 0))
    ]
    return {"up": rows}


def _digraph(steps: float, random: Random, low: int, high: int) -> Facts:
    many = int(steps * (high - low))
    return {"edge": _rows(_drawn(random, low, high, many), _drawn(random, low, high, many))}


def _brackets(random: Random, low: int, high: int) -> Facts:
    kinds = 3
    calls = [
        (x, y, int(random.integers(0, kinds)))
        for x, y in _near(random, low, high, 12, 3 * (high - low) // 2)
    ]
    back = [(y, x, k) for x, y, k in calls[::2]]
    other = [
        (x, y, int(random.integers(0, kinds)))
        for x, y in _near(random, low, high, 12, (high - low) // 2)
    ]
    return {"open": calls, "close": back + other}


def _graph_with_root(random: Random, low: int, high: int) -> Facts:
    return {"edge": _flow(random, low, high), "root": [(low,)] if low == 0 else []}


def _lengths(random: Random, edges: list[Row]) -> list[Row]:
    return [(x, y, int(random.integers(1, 1_000))) for x, y in edges]


def _grid(random: Random, low: int, high: int) -> Facts:
    side = int((high - low) ** 0.5)
    node = low + np.arange(side * side).reshape(side, side)
    right = _rows(node[:, :-1].ravel().tolist(), node[:, 1:].ravel().tolist())
    down = _rows(node[:-1].ravel().tolist(), node[1:].ravel().tolist())
    both = [*right, *down, *((y, x) for x, y in right + down)]
    return {"road": _lengths(random, both), "root": [(low,)] if low == 0 else []}


def _roads(random: Random, low: int, high: int) -> Facts:
    edges = _digraph(4, random, low, high)["edge"]
    return {"road": _lengths(random, edges), "root": [(low,)] if low == 0 else []}


@dataclass(frozen=True)
class _Draw:
    """A draw of a program's facts: those over the values of a half, the sizes of both halves
    together, the relation that changes, and the bridge between two values.
    """

    of_half: Callable[[Random, int, int], Facts]
    sizes: tuple[int, int, int]
    relation: str
    bridge: Callable[[int, int], Row] = lambda one, other: (one, other)


_DRAWS: dict[str, _Draw] = {
    "points-to": _Draw(_points_to, (120, 2_200, 6_000), "move"),
    "borrow check": _Draw(_borrow_check, (80, 450, 1_200), "cfg_edge"),
    "CSPA": _Draw(_cspa, (100, 3_000, 9_000), "Assign"),
    "LUBM": _Draw(
        _university,
        (60, 4_000, 16_000),
        "triple",
        lambda one, other: (f"{0}-class5", "rdfs:subClassOf", f"{other}-class5"),
    ),
    "doop-like": _Draw(_doop, (100, 2_800, 7_000), "move"),
    "doop-like, modules": _Draw(_modules, (200, 60_000, 1_000_000), "move"),
    "reaching definitions": _Draw(_definitions, (120, 1_100, 2_600), "edge"),
    "same generation": _Draw(_parents, (120, 2_200, 6_000), "up"),
    "non-linear closure": _Draw(partial(_digraph, 1.5), (80, 4_400, 8_000), "edge"),
    "even and odd": _Draw(partial(_digraph, 1.5), (80, 1_800, 4_000), "edge"),
    "Dyck": _Draw(_brackets, (100, 5_000, 16_000), "open", lambda one, other: (one, other, 0)),
    "dominators": _Draw(_graph_with_root, (60, 700, 1_500), "edge"),
    "components": _Draw(partial(_digraph, 1.5), (200, 30_000, 120_000), "edge"),
    "RDFS": _Draw(_vocabulary, (200, 40_000, 160_000), "stated", lambda a, b: (a, 0, b)),
    "OWL": _Draw(_ontology, (200, 10_000, 40_000), "stated", lambda a, b: (a, 23, b)),
    "paths on a grid": _Draw(_grid, (200, 14_000, 50_000), "road", lambda a, b: (a, b, 7)),
    "paths on a random graph": _Draw(_roads, (200, 20_000, 80_000), "road", lambda a, b: (a, b, 7)),
}
_PUBLISHED = {
    "borrow check, published": ("polonius_add_defaults", "cfg_edge", "m"),
    "CSPA, published": ("cspa_10k", "Assign", "m"),
    "LUBM, published": ("rdfs_lubm", "triple", "m"),
}
"""Published cases: the relation that changes, and the smallest size with the case."""
NAMES = (*RULES, *_PUBLISHED)


def subject(name: str, size: str, seed: int) -> Subject:
    """A program with facts that are drawn."""
    draw, random = _DRAWS[name], np.random.default_rng(seed)
    half = draw.sizes["sml".index(size)] // 2
    one, other = draw.of_half(random, 0, half), draw.of_half(random, half, 2 * half)
    bridge = draw.bridge(half // 4, half + half // 4 if name != "LUBM" else half)
    facts = {each: one[each] + other[each] for each in one}
    facts[draw.relation].append(bridge)
    declarations, rules = split(RULES[name])
    tables = {each: _table(rows, columns(declarations, each)) for each, rows in facts.items()}
    return Subject(name, seed, declarations, rules, tables, draw.relation, bridge)


def published(name: str, data: Path) -> Subject:
    """A program with published facts, the same for all seeds."""
    case_name, relation, _ = _PUBLISHED[name]
    case = next(case for case in CASES if case.name == case_name)
    tables = case.tables(data)
    return Subject(name, 1, *split(program(case.program)), tables, relation)


def subjects(names: tuple[str, ...], size: str, data: Path | None) -> Iterator[Subject]:
    """All of a size, seed by seed; the published ones where the data is at hand."""
    for name in names:
        if name in _DRAWS:
            for seed in SEEDS[size]:
                yield subject(name, size, seed)
        elif data is not None and "sml".index(size) >= "sml".index(_PUBLISHED[name][2]):
            yield published(name, data)


def _table(rows: list[Row], names: list[str]) -> pa.Table:
    distinct = list(dict.fromkeys(rows))
    by_column = zip(*distinct, strict=True)
    return pa.table(
        {
            names[place] if names else f"c{place}": list(column)
            for place, column in enumerate(by_column)
        }
    )
