"""Parts of a standalone Spark cluster, of two workers with two cores each: how often one is opened
again, what a rest costs, and how much memory a machine needs.

The driver is another process, since this one may have a session already.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import lftj
from bench.figure import Report, require_equal
from bench.partition.cluster import HOSTS, cluster, session, until
from bench.partition.payloads import CountingExecutor
from lftj.distributed.work import worker
from lftj.partition.java import find_java

PARTS, CORES = 8, 2
SIZES = {"s": (5_000, 20), "m": (50_000, 100), "l": (1_000_000, 100)}
"""Edges, and commits."""
REST = 90.0
FIGURES = ("opened_again", "after_rest", "part_copies", "machine_memory")
RULES = """
.decl edge(x: number, y: number)
.decl triangles(x: number, n: number)
triangles(x, count()) :- edge(x, y), edge(y, z), edge(x, z).
"""
Kept = tuple[int, list[int], int, int]


def kept(path: str) -> Kept:
    """In a worker: its process, the parts of a path that it keeps, the bytes of their pages and
    strings, and those that the machine has for them: of what several processes share each has its
    share.
    """
    found = worker._worker
    parts = [part for where, part in found.parts if where == path]
    arena, strings = found.host.arena, found.host.dictionary
    mapped = [arena.memory, *([strings._offsets, strings._data] if strings._first else [])]
    own = strings.bytes_in_use
    return os.getpid(), parts, arena.bytes_in_use + own, _resident(mapped) + own


def _resident(arrays: Sequence[Any]) -> int:
    """Bytes of mapped arrays of this process that are in memory, what is shared by its share."""
    ranges = [(int(each.ctypes.data), int(each.ctypes.data) + each.nbytes) for each in arrays]
    found, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, *rest = line.split()
        if "-" in name and not name.endswith(":"):
            low, high = (int(end, 16) for end in name.split("-"))
            inside = any(low < last and high > first for first, last in ranges)
        elif inside and name == "Pss:":
            found += 1024 * int(rest[0])
    return found


def _commit(workspaces: Sequence[Any], edge: tuple[int, int]) -> tuple[int, float]:
    """A commit of one edge in each: parts that the first opened or built for it, and seconds."""
    for workspace in workspaces:
        with workspace.transaction() as tx:
            tx.insert("edge", [edge])
    cost = workspaces[0].profile(last=1).iloc[0]
    return int(cost["opened"] + cost["built"]), float(cost["seconds"])


def drive(master: str, folder: Path, size: str) -> dict[str, Any]:
    """Commits of one edge on the cluster, and what they found."""
    count, commits = SIZES[size]
    spark = session(master, {})
    executor = lftj.SparkExecutor(spark, PARTS, path=folder / "path")
    context: Any = spark.sparkContext
    seats = len(HOSTS) * CORES
    until(lambda: len(set(executor._seats.of(context, range(PARTS)) or ())) == seats)
    single: Any = CountingExecutor(folder / "single", PARTS)
    many, one = lftj.connect(executor=executor), lftj.connect(executor=single)
    drawn = np.random.default_rng(1).integers(0, count // 2, (count, 2)).tolist()
    for workspace in (many, one):
        workspace.add_rules(RULES)
        workspace.load("edge", [(x, y) for x, y in drawn])
    found = [_commit((many, one), (count + n, count + n + 1)) for n in range(commits)]
    time.sleep(REST)
    rested = _commit((many, one), (0, count))
    workers: list[Kept] = list(
        {each[0]: each for each in executor.map(kept, [str(executor.path)] * PARTS)}.values()
    )
    hosts = [seat.host for seat in executor._seats.of(context, range(PARTS)) or ()]
    require_equal("triangles", sorted(many["triangles"]), sorted(one["triangles"]))
    many.close()
    spark.stop()
    return {
        "opened_again": sum(opened for opened, _ in found),
        "opened_after_rest": rested[0],
        "after_rest": rested[1] / statistics.median(seconds for _, seconds in found),
        "part_copies": sum(len(parts) for _, parts, *_ in workers) / PARTS,
        "machine_memory": of_a_machine(workers, hosts, str(single.path)),
        "pages": [pages for _, _, pages, _ in workers],
        "resident": [resident for *_, resident in workers],
        "commit_s": statistics.median(seconds for _, seconds in found),
    }


def of_a_machine(workers: Sequence[Kept], hosts: Sequence[str], path: str) -> float:
    """Memory for the pages and strings of the workers of the first machine, over what one process
    needs that has the same parts: this one, once it forgot the others.
    """
    own = {part for part, host in enumerate(hosts) if host == hosts[0]}
    there = [each for each in workers if own.issuperset(each[1])]
    for part in set(range(PARTS)) - own:
        worker.forget((path, part))
    gc.collect()
    return sum(resident for *_, resident in there) / kept(path)[3]


def driven(module: str, master: str, folder: Path, *words: str) -> dict[str, Any]:
    """Findings of a module's driver on a cluster."""
    environment = {**os.environ, "JAVA_HOME": str(find_java({"PATH": ""}).home)}
    command = [sys.executable, "-m", module, master, str(folder), *words]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(report: Report, data: Path | None) -> None:
    """Fill in `opened_again`, `after_rest`, `part_copies` and `machine_memory`."""
    with TemporaryDirectory() as folder, cluster(Path(folder), CORES) as master:
        found = driven("bench.partition.standalone", master, Path(folder), report.size)
    for name in FIGURES:
        report.add(name, found[name])
    report.note(figure="machine_memory", **found)


if __name__ == "__main__":
    from bench.partition import standalone as importable  # whose functions workers find by name

    print(json.dumps(importable.drive(sys.argv[1], Path(sys.argv[2]), sys.argv[3])))
