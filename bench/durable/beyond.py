"""Commits and point queries over a workspace larger than the memory that the process may have.

The limit is `RLIMIT_DATA`: private memory that can be written, so all but the mapped files. The
system keeps of these what it has room for. Both processes are the same but for the limit.
"""

from __future__ import annotations

import json
import resource
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


def limited(path: Path, turns: int, limit: int) -> dict[str, Any]:
    """Commit and query so many times with so many bytes of memory more than before; 0: any."""
    workspace = lftj.connect(path, read_only=True)
    _asked(workspace)
    workspace.close()  # the kernels are there
    if limit:
        held = _data() + limit
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
    for limit in (0, pages // LARGER):
        command = [sys.executable, "-m", "bench.durable.beyond", str(folder / "large.lftj")]
        done = subprocess.run(
            [*command, str(turns), str(limit)], check=True, stdout=subprocess.PIPE, text=True
        )
        found[limit] = json.loads(done.stdout)
    enough, little = found.values()
    require_equal("answers", len(found), 2)
    report.note(rows=rows, turns=turns, pages=pages, enough=enough, little=little)
    report.add("beyond_memory", little["seconds"] / enough["seconds"])


if __name__ == "__main__":
    print(json.dumps(limited(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
