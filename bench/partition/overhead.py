"""Processor seconds of a standalone cluster, of two workers with two cores each, over those of two
threads: 4M edges are read from Parquet and their triangles counted.

All processes count: master, workers, executors, their Python workers, and the driver. Sessions are
there before, and workers have loaded what they need. Sides take turns, and the median counts.
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

import lftj
from bench.figure import Report, require_equal
from bench.partition.cluster import HOSTS, cluster, session, until
from bench.partition.first_answer import seconds_of_all
from bench.partition.spark_graph import SIZES, count_triangles, write_graph
from bench.partition.standalone import CORES, PARTS, driven

TURNS = 5
_UNTIL_IDLE = 3.0
"""Seconds in which what workers store later than a commit is stored."""


def drive(master: str, folder: Path, file: Path) -> dict[str, Any]:
    """Turns of both sides."""
    spark = session(master, PRELOADED)
    many, one, found = list[float](), list[float](), list[int]()

    def opened(name: str) -> lftj.Workspace:
        executor = lftj.SparkExecutor(spark, PARTS, path=folder / name)
        seats = len(HOSTS) * CORES
        until(lambda: len(set(executor._seats.of(spark.sparkContext, range(PARTS)) or ())) == seats)
        return lftj.connect(executor=executor)

    small = [(1, 2), (2, 3), (1, 3)]
    with opened("warm") as workspace:
        count_triangles(workspace, small)
    count_triangles(lftj.connect(executor=lftj.ThreadExecutor(2)), small)
    for turn in range(TURNS):
        before = seconds_of_all(os.getppid())
        with opened(f"turn{turn}") as workspace:
            found.append(count_triangles(workspace, file))
            time.sleep(_UNTIL_IDLE)
        many.append(seconds_of_all(os.getppid()) - before)
        before = time.process_time()
        single = count_triangles(lftj.connect(executor=lftj.ThreadExecutor(2)), file)
        one.append(time.process_time() - before)
        require_equal("triangles", found[-1], single)
    spark.stop()
    ratios = [ours / theirs for ours, theirs in zip(many, one, strict=True)]
    return {"cluster_overhead": statistics.median(ratios), "cluster": many, "threads": one}


PRELOADED = {
    "spark.python.daemon.module": "lftj.partition.spark",
    "spark.executorEnv.PARTITION_PRELOAD": "lftj.distributed.work.warm:warm",
}
"""Workers are forked from processes that have loaded compiled code, as the page on Spark says."""


def measure(report: Report, data: Path | None) -> None:
    """Fill in `cluster_overhead`."""
    with TemporaryDirectory() as folder, cluster(Path(folder), CORES) as master:
        file = write_graph(Path(folder), *SIZES[report.size][1])
        found = driven("bench.partition.overhead", master, Path(folder), str(file))
    report.add("cluster_overhead", found["cluster_overhead"])
    report.note(figure="cluster_overhead", **found)


if __name__ == "__main__":
    print(json.dumps(drive(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))))
