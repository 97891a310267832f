"""Copies of the checkout, and tests that run in them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.mutants.planted import ROOT

HERE = Path(__file__).parent
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "build", "dist", "site", "*.pyc"
)
NOT_COUNTED = (
    "tests/differential/test_record.py",
    "tests/unit/bench/test_journey.py",
    "tests/unit/test_mutants.py",
)
"""Tests that notice any other way of doing something, and so tell nothing of a wrong one."""
_UNSHRUNK = {"HYPOTHESIS_PROFILE": "unshrunk"}
"""Bugs are not told from one another, so no example of one has to be small."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """Tests that failed, in how many seconds; `stopped`: they took longer than they may."""

    failed: tuple[str, ...]
    seconds: float
    stopped: bool = False

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the checkout as it is, with the kernels that are compiled."""
    with tempfile.TemporaryDirectory(prefix="lftj-mutant-") as folder:
        root = Path(folder) / "checkout"
        shutil.copytree(ROOT, root, ignore=LEFT_OUT, symlinks=True)
        yield root


def sources() -> str:
    """A hash of all Python files of packages and tests, but for those of this one."""
    found = hashlib.sha256()
    for package in ("lftj", "partition", "scantree", "sensitivity", "tests"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.parent != HERE:
                found.update(path.read_bytes())
    return found.hexdigest()[:16]


def run(
    root: Path,
    tests: Sequence[str],
    environment: Sequence[tuple[str, str]] = (),
    most: int = 5,
    seconds: float = 1_800,
    processes: str = "0",
) -> Run:
    """Run tests in a copy until `most` of them have failed."""
    words = [sys.executable, "-m", "pytest", "-q", "-n", processes, "-p", "no:cacheprovider"]
    words += ["-rfE", "--tb=no", "--no-header", f"--maxfail={most}", *tests]
    words += [f"--ignore={each}" for each in NOT_COUNTED]
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            words,
            cwd=root,
            env={**os.environ, **_UNSHRUNK, "PYTHONPATH": str(root), **dict(environment)},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        stopped = False
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            stopped = True
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
                process.wait()
        output.seek(0)
        said = output.read().decode(errors="replace")
    failed = tuple(dict.fromkeys(_FAILED.findall(said)))
    if not stopped and not failed and process.returncode not in (0, 1):
        failed = (f"pytest ended with {process.returncode}: {said[-300:]}",)
    return Run(failed, time.monotonic() - started, stopped)
