"""Compiled and interpreted kernels give the same files for the golden programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.golden.cases import cases

RUN_ALL = """
import sys
from pathlib import Path
from lftj.cli import main
out, *folders = map(Path, sys.argv[1:])
for folder in folders:
    (out / folder.name).mkdir()
    arguments = [str(folder / "program.dl"), "-F", str(folder), "-D", str(out / folder.name)]
    assert main(["run", *arguments]) == 0, folder
"""

NAMES = (
    "transitive_closure",
    "triangles",
    "nested_negation",
    "head_aggregates",
    "arithmetic",
    "dates_and_decimals",
    "functions",
    "floats",
    "count_and_sum_of_groups",
)


def test_differential_without_compilation(tmp_path: Path):
    chosen = [case for case in cases() if case.folder.name in NAMES]
    assert len(chosen) == len(NAMES)
    folders = [str(case.folder) for case in chosen]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, str(tmp_path), *folders],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for case in chosen:
        written = {
            path.name: path.read_text(encoding="utf-8")
            for path in (tmp_path / case.folder.name).iterdir()
        }
        assert written == case.expected(), case.folder.name
