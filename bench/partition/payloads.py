"""Bytes sent to the tasks of a commit: with many parts against few.

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

FEW, MANY = 8, 96
EDGES = {"s": 1_000, "m": 3_000, "l": 9_000}

RULES = """
.decl edge(x: number, y: number)
.decl label(x: number, l: number)
label(x, min(x)) :- edge(x, _).
label(x, min(x)) :- edge(_, x).
label(y, min(l)) :- label(x, l), edge(x, y).
label(x, min(l)) :- label(y, l), edge(x, y).
"""


class CountingExecutor:
    """Runs tasks in this process and counts the bytes of their payloads, one by one, as Spark sends
    them.
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
        return [task(self._sent(payload)) for payload in payloads]

    def _sent(self, payload: Any) -> Any:
        sent = pickle.dumps(payload)
        self.bytes += len(sent)
        self.tasks += 1
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


def measure(report: Report, data: Path | None) -> None:
    """Fill in `payload_growth`."""
    edges = _edges(EDGES[report.size])
    found = {parts: commit(edges, parts) for parts in (FEW, MANY)}
    require_equal("payload_growth", found[MANY][1], found[FEW][1])
    report.add("payload_growth", found[MANY][0]["bytes"] / found[FEW][0]["bytes"])
    for parts, (sent, _) in found.items():
        report.note(figure="payload_growth", parts=parts, **sent)
