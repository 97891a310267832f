"""Very many one-row commits below a hundred views: the slow ones among them."""

from __future__ import annotations

import gc
import time
from collections import Counter
from itertools import chain
from typing import Any

import numpy as np

from bench.engine import connect
from bench.figure import Report, require_equal

COMMITS = {"s": 300, "m": 5_000, "l": 50_000}
VIEWS = {"s": 20, "m": 100, "l": 100}
ROWS = 2_000
NODES = 1_000
VIEWS_OF_ONE = 10  # views that read one relation
WARM = 50
_RNG = 11

VIEW = (
    "v{n}(x, z) :- {e}(x, y), {e}(y, z), x > {c}.",
    "v{n}(x, y) :- {e}(x, y), y < {c}.",
    "v{n}(x, count()) :- {e}(x, y), y > {c}.",
    "v{n}(x, sum(y)) :- {e}(x, y), x != {c}.",
    "v{n}(x, y) :- {e}(x, y), !{e}(y, x), x > {c}.",
)
"""Shapes of views, of a relation and a constant."""


def program(views: int, relations: int) -> str:
    """Views of these shapes in turn, shared out over relations."""
    lines = [f".decl e{n}(x: number, y: number)" for n in range(relations)]
    for n in range(views):
        shape = VIEW[(n // relations) % len(VIEW)]
        lines.append(f".decl v{n}(x: number, y: number)")
        lines.append(shape.format(n=n, e=f"e{n % relations}", c=n))
    return "\n".join(lines)


class Edited:
    """A workspace with views, and random one-row commits: a row comes, a row goes."""

    def __init__(self, views: int, relations: int):
        self.workspace, self.relations = connect(), relations
        self.workspace.add_rules(program(views, relations))
        self._random = np.random.default_rng(_RNG)
        self.rows: list[set[tuple[int, int]]] = []
        with self.workspace.transaction() as tx:
            for n in range(relations):
                pairs = self._random.integers(0, NODES, (ROWS, 2)).tolist()
                self.rows.append({(x, y) for x, y in pairs})
                tx.insert(f"e{n}", list(self.rows[n]))
        self._going = [sorted(rows) for rows in self.rows]

    def commit(self, number: int) -> tuple[float, float]:
        """Seconds of one commit with its transaction, those that passed and the processor's."""
        name, rows = f"e{number % self.relations}", self.rows[number % self.relations]
        comes = (number // self.relations) % 2 == 0
        row = self._absent(rows) if comes else self._going[number % self.relations].pop()
        began, worked = time.perf_counter(), time.thread_time()
        with self.workspace.transaction() as tx:
            (tx.insert if comes else tx.delete)(name, [row])
        worked, taken = time.thread_time() - worked, time.perf_counter() - began
        if comes:
            rows.add(row)
            self._going[number % self.relations].insert(0, row)
        else:
            rows.remove(row)
        return taken, worked

    def _absent(self, rows: set[tuple[int, int]]) -> tuple[int, int]:
        while True:
            x, y = self._random.integers(0, NODES, 2).tolist()
            if (x, y) not in rows:
                return x, y

    def check(self) -> None:
        """Compare the relations with what was inserted and deleted, and views with the rules."""
        for n, rows in enumerate(self.rows):
            require_equal(f"e{n}", set(self.workspace[f"e{n}"].fetchall()), rows)
        require_equal("views that differ", self.workspace.verify(), [])


class Collections:
    """Pauses of Python's collector, by generation, for the length of a block."""

    def __init__(self) -> None:
        self.pauses: dict[int, list[float]] = {0: [], 1: [], 2: []}
        self._began = 0.0

    def _note(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        else:
            self.pauses[info["generation"]].append(time.perf_counter() - self._began)

    def __enter__(self) -> Collections:
        gc.callbacks.append(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._note)


def tracked_by_owner(most: int = 8) -> dict[str, int]:
    """The objects that Python's collector tracks, by the module of their type, the most first."""
    owners = Counter(
        type(each).__qualname__
        if type(each).__module__ == "builtins"
        else f"{type(each).__module__}.{type(each).__qualname__}"
        for each in gc.get_objects()
    )
    return dict(owners.most_common(most))


def measure_commits(report: Report) -> None:
    """Record the slowest thousandth and the slowest commit, of two workspaces: in one a relation
    is read by ten views, in the other, with a fifth of the commits, by all.
    """
    views, commits = VIEWS[report.size], COMMITS[report.size]
    ratios, worsts = [], []
    for of_one, count in ((VIEWS_OF_ONE, commits), (views, commits // 5)):
        edited = Edited(views, max(1, views // of_one))
        edited.workspace.prepare()
        for number in range(WARM):
            edited.commit(number)
        with Collections() as collections:
            taken = np.empty((count, 2))  # a list of pairs would keep the collector busy
            for number in range(count):
                taken[number] = edited.commit(WARM + number)
        tracked = len(gc.get_objects())
        edited.check()
        p50, p999 = np.quantile(taken, [0.5, 0.999], axis=0)
        worst = taken.max(axis=0)
        ratios.append(p999[0] / p50[0])
        worsts.append(worst[0] * 1e3)
        for clock, place in (("elapsed", 0), ("processor", 1)):
            report.note(
                figure="p999_vs_p50",
                views_of_a_relation=of_one,
                commits=count,
                clock=clock,
                p50_ms=p50[place] * 1e3,
                p999_ms=p999[place] * 1e3,
                worst_ms=worst[place] * 1e3,
            )
        report.note(
            figure="worst_ms",
            views_of_a_relation=of_one,
            collections=[len(each) for each in collections.pauses.values()],
            longest_ms=max(chain(*collections.pauses.values()), default=0.0) * 1e3,
            tracked=tracked,
            types=tracked_by_owner(),
        )
    report.add("p999_vs_p50", max(ratios))
    report.add("worst_ms", max(worsts))
