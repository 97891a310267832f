"""A cluster of two hosts, each of two cores: a worker that was stopped in a commit, and goes on
after it, harms nobody; parts stay where they live.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.partition.cluster import cluster
from lftj.partition.java import find_java


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the cluster's driver says what it did. A process has one session: it is
    another one, and does all in that.
    """
    folder = tmp_path_factory.mktemp("cluster")
    environment = {**os.environ, "JAVA_HOME": str(find_java({"PATH": ""}).home)}
    with cluster(folder, cores=2) as master:
        command = [sys.executable, "-m", "tests.spark.at_home", master, str(folder)]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=500, check=False
        )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def require_done(folder: Path, what: str) -> None:
    said = (folder / what).read_text()
    assert not said, said


@pytest.mark.parametrize("what", ["stay", "come_elsewhere", "move"])
def test_parts_live_where_they_are(driven: Path, what: str) -> None:
    require_done(driven, what)


@pytest.mark.parametrize("what", ["decommissioned", "rows_lost"])
def test_commits_begin_again(driven: Path, what: str) -> None:
    require_done(driven, what)


def test_a_worker_that_goes_on_after_the_commit(driven: Path) -> None:
    require_done(driven, "stopped")
    assert (driven / "written").exists()
