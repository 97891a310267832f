"""A cluster of two hosts, each of two cores: a worker that was stopped in a commit, and goes on
after it, harms nobody; parts stay where they live.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.partition.cluster import cluster
from lftj.partition.java import find_java
from tests.depth import DEEP

pytestmark = pytest.mark.skipif(not DEEP, reason="a minute: HYPOTHESIS_PROFILE=deep runs it")


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with cluster(tmp_path_factory.mktemp("cluster"), cores=2) as address:
        yield address


def driven(module: str, master: str, folder: Path) -> None:
    """A process has one session: the cluster's driver is another one."""
    environment = {**os.environ, "JAVA_HOME": str(find_java({"PATH": ""}).home)}
    command = [sys.executable, "-m", module, master, str(folder)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_a_worker_that_goes_on_after_the_commit(master: str, tmp_path: Path) -> None:
    driven("tests.spark.cluster", master, tmp_path)
    assert (tmp_path / "written").exists()


def test_parts_stay_where_they_live(master: str, tmp_path: Path) -> None:
    driven("tests.spark.at_home", master, tmp_path)
