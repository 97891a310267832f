"""Files below a path after many commits of one edge, and bytes of the manifest that each of them
writes. Tasks run one after the other in this process; what they write is the same on Spark.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import lftj
from bench.figure import Report, require_equal
from bench.partition.payloads import CountingExecutor
from lftj.distributed.files.epochs import epoch_file, epochs
from lftj.distributed.stored.checkpoints import at_once
from lftj.distributed.work.worker import forget

PARTS = 8
SIZES = {"s": (5_000, 60), "m": (50_000, 300), "l": (50_000, 3_000)}
"""Edges, and commits."""
RULES = """
.decl edge(x: number, y: number)
.decl triangles(x: number, n: number)
triangles(x, count()) :- edge(x, y), edge(y, z), edge(x, z).
"""
Edges = list[tuple[int, int]]


class StoringExecutor(CountingExecutor):
    """Stores parts in the tasks that change them."""

    def map(
        self,
        task: Callable[[Any], Any],
        payloads: Iterable[Any],
        places: Sequence[int] | None = None,
        *,
        seconds: float | None = None,
    ) -> list[Any]:
        with at_once():
            return super().map(task, payloads, places, seconds=seconds)


@contextmanager
def _opened(edges: Edges) -> Any:
    forget()
    with tempfile.TemporaryDirectory() as folder:
        executor: Any = StoringExecutor(Path(folder), PARTS)
        with lftj.connect(executor=executor) as workspace:
            workspace.add_rules(RULES)
            workspace.load("edge", edges)
            yield workspace, Path(folder)
    forget()


def _insert(workspace: Any, edges: Edges) -> None:
    with workspace.transaction() as tx:
        tx.insert("edge", edges)


def _state(path: Path) -> int:
    return sum(file.stat().st_size for file in (path / "state").iterdir())


def _after(edges: Edges, more: Edges) -> dict[str, Any]:
    """State after each commit of the last half and after a compaction, bytes of manifests of the
    last half, and the view.
    """
    manifests, states = dict[int, int](), list[int]()
    with _opened(edges) as (workspace, path):
        for edge in more:
            _insert(workspace, [edge])
            last = next(epochs(path))
            manifests[last] = epoch_file(path, last).stat().st_size
            states.append(_state(path))
        workspace.compact()
        return {
            "states": states[len(states) // 2 :],
            "compacted": _state(path),
            "manifests": list(manifests.values())[len(manifests) // 2 :],
            "view": sorted(workspace["triangles"].fetchall()),
        }


def _fresh(edges: Edges, more: Edges) -> dict[str, Any]:
    """State where nothing is of the past, with the key orders that commits need."""
    with _opened([*edges, *more[:-1]]) as (workspace, path):
        _insert(workspace, more[-1:])
        workspace.compact()
        return {"state": _state(path), "view": sorted(workspace["triangles"].fetchall())}


def measure(report: Report, data: Path | None) -> None:
    """Fill in `state_after`, `state_compacted` and `manifest_bytes_per_commit`."""
    count, commits = SIZES[report.size]
    drawn = np.random.default_rng(1).integers(0, count // 2, (count + commits, 2))
    rows = [(int(x), int(y)) for x, y in drawn]
    many, one = _after(rows[:count], rows[count:]), _fresh(rows[:count], rows[count:])
    require_equal("state_after", many["view"], one["view"])
    report.add("state_after", float(np.mean(many["states"])) / one["state"])
    report.add("state_compacted", many["compacted"] / one["state"])
    report.add("manifest_bytes_per_commit", float(np.mean(many["manifests"])))
    largest = max(many["states"]) / one["state"]
    report.note(figure="state_after", commits=commits, largest=largest, fresh=one["state"])
