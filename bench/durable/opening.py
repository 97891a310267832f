"""Opening a large workspace against loading and evaluating it, and the first commit after that.

`python -m bench.durable.opening load|open PATH ROWS` is one process of either kind. It prints what
it measured as JSON. Kernels are compiled and in memory before, by a small workspace of the same
program.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

import lftj
from bench.figure import Report, require_equal
from bench.resident import forget_freed, resident_bytes

FIGURES = ("open_vs_load", "first_commit_vs_warm", "resident_share", "bytes_on_disk")
ROWS = {"s": 20_000, "m": 1_000_000, "l": 10_000_000}
SMALL = 5_000
PROGRAM = """
.decl sale(id: int, shop: int, item: int, amount: int)
.decl shop(shop: int, region: int)
.decl edge(x: int, y: int)
.decl parent(x: int, y: int)
.decl total(shop: int, n: int, t: int)
total(s, count(), sum(a)) :- sale(_, s, _, a).
.decl least(item: int, a: int)
least(i, min(a)) :- sale(_, _, i, a).
.decl dear(id: int, region: int)
dear(i, r) :- sale(i, s, _, a), a > 990, shop(s, r).
.decl triangle(x: int, y: int, z: int)
triangle(x, y, z) :- edge(x, y), edge(y, z), edge(x, z).
.decl above(x: int, y: int)
above(x, y) :- parent(x, y).
above(x, z) :- above(x, y), parent(y, z).
"""
COMMITS = 21


def tables(rows: int) -> dict[str, pa.Table]:
    """So many rows: most are sales, a tenth edges, a hundredth parents in a tree."""
    random = np.random.default_rng(34)
    sales, edges, parents = rows - rows // 10 - rows // 100, rows // 10, rows // 100
    shops = max(100, rows // 1000)
    child = np.arange(1, parents + 1)
    return {
        "sale": pa.table(
            {
                "id": np.arange(sales),
                "shop": random.integers(0, shops, sales),
                "item": random.integers(0, max(100, rows // 100), sales),
                "amount": random.integers(0, 1000, sales),
            }
        ),
        "shop": pa.table({"shop": np.arange(shops), "region": np.arange(shops) % 10}),
        "edge": pa.table({f"{c}": random.integers(0, max(10, edges // 5), edges) for c in "xy"}),
        "parent": pa.table({"x": child, "y": child // 8}),
    }


def _load(workspace: lftj.Workspace, rows: int) -> None:
    with workspace.transaction() as tx:
        tx.add_rules(PROGRAM)
        for name, table in tables(rows).items():
            tx.insert(name, table)


def _asked(workspace: lftj.Workspace) -> list[Any]:
    return [list(row) for row in workspace.query("total(7, n, t)").fetchall()]


def _commit(workspace: lftj.Workspace, number: int) -> float:
    start = time.perf_counter()
    with workspace.transaction() as tx:
        tx.insert("sale", [(-1 - number, 7, 3, 995)])
        tx.insert("edge", [(number, number + 2)])
    return time.perf_counter() - start


def _warmed() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.lftj"
        with lftj.connect(path) as workspace:
            _load(workspace, SMALL)
        with lftj.connect(path) as workspace:
            _asked(workspace)
            for number in range(3):
                _commit(workspace, number)
    forget_freed()


def loaded(path: Path, rows: int) -> dict[str, Any]:
    """Load and evaluate a workspace, and save it."""
    _warmed()
    start = time.perf_counter()
    workspace = lftj.connect()
    _load(workspace, rows)
    _asked(workspace)
    seconds = time.perf_counter() - start
    for number in range(COMMITS):
        _commit(workspace, number)  # which makes traces and the like
    answer = _asked(workspace)
    pages = workspace._backend.arena.bytes_in_use  # type: ignore[attr-defined]
    workspace.save_as(path)
    workspace.close()
    return {"seconds": seconds, "answer": answer, "pages": pages}


def opened(path: Path, rows: int) -> dict[str, Any]:
    """Open it, ask, and commit: the first time, and again."""
    _warmed()
    before = resident_bytes()
    start = time.perf_counter()
    workspace = lftj.connect(path)
    answer = _asked(workspace)
    seconds = time.perf_counter() - start
    resident = resident_bytes() - before
    commits = [_commit(workspace, COMMITS + number) for number in range(COMMITS)]
    workspace.close()
    return {
        "seconds": seconds,
        "answer": answer,
        "resident": resident,
        "first": commits[0],
        "warm": median(commits[1:]),
        "resident_after_commits": resident_bytes() - before,
    }


def process(kind: str, path: Path, rows: int) -> dict[str, Any]:
    """Run a process of a kind; the measurements that it prints."""
    command = [sys.executable, "-m", "bench.durable.opening", kind, str(path), str(rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def measure(report: Report, folder: Path) -> None:
    """Fill the figures of opening."""
    rows, path = ROWS[report.size], folder / "large.lftj"
    load = process("load", path, rows)
    files = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    open_ = process("open", path, rows)
    require_equal("the first answer", open_["answer"], load["answer"])
    report.note(
        rows=rows,
        load_s=load["seconds"],
        open_s=open_["seconds"],
        files=files,
        pages=load["pages"],
        resident=open_["resident"],
        resident_after_commits=open_["resident_after_commits"],
        first_commit_ms=open_["first"] * 1e3,
        warm_commit_ms=open_["warm"] * 1e3,
    )
    report.add("open_vs_load", open_["seconds"] / load["seconds"])
    report.add("first_commit_vs_warm", open_["first"] / open_["warm"])
    report.add("resident_share", open_["resident"] / load["pages"])
    report.add("bytes_on_disk", files / load["pages"])


if __name__ == "__main__":
    run = loaded if sys.argv[1] == "load" else opened
    print(json.dumps(run(Path(sys.argv[2]), int(sys.argv[3]))))
