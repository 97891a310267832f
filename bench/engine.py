"""Our side of a comparison: a workspace on one thread with its relations loaded before the clock
starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import lftj

PROGRAMS = Path(__file__).parent / "programs"
TRIANGLES = "n(count()) :- edge(x, y), edge(y, z), edge(x, z)."
PATHS = "n(count()) :- edge(a, b), edge(b, c), edge(c, d)."
FOUR_CYCLES = "n(count()) :- edge(a, b), edge(b, c), edge(c, d), edge(a, d)."
FOUR_CLIQUES = (
    "n(count()) :- edge(a, b), edge(b, c), edge(a, c), edge(a, d), edge(b, d), edge(c, d)."
)
CLOSURE = """
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


def program(name: str) -> str:
    """The text of one of the programs under `bench/programs`."""
    return (PROGRAMS / f"{name}.dl").read_text(encoding="utf-8")


def connect(threads: int = 1, **options: Any) -> lftj.Workspace:
    """A workspace that evaluates on one thread, as the peers do, or on so many."""
    return lftj.connect(executor=lftj.ThreadExecutor(threads), **options)


class Engine:
    """A workspace with the two-column relation `edge`. `evaluate` is what the clock measures: one
    commit that adds rules.
    """

    def __init__(self, edges: Sequence[np.ndarray]):
        self.workspace = connect()
        edge = self.workspace.relation("edge", {"x": int, "y": int})
        self.workspace.load(edge, pa.table({"x": edges[0], "y": edges[1]}))

    def count(self, rule: str) -> int:
        """Add a rule whose head is `n(count())` and read its only number."""
        self.workspace.add_rules(".decl n(n: number)\n" + rule)
        row = self.workspace["n"].fetchone()
        return int(row[0]) if row else 0

    def closure(self) -> int:
        """Add the rules of `path`, the transitive closure, and return how many rows it has."""
        self.workspace.add_rules(CLOSURE)
        return len(self.workspace["path"])

    def rows(self, relation: str) -> list[np.ndarray]:
        """The columns of a two-column relation, in the order of its rows' values."""
        return rows_of(self.workspace, relation)


def rows_of(workspace: lftj.Workspace, relation: str) -> list[np.ndarray]:
    """The columns of a two-column relation, in the order of its rows' values."""
    table = workspace[relation].arrow()
    columns = [np.asarray(table.column(place)) for place in range(2)]
    order = np.lexsort((columns[1], columns[0]))
    return [column[order] for column in columns]


def warm_up() -> None:
    """Compile, or read from the cache, every kernel that the comparisons use: compile time is not
    what they measure.
    """
    tiny = [np.array([1, 1, 2, 3], np.int64), np.array([2, 3, 3, 4], np.int64)]
    for rule in (TRIANGLES, PATHS, FOUR_CYCLES, FOUR_CLIQUES):
        Engine(tiny).count(rule)
    Engine(tiny).closure()
