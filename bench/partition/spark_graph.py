"""The graph that Spark is measured on, as a Parquet file in random row order, and the calls that
every side makes on it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lftj
from bench.engine import TRIANGLES
from bench.graphs import rmat

# Edges and scale of the power-law graph, the smaller one for what must not grow with it.
SIZES = {
    "s": ((5_000, 10), (20_000, 12)),
    "m": ((100_000, 13), (400_000, 15)),
    "l": ((1_000_000, 16), (4_000_000, 18)),
}
COUNT = ".decl n(n: number)\n" + TRIANGLES
PARTITIONS = 2
ROWS = 250_000  # of a row group


def write_graph(folder: Path, edges: int, scale: int) -> Path:
    """The edges in random order."""
    file = folder / f"{edges}.parquet"
    if not file.exists():
        x, y = rmat(edges, scale)
        order = np.random.default_rng(0).permutation(len(x))
        pq.write_table(pa.table({"x": x[order], "y": y[order]}), file, row_group_size=ROWS)
    return file


def spark_executor(path: Path, partitions: int = PARTITIONS) -> lftj.SparkExecutor:
    """On two threads of this machine; the session is started by the first call."""
    return lftj.SparkExecutor(lftj.local_spark(2), partitions, path=path)


def count_triangles(workspace: Any, edges: Path | list[tuple[int, int]]) -> int:
    """Load, count, and read the only number."""
    workspace.relation("edge", {"x": int, "y": int})
    workspace.load("edge", edges)
    workspace.add_rules(COUNT)
    return triangles(workspace)


def triangles(workspace: Any) -> int:
    """The count as it is now."""
    row = workspace["n"].fetchone()
    return int(row[0]) if row else 0
