"""Programs, the facts that come and go, and by whom each is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.cases import CASES
from bench.engine import CLOSURE, program
from bench.graphs import rmat

SHARES = (75, 99)
"""Percent of the facts that are there at first; the rest comes in batches, and goes again."""
BATCHES = 5
Tables = dict[str, pa.Table]

_ALWAYS = (
    "engine",
    "two threads",
    "recompute",
    "counting",
    "delete and re-derive",
    "sql-duckdb",
)
_SLOW = ("substitution",)


@dataclass(frozen=True)
class Workload:
    """A program, its tables at a size, the relation whose rows change, and what is counted."""

    name: str
    text: str
    tables: Callable[[Path, str], Tables]
    changing: str
    views: tuple[str, ...]
    smallest: str = "s"
    by_hand: bool = False
    substituted: str = ""
    """The sizes at which substitution ends in minutes."""
    more: tuple[str, ...] = field(default=())

    def runs_at(self, size: str) -> bool:
        """Test for a size at which there is something to see."""
        return "sml".index(size) >= "sml".index(self.smallest)

    def evaluators(self, size: str) -> tuple[str, ...]:
        """The evaluators that end at this size."""
        slow = _SLOW if size in self.substituted else ()
        return (*_ALWAYS, *slow, *self.more, *(("plain program",) if self.by_hand else ()))


def _sampled(table: pa.Table, rows: int | None) -> pa.Table:
    """The first rows of a table in a random order, that of the seed."""
    order = np.random.default_rng(1).permutation(table.num_rows)
    return table.take(pa.array(order[:rows]))


def _distinct(name: str, data: Path) -> Tables:
    """The tables of a case without duplicates, in the same order in each process: on one thread."""
    found = next(case for case in CASES if case.name == name).tables(data)
    return {
        relation: table.group_by(table.column_names, use_threads=False).aggregate([])
        for relation, table in found.items()
    }


def _case(name: str, rows: dict[str, int | None]) -> Callable[[Path, str], Tables]:
    def tables(data: Path, size: str) -> Tables:
        found = _distinct(name, data)
        return {relation: _sampled(table, rows[size]) for relation, table in found.items()}

    return tables


def _sparse(_: Path, size: str) -> Tables:
    """A forest of chains with some edges between them: every node has about one edge."""
    nodes = {"s": 300, "m": 1_500, "l": 4_000}[size]
    random = np.random.default_rng(2)
    x = np.arange(nodes)
    edges = np.unique(np.stack([x, np.minimum(x + random.integers(1, 9, nodes), nodes)]), axis=1)
    return {"edge": _sampled(pa.table({"x": edges[0], "y": edges[1]}), None)}


def _dense(_: Path, size: str) -> Tables:
    """A graph with hubs, of which a great part is one component."""
    edges = rmat({"s": 400, "m": 4_000, "l": 10_000}[size], 10, 1, oriented=False)
    return {"edge": _sampled(pa.table({"x": edges[0], "y": edges[1]}), None)}


def _lubm(data: Path, size: str) -> Tables:
    """Triples of a university: all that are of the vocabulary, then so many of the others. A tenth
    of the others taken from everywhere would leave a vocabulary without use.
    """
    distinct = _distinct("rdfs_lubm", data)["triple"]
    p, o = distinct["p"], distinct["o"]
    lists = pc.is_in(p, pa.array(["rdf:first", "rdf:rest"]))
    of_words = pc.or_(lists, pc.match_substring_regex(p, "rdfs:|/owl#"))
    of_words = pc.or_(of_words, pc.match_substring(o, "/owl#"))
    rows = {"s": 1_000, "m": 10_000, "l": None}[size]
    others = _sampled(distinct.filter(pc.invert(of_words)), rows)
    return {"triple": pa.concat_tables([distinct.filter(of_words), others])}


_EDGES = ".decl edge(x: number, y: number)"
WORKLOADS = (
    Workload(
        "closure, sparse",
        _EDGES + CLOSURE,
        _sparse,
        "edge",
        ("path",),
        by_hand=True,
        substituted="s",
    ),
    Workload(
        "closure, dense", _EDGES + CLOSURE, _dense, "edge", ("path",), by_hand=True, substituted="s"
    ),
    Workload(
        "CSDA",
        program("csda"),
        _case("csda_10k", {"s": 2_000, "m": 20_000, "l": None}),
        "Arc",
        ("null",),
        by_hand=True,
    ),
    Workload(
        "CSPA",
        program("cspa"),
        _case("cspa_10k", {"s": 300, "m": 2_000, "l": None}),
        "Assign",
        ("valueFlow", "valueAlias", "memoryAlias"),
        substituted="s",
    ),
    Workload(
        "LUBM, RDFS",
        program("rhodf"),
        _lubm,
        "triple",
        ("typed",),
        more=("strings as numbers",),
    ),
    Workload(
        "LUBM, OWL 2 RL",
        program("rhodf") + program("owl2rl"),
        _lubm,
        "triple",
        ("typed",),
        more=("strings as numbers",),
    ),
)
