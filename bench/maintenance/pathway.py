"""One-edge commits on a live stream, beside Pathway: time until the results are there, and peak
memory, each in a process of its own.

Pathway wants older versions of things that we use, so it runs in an environment of its own: that of
the interpreter named by LFTJ_BENCH_PATHWAY, or one that `uv` makes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bench.peers
from bench.figure import Report, require_equal
from bench.graphs import rmat
from bench.maintenance.edit import Edits

PEER = "pathway==0.33.0"
INTERPRETER = "LFTJ_BENCH_PATHWAY"
# Edges and scale of the graph.
GRAPHS = {"s": (2_000, 8), "m": (20_000, 11), "l": (200_000, 14)}
COMMITS = 200
WARM = 10
_ROOT = Path(__file__).resolve().parents[2]


class PeerMissing(RuntimeError):
    """Pathway cannot be run here."""


def _peer_command() -> list[str]:
    """Command that runs Python with Pathway. Raises PeerMissing."""
    if interpreter := os.environ.get(INTERPRETER):
        return [interpreter]
    if uv := shutil.which("uv"):
        return [
            uv,
            "run",
            "--no-project",
            "--isolated",
            "--python",
            f"{sys.version_info[0]}.{sys.version_info[1]}",
            "--with",
            PEER,
            "python",
        ]
    raise PeerMissing(f"Pathway needs uv, or {INTERPRETER}=PATH of a Python that has it")


def _write_stream(path: Path, edges: int, scale: int) -> None:
    """The graph and one-edge commits, each of which makes or breaks a triangle: Pathway does not
    say when nothing has changed.
    """
    graph = rmat(edges, scale)
    edits, neighbours = Edits(graph), _neighbours(graph)
    rows: list[tuple[int, int, int]] = []
    while len(rows) < WARM + COMMITS:
        edit = edits.of_size(1, len(rows))
        x, y = (int(end) for end in np.concatenate((edit.inserted, edit.deleted))[0])
        if neighbours[x].isdisjoint(neighbours[y]):
            continue
        for one, other in ((x, y), (y, x)):
            (neighbours[one].add if len(edit.inserted) else neighbours[one].remove)(other)
        rows.append((x, y, 1 if len(edit.inserted) else -1))
    commit_x, commit_y, sign = np.array(rows).T
    np.savez(path, x=graph[0], y=graph[1], commit_x=commit_x, commit_y=commit_y, sign=sign)


def _neighbours(graph: Sequence[np.ndarray]) -> defaultdict[int, set[int]]:
    found: defaultdict[int, set[int]] = defaultdict(set)
    for x, y in zip(graph[0].tolist(), graph[1].tolist(), strict=True):
        found[x].add(y)
        found[y].add(x)
    return found


def _run(command: list[str], stream: Path, result: Path) -> dict[str, Any]:
    """Run one side on one thread and read what it wrote. Raises PeerMissing with the end of what it
    printed.
    """
    environment = os.environ | {"PYTHONPATH": str(_ROOT), "PATHWAY_THREADS": "1"}
    done = subprocess.run(
        [*command, str(stream), str(result)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if not result.exists():
        raise PeerMissing(f"{' '.join(command)} gave no result: {done.stderr[-2000:]}")
    return json.loads(result.read_text(encoding="utf-8"))


def measure(report: Report, data: Path | None) -> None:
    """Record both figures once the views were seen to be equal."""
    with tempfile.TemporaryDirectory() as folder:
        stream = Path(folder) / "stream.npz"
        _write_stream(stream, *GRAPHS[report.size])
        ours = _run(
            [sys.executable, "-m", "bench.maintenance.our_stream"],
            stream,
            Path(folder) / "ours.json",
        )
        program = Path(bench.peers.__file__).with_name("pathway_stream.py")
        theirs = _run([*_peer_command(), str(program)], stream, Path(folder) / "theirs.json")
    for view in ("per_vertex", "total"):
        require_equal(f"{view} after the stream", ours[view] == theirs[view], True)
    our_ms, their_ms = (float(np.median(side["seconds"][WARM:])) * 1e3 for side in (ours, theirs))
    report.add("pathway_time", our_ms / their_ms)
    report.add("pathway_memory", ours["bytes"] / theirs["bytes"])
    edges = GRAPHS[report.size][0]
    report.note(
        part="pathway",
        edges=edges,
        our_ms=our_ms,
        pathway_ms=their_ms,
        our_bytes=ours["bytes"],
        pathway_bytes=theirs["bytes"],
    )
