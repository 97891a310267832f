"""Data from elsewhere that is not what it says: an error, never the end of the process. What may
end it is read in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys


def test_damaged_data_is_refused_or_read() -> None:
    command = [sys.executable, "-m", "tests.unit.frames.damaged"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, ""), found.stdout
    lines = [line.split() for line in found.stdout.splitlines()]
    read = ["x.ipc", "x.arrow", "x.parquet", "x.csv", "x.facts", "rows", "workspace"]
    assert [line[0] for line in lines] == read, "damaged arrays were taken"
    assert all(int(taken) > 5 for _, taken, _ in lines)
    assert all(int(refused) > 5 for _, _, refused in lines)
