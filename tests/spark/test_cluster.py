"""A cluster of two hosts that repeats slow tasks: a worker that was stopped in a commit, and goes
on after it, harms nobody.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from lftj.partition.java import find_java


def test_a_worker_that_goes_on_after_the_commit(tmp_path: Path) -> None:
    environment = {**os.environ, "JAVA_HOME": str(find_java({"PATH": ""}).home)}
    command = [sys.executable, "-m", "tests.spark.cluster", str(tmp_path)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert (tmp_path / "written").exists()
