"""Stored parts after many commits of one edge, and bytes of the manifest that each of them writes,
by hundreds. Tasks run one after the other in this process; what they write is the same on Spark.
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
from lftj.distributed.files.runs import RUNS
from lftj.distributed.stored.checkpoints import at_once
from lftj.distributed.work.worker import forget

PARTS = 8
SIZES = {"s": (5_000, 200), "m": (50_000, 1_000), "l": (50_000, 10_000)}
"""Edges, and commits."""
HUNDRED = 100
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


def _sizes(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in folder.iterdir()} if folder.exists() else {}


def _state(path: Path) -> int:
    return sum(_sizes(path / "state").values())


def _after(edges: Edges, more: Edges) -> dict[str, Any]:
    """State after each commit of the last hundred, bytes of manifests of each commit, and the
    view.
    """
    manifests, states, runs = list[int](), list[int](), dict[str, int]()
    with _opened(edges) as (workspace, path):
        for number, edge in enumerate(more):
            _insert(workspace, [edge])
            runs, before = _sizes(path / RUNS), runs
            merged = sum(size for name, size in runs.items() if name not in before)
            manifests.append(epoch_file(path, next(epochs(path))).stat().st_size + merged)
            if number >= len(more) - HUNDRED:
                states.append(_state(path))
        view = sorted(workspace["triangles"].fetchall())
    return {"states": states, "manifests": manifests, "view": view}


def _fresh(edges: Edges, more: Edges) -> dict[str, Any]:
    """State where nothing is of the past, with the key orders that commits need."""
    with _opened([*edges, *more[:-1]]) as (workspace, path):
        _insert(workspace, more[-1:])
        workspace.compact()
        return {"state": _state(path), "view": sorted(workspace["triangles"].fetchall())}


def measure(report: Report, data: Path | None) -> None:
    """Fill in `state_after_10000`, `manifest_bytes_per_commit` and `manifest_growth`."""
    count, commits = SIZES[report.size]
    drawn = np.random.default_rng(1).integers(0, count // 2, (count + commits, 2))
    rows = [(int(x), int(y)) for x, y in drawn]
    many, one = _after(rows[:count], rows[count:]), _fresh(rows[:count], rows[count:])
    require_equal("state_after_10000", many["view"], one["view"])
    hundreds = np.array(many["manifests"]).reshape(-1, HUNDRED).mean(axis=1)
    report.add("state_after_10000", float(np.mean(many["states"])) / one["state"])
    report.add("manifest_bytes_per_commit", float(hundreds.max()))
    report.add("manifest_growth", float(hundreds.max() / hundreds[0]))
    largest = max(many["states"]) / one["state"]
    shown = hundreds[:: max(1, len(hundreds) // 10)].round().astype(int).tolist()
    report.note(figure="state_after_10000", commits=commits, largest=largest, fresh=one["state"])
    report.note(figure="manifest_bytes_per_commit", hundreds=shown)
