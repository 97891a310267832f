"""Histories of thirteen commits, small and large ones, on closures, a points-to analysis and a text
that is edited [Elastic, figure 6].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.cases import CASES
from bench.engine import CLOSURE, program
from bench.graphs import Edges, random_graph, rmat
from bench.recursion.changes import Change, Changes, rows_of_table, table_of_rows

EPOCHS = "ssssslssssssl"  # small and large
SHARES = (0.01, 0.5)  # of the edges of a graph that change
CSPA_SIZES = ((1, 10), (1, 100), (10, 1000), (100, 1000))  # changed rows, small and large
CRDT_SIZES = ((10, 100), (20, 50))
_RAND = {"s": (60, 0.05), "m": (300, 0.02), "l": (1_000, 0.01)}
_RMAT = {"s": (300, 6), "m": (3_000, 9), "l": (10_000, 10)}
_CSPA = {"s": "cspa_1k", "m": "cspa_1k", "l": "cspa_10k"}
_CRDT = {"s": 1_000, "m": 10_000, "l": 1_000_000}  # elements at most


@dataclass(frozen=True)
class History:
    """A program with facts, and what each commit changes."""

    name: str
    rules: str
    facts: Mapping[str, pa.Table]
    commits: tuple[tuple[Change, ...], ...]


def histories(size: str, data: Path | None) -> Iterator[History]:
    """All histories of a size; without data those on made graphs alone."""
    rand, rmat_size = _RAND[size], _RMAT[size]
    yield _closure("RAND1K", random_graph(*rand), random_graph(*rand, seed=2))
    yield _closure("RMAT1K", rmat(*rmat_size, oriented=False), rmat(*rmat_size, 2, oriented=False))
    if data is not None:
        yield from _analyses(size, data)
        yield from _texts(size, data)


def _closure(name: str, edges: Edges, others: Edges) -> History:
    rows, spare = np.stack(edges, axis=1), np.stack(others, axis=1)
    fresh = ~np.isin(others[0] << 32 | others[1], edges[0] << 32 | edges[1])
    sizes = [max(1, int(share * len(rows))) for share in SHARES]
    changes = Changes("edge", rows, spare[fresh])
    commits = tuple((changes.of_size(sizes[kind == "l"]),) for kind in EPOCHS)
    return History(name, CLOSURE, {"edge": table_of_rows(rows, ("x", "y"))}, commits)


def _analyses(size: str, data: Path) -> Iterator[History]:
    """A tenth of the assignments is there to be inserted."""
    facts = next(case for case in CASES if case.name == _CSPA[size]).tables(data)
    names = facts["Assign"].column_names
    rows = np.unique(rows_of_table(facts["Assign"]), axis=0)
    rows = np.random.default_rng(1).permutation(rows)
    first = len(rows) // 10
    for sizes in CSPA_SIZES:
        changes = Changes("Assign", rows[first:], rows[:first])
        commits = tuple(
            (_change(changes, sizes[kind == "l"], number),) for number, kind in enumerate(EPOCHS)
        )
        known = {**facts, "Assign": table_of_rows(rows[first:], names)}
        yield History(f"CSPA {sizes[0]}, {sizes[1]}", program("cspa"), known, commits)


def _change(changes: Changes, size: int, number: int) -> Change:
    """Half inserts; one row is deleted and inserted in turn."""
    return changes.of_size(size, (size + number % 2) // 2)


def _texts(size: str, data: Path) -> Iterator[History]:
    """Each commit inserts the elements that were inserted next, and removes as many others."""
    tables = next(case for case in CASES if case.name == "crdt").tables(data)
    elements, removed = rows_of_table(tables["insert"]), rows_of_table(tables["remove"])
    elements = elements[np.lexsort((elements[:, 1], elements[:, 0]))][: _CRDT[size]]
    for sizes in CRDT_SIZES:
        new = sum(sizes[kind == "l"] // 2 for kind in EPOCHS)
        text, coming = elements[:-new], elements[-new:]
        gone = removed[np.isin(removed[:, 0] << 20 | removed[:, 1], text[:, 0] << 20 | text[:, 1])]
        gone = np.random.default_rng(1).permutation(gone)
        facts = {
            "insert": table_of_rows(text, ("ctr", "node", "parent_ctr", "parent_node")),
            "remove": table_of_rows(gone[new:], ("ctr", "node")),
        }
        yield History(
            f"crdt {sizes[0]}, {sizes[1]}",
            program("crdt"),
            facts,
            tuple(_edits(coming, gone[:new], sizes)),
        )


def _edits(
    coming: np.ndarray, gone: np.ndarray, sizes: tuple[int, int]
) -> Iterator[tuple[Change, ...]]:
    done = 0
    for kind in EPOCHS:
        part = slice(done, done + sizes[kind == "l"] // 2)
        done = part.stop
        yield Change("insert", coming[part], coming[:0]), Change("remove", gone[part], gone[:0])
