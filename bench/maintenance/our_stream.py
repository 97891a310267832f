"""The same stream through our engine in a process of its own: `python -m
bench.maintenance.our_stream STREAM.npz RESULT.json`.

The files are those of `bench.peers.pathway_stream`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

from bench.maintenance.edit import Edit
from bench.maintenance.graph import Graph, warm_up
from bench.resident import peak_bytes


def main(stream_path: str, result_path: str) -> None:
    """Load, add the views, commit edge by edge; write seconds, peak bytes and both views."""
    stream = np.load(stream_path)
    warm_up()
    graph = Graph([stream["x"], stream["y"]])
    graph.evaluate()
    seconds = []
    for x, y, sign in zip(
        *(stream[name].tolist() for name in ("commit_x", "commit_y", "sign")), strict=True
    ):
        edge = np.array([[x, y]], np.int64)
        edit = Edit(edge, edge[:0]) if sign > 0 else Edit(edge[:0], edge)
        start = time.perf_counter()
        graph.commit(edit)
        seconds.append(time.perf_counter() - start)
    views = graph.views()
    result = {
        "seconds": seconds,
        "bytes": peak_bytes(),
        "per_vertex": views["per_vertex"],
        "total": [n for (n,) in views["total"]],
    }
    Path(result_path).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
