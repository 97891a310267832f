"""Bytes sent to the tasks of a commit: with many parts against few, and for a single row.

Least labels move from part to part in supersteps, so every step of the commit sends something to
nearly every part. Tasks run one after the other in this process; only the bytes sent to them are
counted, and these are the same on Spark.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

import lftj
from bench.figure import Report, require_equal
from lftj.distributed.work.worker import forget
from lftj.partition.bundles import bundled

FEW, MANY = 8, 96
SEATS = 4
OTHERS = 50
"""Other rules of the program, where one row is committed."""
EDGES = {"s": 1_000, "m": 3_000, "l": 9_000}

RULES = """
.decl edge(x: number, y: number)
.decl label(x: number, l: number)
label(x, min(x)) :- edge(x, _).
label(x, min(x)) :- edge(_, x).
label(y, min(l)) :- label(x, l), edge(x, y).
label(x, min(l)) :- label(y, l), edge(x, y).
"""
TRIANGLES = """
.decl edge(x: number, y: number)
.decl other(x: number, y: number)
.decl triangles(x: number, n: number)
triangles(x, count()) :- edge(x, y), edge(y, z), edge(x, z).
""" + "\n".join(f".decl v{n}(x: number) v{n}(x) :- other(x, y), y > {n}." for n in range(OTHERS))


class CountingExecutor:
    """Runs tasks in this process and counts the bytes of their payloads as Spark sends them: those
    of the parts of a seat together.
    """

    distributed = True
    local = True

    def __init__(self, path: Path, partitions: int):
        self.path, self.partitions = path, partitions
        self.bytes = self.tasks = 0

    def described(self, text: str) -> AbstractContextManager[None]:
        """Nothing to show it on."""
        return nullcontext()

    def map(
        self,
        task: Callable[[Any], Any],
        payloads: Iterable[Any],
        places: Sequence[int] | None = None,
        *,
        seconds: float | None = None,
    ) -> list[Any]:
        """Every task, one after the other."""
        given = list(payloads)
        homes = [place % SEATS for place in places or range(len(given))]
        found = dict[int, Any]()
        for seat in dict.fromkeys(homes):
            numbers = [number for number, home in enumerate(homes) if home == seat]
            for number, payload in zip(
                numbers, self._sent([given[number] for number in numbers]), strict=True
            ):
                found[number] = task(payload)
        return [found[number] for number in range(len(given))]

    def _sent(self, payloads: Sequence[Any]) -> Any:
        sent = pickle.dumps(bundled(payloads))
        self.bytes += len(sent)
        self.tasks += len(payloads)
        return pickle.loads(sent)


def _edges(count: int) -> list[tuple[int, int]]:
    """Random edges among half as many nodes: one large component, and small ones."""
    drawn = np.random.default_rng(1).integers(0, count // 2, (count, 2))
    return [(int(x), int(y)) for x, y in drawn]


def commit(
    edges: list[tuple[int, int]], parts: int
) -> tuple[dict[str, int], list[tuple[Any, ...]]]:
    """Count the bytes that one commit of all edges sends to its tasks over so many parts, and
    return the labels that it derives.
    """
    forget()
    with tempfile.TemporaryDirectory() as folder:
        executor: Any = CountingExecutor(Path(folder), parts)
        with lftj.connect(executor=executor) as workspace:
            workspace.add_rules(RULES)
            executor.bytes = executor.tasks = 0
            workspace.load("edge", edges)
            sent = {
                "bytes": executor.bytes,
                "tasks": executor.tasks,
                "rounds": int(workspace.profile(last=1)["rounds"].iloc[0]),
            }
            labels = sorted(workspace["label"].fetchall())
    forget()
    return sent, labels


def one_row(edges: list[tuple[int, int]], parts: int) -> tuple[int, list[tuple[Any, ...]]]:
    """Bytes sent to tasks by a commit of one edge that all parts read, in a program with many rules
    besides; and the view.
    """
    forget()
    with tempfile.TemporaryDirectory() as folder:
        executor: Any = CountingExecutor(Path(folder), parts)
        with lftj.connect(executor=executor) as workspace:
            workspace.add_rules(TRIANGLES)
            workspace.load("edge", edges)
            workspace.load("edge", [(0, 1)])
            executor.bytes = 0
            workspace.load("edge", [(0, len(edges))])
            found = executor.bytes, sorted(workspace["triangles"].fetchall())
    forget()
    return found


def measure(report: Report, data: Path | None) -> None:
    """Fill in `payload_growth`, `row_payload` and `row_payload_growth`."""
    if report.wants("row_payload", "row_payload_growth"):
        small = {parts: one_row(_edges(EDGES["s"]), parts) for parts in (FEW, MANY)}
        require_equal("row_payload", small[MANY][1], small[FEW][1])
        report.add("row_payload", small[MANY][0])
        report.add("row_payload_growth", small[MANY][0] / small[FEW][0])
    if not report.wants("payload_growth"):
        return
    edges = _edges(EDGES[report.size])
    found = {parts: commit(edges, parts) for parts in (FEW, MANY)}
    require_equal("payload_growth", found[MANY][1], found[FEW][1])
    report.add("payload_growth", found[MANY][0]["bytes"] / found[FEW][0]["bytes"])
    for parts, (sent, _) in found.items():
        report.note(figure="payload_growth", parts=parts, **sent)
