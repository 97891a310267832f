"""Bodies whose cost is predicted and measured: random ones, and queries of the benchmarks."""

from __future__ import annotations

import contextlib
import gc
import sys
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import lftj
from bench import engine, triejoin
from bench.analytics import facts, joins, shapes
from bench.analytics.shape import loaded
from bench.cost import bodies
from bench.cost.measuring import Measured, measuring
from bench.graphs import rmat, skewed

LIMITS = {"work": 30_000_000, "memory": 4 << 30}
"""Bodies that take more are left out, and counted: some are products."""
_CLIFFS = (10_000, 100_000, 1_000_000)
RANDOM = {"s": 40, "m": 200, "l": 1_000}


class Case(NamedTuple):
    """A body that was measured, and where it is from."""

    source: str
    text: str
    measured: Measured


class Cases:
    """The cases of one size; `stopped`: how many bodies reached the limits."""

    def __init__(self, size: str):
        self._size = size
        self.stopped = 0

    def all(self) -> Iterator[Case]:
        """Random ones first."""
        yield from self.random()
        yield from self.graphs()
        yield from self.analytics()

    def random(self, seed: int = 1) -> Iterator[Case]:
        """Random bodies, as many over relations of each size."""
        for rows in bodies.ROWS:
            relations = bodies.tables(rows, seed)
            workspace = engine.connect()
            workspace.add_rules(bodies.DECLARED)
            for name, table in relations.items():
                workspace.load(name, table)
            count = RANDOM[self._size] // len(bodies.ROWS)
            for body in bodies.bodies(count, relations, seed + rows):
                with contextlib.suppress(lftj.LimitError), workspace.limits(**LIMITS):
                    yield from _measured("random", f"{rows}: {body.rule}", workspace, body.text)
                    continue
                self.stopped += 1
            workspace.close()
            print(f"{rows:,} rows: done", file=sys.stderr)

    def graphs(self) -> Iterator[Case]:
        """Patterns of `triejoin`."""
        large, small, nodes = triejoin.SIZES[self._size]
        for name, edges, rule in (
            ("triangles", rmat(*large), engine.TRIANGLES),
            ("skewed triangles", skewed(nodes), engine.TRIANGLES),
            ("paths", rmat(*small), engine.PATHS),
            ("cycles of four", rmat(*small), engine.FOUR_CYCLES),
            ("cliques of four", rmat(*small), engine.FOUR_CLIQUES),
        ):
            counting = engine.Engine(edges)
            text = ".decl n(n: number)\n" + rule
            yield from _measured("triejoin", name, counting.workspace, text)
            counting.workspace.close()

    def analytics(self) -> Iterator[Case]:
        """Queries of `analytics`, and those of `cliffs` at a few sizes."""
        most = {"s": 1, "m": 2, "l": 3}[self._size]
        cliffs = chain.from_iterable(
            chain(facts.of_rows(rows), joins.of_rows(rows)) for rows in _CLIFFS[:most]
        )
        for source, shape in chain(
            (("analytics", shape) for shape in shapes(self._size)),
            (("cliffs", shape) for shape in cliffs),
        ):
            workspace = loaded(shape)
            yield from _measured(source, shape.name, workspace, shape.rule)
            workspace.close()


def _measured(source: str, text: str, workspace: lftj.Workspace, rules: str) -> list[Case]:
    """The bodies that a commit evaluates which adds these rules; then they go again."""
    found: list[Measured] = []
    gc.collect()
    with measuring(found), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        workspace.remove_rule(workspace.add_rules(rules))
    return [Case(source, text, each) for each in found]
