"""A Parquet file into a queryable relation, against pyarrow reading the same file and sorting its
rows.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

import lftj
from bench.clock import once
from bench.figure import Report, require_equal

ROWS = {"s": 10_000, "m": 100_000, "l": 1_000_000}
REPEATS = 5
_ORDER = [("x", "ascending"), ("y", "ascending")]


def _write(path: Path, rows: int) -> None:
    """Two columns in random order, all rows distinct: neither side finds them sorted."""
    random = np.random.default_rng(1)
    table = pa.table({"x": random.integers(0, rows, rows), "y": random.permutation(rows)})
    parquet.write_table(table, path)


def _ours(path: Path, probe: int) -> tuple[lftj.Workspace, int]:
    """Load, then answer one query, which proves that the relation can be queried."""
    workspace = lftj.connect()
    pair = workspace.relation("pair", {"x": int, "y": int})
    workspace.load(pair, path)
    (y,) = lftj.vars("y")
    return workspace, len(workspace.query(pair(probe, y)))


def _theirs(path: Path) -> pa.Table:
    return parquet.read_table(path).sort_by(_ORDER)


def _compare(path: Path, probe: int) -> None:
    """Both sides end with the same rows, and ours answers the probe. The first load also compiles
    what there is to compile.
    """
    workspace, found = _ours(path, probe)
    table = _theirs(path)
    require_equal(
        "rows of the probe", found, int(np.count_nonzero(np.asarray(table["x"]) == probe))
    )
    require_equal("loaded rows", workspace["pair"].arrow().sort_by(_ORDER).equals(table), True)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `load`."""
    rows = ROWS[report.size]
    our_seconds = their_seconds = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.parquet"
        _write(path, rows)
        _compare(path, rows // 2)
        for _ in range(REPEATS):
            our_seconds = min(our_seconds, once(lambda: _ours(path, rows // 2))[0])
            their_seconds = min(their_seconds, once(lambda: _theirs(path))[0])
    report.add("load_vs_pyarrow", our_seconds / their_seconds)
    report.note(rows=rows, our_s=our_seconds, pyarrow_s=their_seconds)
