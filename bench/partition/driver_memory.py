"""Growth of the driver's memory with the data: its peak resident memory, 4M over 1M edges, each in
a process of its own.

`python -m bench.partition.driver_memory FILE` is such a process: it loads the file, counts
triangles, commits, and tells.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lftj
from bench.figure import Report, require_equal
from bench.partition.spark_graph import (
    SIZES,
    count_triangles,
    spark_executor,
    triangles,
    write_graph,
)
from bench.resident import peak_bytes, resident_bytes

_MEGABYTE = 1 << 20


def measure(report: Report, data: Path | None) -> None:
    """The driver is the Python process; the heap of its Java process, which local executors share,
    is in the detail.
    """
    runs: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        for size in SIZES[report.size]:
            file = write_graph(Path(folder), *size)
            done = subprocess.run(
                [sys.executable, "-m", "bench.partition.driver_memory", str(file)],
                check=True,
                capture_output=True,
                text=True,
            )
            runs.append(json.loads(done.stdout.splitlines()[-1]))
            require_equal(
                f"triangles of {size[0]} edges",
                runs[-1]["triangles"],
                count_triangles(lftj.connect(), file),
            )
    small, large = runs
    report.add("driver_memory_growth", large["peak_mb"] / small["peak_mb"])
    for size, each in zip(SIZES[report.size], runs, strict=True):
        report.note(figure="driver_memory_growth", edges=size[0], **each)


def _driver(file: Path) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        executor = spark_executor(Path(folder))
        with lftj.connect(executor=executor) as workspace:
            before = resident_bytes()
            found = count_triangles(workspace, file)
            workspace.load("edge", [(0, 1 << 40)])
            require_equal("triangles after an edge to nowhere", triangles(workspace), found)
            runtime: Any = executor.spark.sparkContext._jvm
            java = runtime.java.lang.Runtime.getRuntime()
            java.gc()
            heap = (java.totalMemory() - java.freeMemory()) / _MEGABYTE
            return {
                "triangles": found,
                "peak_mb": peak_bytes() / _MEGABYTE,
                "before_mb": before / _MEGABYTE,
                "java_heap_mb": heap,
            }


if __name__ == "__main__":
    print(json.dumps(_driver(Path(sys.argv[1]))))
