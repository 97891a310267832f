"""One test class over each backend that needs no Spark, and one annotation for all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lftj
from tests.distributed.inline import InlineExecutor
from tests.type_checking import diagnostics, error_lines
from tests.unit.api.scenarios import Scenarios


class TestInMemory(Scenarios):
    """Data in this process."""

    @pytest.fixture
    def ws(self) -> Iterator[lftj.Workspace]:
        with lftj.connect(writer_timeout=0.05) as workspace:
            yield workspace


class TestAtAPath(Scenarios):
    """Data in this process, and in files."""

    @pytest.fixture
    def ws(self, tmp_path: Path) -> Iterator[lftj.Workspace]:
        with lftj.connect(tmp_path / "w.lftj", writer_timeout=0.05) as workspace:
            yield workspace


class TestInParts(Scenarios):
    """Data in parts, on an executor in this process."""

    @pytest.fixture
    def ws(self, tmp_path: Path) -> Iterator[lftj.Workspace]:
        executor: Any = InlineExecutor(tmp_path / "parts", 3, workers=2)
        with lftj.connect(executor=executor, writer_timeout=0.05) as workspace:
            yield workspace


ANNOTATED = """
import pyspark.sql
import lftj


def changes(ws: lftj.Workspace, rows: list[tuple[int, int]]) -> lftj.Result:
    with ws.transaction() as tx:
        tx.insert("edge", rows)
    reveal_type(tx)
    reveal_type(ws.snapshot())
    reveal_type(ws.plan())
    reveal_type(ws.plan(ws.rules[0], passes=True))
    return tx.changes("edge")


def both(spark: pyspark.sql.SparkSession) -> list[lftj.Workspace]:
    near = lftj.connect(trace_budget=0)
    far = lftj.connect(executor=lftj.SparkExecutor(spark, path="/shared"))
    reveal_type(far)
    changes(near, [(1, 2)])
    changes(far, [(1, 2)])
    changes(far, ["wrong"])
    return [near, far]
"""


def test_one_annotation_is_for_both(tmp_path: Path) -> None:
    found = diagnostics(ANNOTATED, tmp_path)
    revealed = [
        each["message"].rpartition(" is ")[2].strip('"')
        for each in found
        if each["severity"] == "information"
    ]
    assert revealed == ["Transaction", "Snapshot", "PlanReport", "PlanReport", "Workspace"], found
    assert error_lines(found) == [
        ANNOTATED.splitlines().index('    changes(far, ["wrong"])') + 1
    ], found
