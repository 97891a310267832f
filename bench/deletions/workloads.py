"""Programs with facts, and which of these come and go: dense and sparse closures, and analyses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.cases import CASES, Case
from bench.engine import CLOSURE, program
from bench.graphs import Edges, random_forest, random_graph, rmat

NON_LINEAR = """
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), path(y, z).
"""
SIZES = "sml"
_RAND = {"s": (60, 0.05), "m": (300, 0.02), "l": (1_000, 0.01)}
_RMAT = {"s": (300, 6), "m": (3_000, 9), "l": (10_000, 10)}
_DIGRAPH = {"s": (120, 192), "m": (1_200, 1_920), "l": (1_200, 1_920)}
_FOREST = {"s": (500, 50), "m": (10_000, 1_000), "l": (100_000, 4_000)}
_POINTS_TO = {"s": 200, "m": 1_500, "l": 3_000}
_ANALYSES = {
    "cspa_1k": ("Assign", "s", "s"),
    "cspa_10k": ("Assign", "m", "l"),
    "polonius_add_defaults": ("cfg_edge", "m", "l"),
    "rdfs_lubm": ("triple", "m", "l"),
    "closure_p2p-Gnutella08": ("edge", "l", "l"),
    "closure_Wiki-Vote": ("edge", "l", "l"),
    "galen": ("p", "l", "l"),
}
"""Published cases: the relation that changes, the smallest and the largest size with the case."""


@dataclass(frozen=True)
class Workload:
    """A program with facts; `relation` is the one of which facts go and come back."""

    name: str
    rules: str
    facts: Mapping[str, pa.Table]
    relation: str

    def hot(self) -> np.ndarray:
        """Rows × columns that go and come back: of an edge another one leads on."""
        table = self.facts[self.relation]
        rows = np.stack([np.asarray(column.to_pylist()) for column in table.columns], axis=1)
        if self.relation != "edge":
            return rows
        return rows[np.isin(rows[:, 1], rows[:, 0])]


def workloads(size: str, data: Path | None) -> Iterator[Workload]:
    """All workloads of a size; without data those on made facts alone."""
    yield _closure("RAND1K", random_graph(*_RAND[size]))
    yield _closure("RAND1K, not linear", random_graph(*_RAND[size]), NON_LINEAR)
    yield _closure("RMAT1K", rmat(*_RMAT[size], oriented=False))
    yield _closure("digraph", digraph(*_DIGRAPH[size]))
    yield _closure("forest", random_forest(*_FOREST[size]))
    yield Workload("points-to", program("points_to"), points_to(_POINTS_TO[size]), "move")
    if data is not None:
        for case in CASES:
            if case.name in _ANALYSES and _fits(case, size):
                relation = _ANALYSES[case.name][0]
                yield Workload(case.name, program(case.program), case.tables(data), relation)


def _fits(case: Case, size: str) -> bool:
    _, least, most = _ANALYSES[case.name]
    return SIZES.index(least) <= SIZES.index(size) <= SIZES.index(most)


def _closure(name: str, edges: Edges, rules: str = CLOSURE) -> Workload:
    return Workload(name, rules, {"edge": pa.table({"x": edges[0], "y": edges[1]})}, "edge")


def digraph(nodes: int, edges: int, seed: int = 1) -> Edges:
    """A sparse random graph with a giant strongly connected component."""
    random = np.random.default_rng(seed)
    rows = np.unique(random.integers(0, nodes, (edges, 2)), axis=0)
    return rows[:, 0].copy(), rows[:, 1].copy()


def points_to(variables: int, seed: int = 1) -> dict[str, pa.Table]:
    """Statements of functions of twenty variables each, whose calls mostly lead to functions
    nearby. 3,000 variables point 600,000 times to objects, twice as many four times as often.
    """
    random = np.random.default_rng(seed)
    near = lambda count: _near(random, variables, count)  # noqa: E731
    allocated = np.arange(0, variables, 5)
    base, source = near(variables // 5)
    target, other = near(variables // 5)
    to, origin = near(variables + variables // 3)
    fields = random.integers(0, 6, (2, variables // 5))
    return {
        "alloc": _table(variable=allocated, object=np.arange(len(allocated))),
        "move": _table(to=to, origin=origin),
        "store": _table(base=base, field=fields[0], source=source),
        "fetch": _table(to=target, base=other, field=fields[1]),
    }


def _near(random: np.random.Generator, variables: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of variables of one function, or of two that are no more than a few apart."""
    first = random.integers(0, variables, count)
    apart = np.where(random.random(count) < 0.8, 20, 200)
    second = (first + random.integers(-apart, apart + 1)) % variables
    return first, second


def _table(**columns: np.ndarray) -> pa.Table:
    rows = np.unique(np.stack(list(columns.values()), axis=1), axis=0)
    return pa.table({name: rows[:, place].copy() for place, name in enumerate(columns)})
