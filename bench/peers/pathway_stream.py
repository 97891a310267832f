"""The triangle views in Pathway over a live stream of edges. Run by an interpreter that has Pathway
and need not have us.

    python pathway_stream.py STREAM.npz RESULT.json

STREAM holds the edges x, y that are there first, and one-edge commits: edge (commit_x, commit_y)
comes (sign 1) or goes (sign −1). Every commit makes or breaks a triangle. RESULT gets the seconds
from sending each commit to having its results, both views at the end, and the peak of the resident
memory in bytes.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

import numpy as np
import pathway as pw  # type: ignore[import-not-found]

PATIENCE = 600.0  # seconds to wait for the results of a commit, the first included


class Edge(pw.Schema):
    """A row of the stream; both columns are the key, so that rows can be deleted."""

    x: int = pw.column_definition(primary_key=True)
    y: int = pw.column_definition(primary_key=True)


class Stream(pw.io.python.ConnectorSubject):
    """Sends the edges, then each commit when the results of the one before are there."""

    def __init__(self, stream: Any):
        super().__init__()
        self._edges = list(zip(stream["x"].tolist(), stream["y"].tolist(), strict=True))
        self._commits = list(
            zip(*(stream[name].tolist() for name in ("commit_x", "commit_y", "sign")), strict=True)
        )
        self.ready = threading.Semaphore(0)
        self.seconds: list[float] = []

    def run(self) -> None:
        """Called by Pathway in a thread of its own."""
        for x, y in self._edges:
            self.next(x=x, y=y)
        self._commit()
        for x, y, sign in self._commits:
            start = time.perf_counter()
            if sign > 0:
                self.next(x=x, y=y)
            else:
                self.delete(x=x, y=y)
            self._commit()
            self.seconds.append(time.perf_counter() - start)

    def _commit(self) -> None:
        """Commit, and wait until both views have been told: each is only when it changes, so every
        commit has to change both.
        """
        self.commit()
        for _ in range(2):
            if not self.ready.acquire(timeout=PATIENCE):
                raise TimeoutError(
                    f"no results within {PATIENCE} seconds, after {len(self.seconds)} commits"
                )


def triangle_views(edge: Any) -> tuple[Any, Any]:
    """Triangles per vertex and in total, as two joins and two reductions."""
    other, closing = edge.copy(), edge.copy()
    path = edge.join(other, edge.y == other.x).select(x=edge.x, z=other.y)
    triangle = path.join(closing, path.x == closing.x, path.z == closing.y).select(x=path.x)
    return triangle.groupby(triangle.x).reduce(triangle.x, n=pw.reducers.count()), triangle.reduce(
        n=pw.reducers.count()
    )


def main(stream_path: str, result_path: str) -> None:
    """Run the stream to its end and write the result."""
    stream = Stream(np.load(stream_path))
    per_vertex, total = triangle_views(
        pw.io.python.read(stream, schema=Edge, autocommit_duration_ms=None)
    )
    counts: dict[int, int] = {}
    totals: dict[str, int] = {}

    def change(rows: dict[Any, int], name: Any, n: int, is_addition: bool) -> None:
        if is_addition:
            rows[name] = n
        elif rows.get(name) == n:
            del rows[name]

    def done(time: int) -> None:
        stream.ready.release()

    def changed_vertex(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        change(counts, row["x"], row["n"], is_addition)

    def changed_total(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        change(totals, "total", row["n"], is_addition)

    pw.io.subscribe(per_vertex, changed_vertex, on_time_end=done)
    pw.io.subscribe(total, changed_total, on_time_end=done)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    with open(
        "/proc/self/status", encoding="utf-8"
    ) as status:  # as `bench.resident` does, which this interpreter need not have
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    result = {
        "seconds": stream.seconds,
        "bytes": peak,
        "per_vertex": sorted(counts.items()),
        "total": list(totals.values()),
    }
    with open(result_path, "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
