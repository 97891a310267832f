"""Commits of one edge on a standalone cluster, on a server that speaks S3 over a local folder, in
turns.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import lftj
from bench.figure import Report, require_equal
from bench.partition.cluster import cluster, session
from bench.partition.overhead import PRELOADED
from bench.partition.seaweed import BUCKET, seaweed
from bench.partition.standalone import CORES, PARTS, RULES, driven
from lftj.partition.address import CACHE

SIZES = {"s": (5_000, 20), "m": (50_000, 50), "l": (1_000_000, 100)}
"""Edges, and commits."""


def drive(master: str, folder: Path, size: str, options: dict[str, str]) -> dict[str, Any]:
    """Commits in turns, and their median seconds on each."""
    count, commits = SIZES[size]
    spark = session(master, PRELOADED | {f"spark.executorEnv.{CACHE}": os.environ[CACHE]})
    drawn = np.random.default_rng(1).integers(0, count // 2, (count, 2)).tolist()
    workspaces = dict[str, Any]()
    for name, path in (("folder", folder / "path"), ("objects", f"s3://{BUCKET}/path")):
        given = options if name == "objects" else None
        executor = lftj.SparkExecutor(spark, PARTS, path=path, storage_options=given)
        workspaces[name] = lftj.connect(executor=executor)
        workspaces[name].add_rules(RULES)
        workspaces[name].load("edge", [(x, y) for x, y in drawn])
    seconds: dict[str, list[float]] = {name: [] for name in workspaces}
    for number in range(commits):
        for name, workspace in workspaces.items():
            started = time.perf_counter()
            with workspace.transaction() as tx:
                tx.insert("edge", [(number, count + number)])
            seconds[name].append(time.perf_counter() - started)
    views = [sorted(workspace["triangles"]) for workspace in workspaces.values()]
    require_equal("triangles on objects", views[1], views[0])
    for workspace in workspaces.values():
        workspace.close()
    spark.stop()
    return {name: statistics.median(each) for name, each in seconds.items()}


def measure(report: Report, data: Path | None) -> None:
    """Fill in `objects_vs_folder`."""
    with TemporaryDirectory() as name, cluster(folder := Path(name), CORES) as master:
        before = os.environ.get(CACHE)
        os.environ[CACHE] = str(folder / "cache")
        try:
            with seaweed(folder / "server") as options:
                words = report.size, json.dumps(options)
                found = driven("bench.partition.on_objects", master, folder, *words)
        finally:
            os.environ.pop(CACHE)
            if before is not None:
                os.environ[CACHE] = before
    report.add("objects_vs_folder", found["objects"] / found["folder"])
    report.note(figure="objects_vs_folder", commits=SIZES[report.size][1], **found)


if __name__ == "__main__":
    words = sys.argv[1:]
    print(json.dumps(drive(words[0], Path(words[1]), words[2], json.loads(words[3]))))
