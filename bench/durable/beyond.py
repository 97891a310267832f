"""Commits and point queries over a workspace larger than the memory that the process may have.

The limit is `RLIMIT_DATA`: private memory that can be written. It counts mapped files too, whose
size it therefore has on top; the system keeps of these what it has room for. Both processes are the
same but for the limit.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import lftj
from bench.durable.opening import _asked, _commit, process
from bench.figure import Report, require_equal

FIGURES = ("beyond_memory",)
ROWS = {"s": 20_000, "m": 1_000_000, "l": 10_000_000}
TURNS = {"s": 10, "m": 200, "l": 1_000}
LARGER = 4
"""Times that the workspace is as large as the memory for it."""
LEAST = 96 << 20
"""Bytes that kernels and single arrays take whatever the size."""


def limited(path: Path, turns: int, limit: int) -> dict[str, Any]:
    """Commit and query so many times with so many bytes of memory beside what the process has
    before, and the files; 0: any.
    """
    workspace = lftj.connect(path, read_only=True)
    _asked(workspace)
    workspace.close()  # the kernels are there
    if limit:
        files = sum(each.stat().st_size for each in (path / "pages").iterdir())
        held = _data() + files + limit
        resource.setrlimit(resource.RLIMIT_DATA, (held, held))
    start = time.perf_counter()
    with lftj.connect(path) as workspace:
        found = []
        for number in range(turns):
            _commit(workspace, 1_000_000 + number)
            found.append(workspace.query(f"total({number % 100}, n, t)").fetchall())
        answers = sum(row[0] for rows in found for row in rows)
    return {"seconds": time.perf_counter() - start, "answers": answers}


def _data() -> int:
    """Bytes of private memory that can be written."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData")) * 1024


def measure(report: Report, folder: Path) -> None:
    """Fill the figure of memory: seconds with the limit over seconds without."""
    rows, turns = ROWS[report.size], TURNS[report.size]
    pages = process("load", folder / "large.lftj", rows)["pages"]
    found = {}
    for limit in (0, max(pages // LARGER, LEAST)):
        there = shutil.copytree(folder / "large.lftj", folder / "limited.lftj")
        command = [sys.executable, "-m", "bench.durable.beyond", str(there)]
        done = subprocess.run(
            [*command, str(turns), str(limit)], check=True, stdout=subprocess.PIPE, text=True
        )
        shutil.rmtree(there)
        found[limit] = json.loads(done.stdout)
    enough, little = found.values()
    require_equal("answers", little["answers"], enough["answers"])
    report.note(rows=rows, turns=turns, pages=pages, enough=enough, little=little)
    report.add("beyond_memory", little["seconds"] / enough["seconds"])


if __name__ == "__main__":
    print(json.dumps(limited(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
