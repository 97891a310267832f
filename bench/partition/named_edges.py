"""Memory of a machine of a standalone Spark cluster for edges between strings, which all parts have
whole, and for a table of the same strings that is cut: loaded in one transaction before the rules
and after them, and after them one by one, the table first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import lftj
from bench.figure import Report, require_equal
from bench.partition.cluster import HOSTS, cluster, session, until
from bench.partition.payloads import CountingExecutor
from bench.partition.standalone import CORES, PARTS, Kept, driven, kept, of_a_machine

SIZES = {"s": 20_000, "m": 100_000, "l": 1_000_000}
"""Edges, and half as many names."""
COMMITS = 5
ORDERS = ("rules first", "rules last", "one by one")
RULES = """
.decl triangles(x: symbol, n: number)
triangles(x, count()) :- edge(x, y), edge(y, z), edge(x, z).
.decl weighted(x: symbol, n: number)
weighted(x, n) :- triangles(x, _), label(x, n).
"""
FIGURE = "machine_memory_strings"


def _load(workspaces: Sequence[Any], count: int, order: str) -> None:
    drawn = np.random.default_rng(1).integers(0, count // 2, (count, 2))
    names = pa.array([f"a node with the name {number}" for number in range(count // 2)])
    edges = pa.table(
        {"x": names.take(pa.array(drawn[:, 0])), "y": names.take(pa.array(drawn[:, 1]))}
    )
    labels = pa.table({"x": names, "n": np.arange(count // 2) % 100})
    for workspace in workspaces:
        workspace.relation("edge", {"x": str, "y": str})
        workspace.relation("label", {"x": str, "n": int})
        if order != "rules last":
            workspace.add_rules(RULES)
        if order == "one by one":
            workspace.load("label", labels)
            workspace.load("edge", edges)
        else:
            with workspace.transaction() as tx:
                tx.insert("label", labels)
                tx.insert("edge", edges)
        if order == "rules last":
            workspace.add_rules(RULES)
        for number in range(COMMITS):
            with workspace.transaction() as tx:
                tx.insert("edge", [(f"a node with the name {number}", f"another {number}")])


def drive(master: str, folder: Path, size: str, order: str) -> dict[str, Any]:
    """Findings on the cluster, loaded in one of the `ORDERS`."""
    spark = session(master, {})
    executor = lftj.SparkExecutor(spark, PARTS, path=folder / order)
    context: Any = spark.sparkContext
    until(lambda: len(set(executor._seats.of(context, range(PARTS)) or ())) == len(HOSTS) * CORES)
    single: Any = CountingExecutor(folder / f"{order} single", PARTS)
    many, one = lftj.connect(executor=executor), lftj.connect(executor=single)
    _load([many, one], SIZES[size], order)
    workers: list[Kept] = list(
        {each[0]: each for each in executor.map(kept, [str(executor.path)] * PARTS)}.values()
    )
    hosts = [seat.host for seat in executor._seats.of(context, range(PARTS)) or ()]
    require_equal("weighted", sorted(many["weighted"]), sorted(one["weighted"]))
    memory = of_a_machine(workers, hosts, str(single.path))
    many.close()
    spark.stop()
    return {
        "memory": memory,
        "pages": [pages for _, _, pages, _ in workers],
        "resident": [resident for *_, resident in workers],
    }


def measure(report: Report, data: Path | None) -> None:
    """Fill in the figure: the largest of all orders."""
    found = {}
    for order in ORDERS:
        with TemporaryDirectory() as folder, cluster(Path(folder), CORES) as master:
            module = "bench.partition.named_edges"
            found[order] = driven(module, master, Path(folder), report.size, order)
    report.add(FIGURE, max(each["memory"] for each in found.values()))
    report.note(figure=FIGURE, **found)


if __name__ == "__main__":
    from bench.partition import named_edges as importable  # whose functions workers find by name

    master, folder, *words = sys.argv[1:]
    print(json.dumps(importable.drive(master, Path(folder), *words)))
