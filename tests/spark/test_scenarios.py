"""The scenarios of every workspace, on real Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lftj
from tests.unit.api.scenarios import Scenarios


class TestOnSpark(Scenarios):
    """Data in two parts, with Spark's executors."""

    stride = 9

    @pytest.fixture
    def ws(self, spark: Any, tmp_path: Path) -> Iterator[lftj.Workspace]:
        executor = lftj.SparkExecutor(spark, 2, path=tmp_path / "parts")
        with lftj.connect(executor=executor, writer_timeout=0.05) as workspace:
            yield workspace
