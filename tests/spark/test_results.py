"""Results on their way into Spark and back, without damage."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import pytest

import lftj

COLUMNS = {
    "i": int,
    "f": float,
    "s": str,
    "b": bool,
    "d": lftj.DATE,
    "t": lftj.TIMESTAMP,
    "m": lftj.decimal(10, 2),
}
ROWS = [
    (
        2**63 - 1,
        0.1,
        "ä\n",
        True,
        datetime.date(2013, 1, 31),
        datetime.datetime(2013, 3, 31, 2, 30, 0, 7),
        decimal.Decimal("1.50"),
    ),
    (
        -(2**63),
        -1e308,
        "",
        False,
        datetime.date(1, 1, 1),
        datetime.datetime(9999, 12, 31, 23, 59, 59),
        decimal.Decimal("-12345678.99"),
    ),
]


@pytest.mark.parametrize("rows", [ROWS, []], ids=["rows", "empty"])
def test_every_type_there_and_back(spark: Any, rows: list[tuple[object, ...]]) -> None:
    workspace = lftj.connect()
    workspace.relation("all", COLUMNS)
    workspace.load("all", rows)
    frame = workspace["all"].to_spark()
    assert sorted(map(tuple, frame.collect())) == sorted(rows)
    again = lftj.connect()
    again.relation("all", COLUMNS)
    again.load("all", frame)
    assert again["all"].types == workspace["all"].types
    assert sorted(again["all"].fetchall()) == sorted(rows)


def test_without_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lftj.partition.spark.active_session", lambda: None)
    workspace = lftj.connect()
    workspace.relation("r", {"x": int})
    with pytest.raises(lftj.DistributedError, match="no Spark session is active") as caught:
        workspace["r"].to_spark()
    assert caught.value.code == "E404"


def test_what_is_held_is_readable_after_compactions(spark: Any, tmp_path: Path) -> None:
    executor = lftj.SparkExecutor(spark, 2, path=tmp_path)
    with lftj.connect(executor=executor) as workspace:
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", [(1, 2)])
        workspace.load("e", [(2, 3)])
        workspace.load("e", [(3, 4)])
        snapshot, result = workspace.snapshot(), workspace["e"]
        frame = result.to_spark().filter("x < 3")  # of what it was made of, Python holds nothing
        for number in range(3):
            workspace.load("e", [(10 + number, 0)])
            workspace.compact()
        assert sorted(map(tuple, frame.collect())) == [(1, 2), (2, 3)]
        assert (
            sorted(result.to_spark().collect())
            == sorted(snapshot["e"].fetchall())
            == [(1, 2), (2, 3), (3, 4)]
        )


def test_a_result_whose_files_are_gone_says_what_to_do(spark: Any, tmp_path: Path) -> None:
    executor = lftj.SparkExecutor(spark, 2, path=tmp_path)
    with lftj.connect(executor=executor) as workspace:
        workspace.relation("e", {"x": int})
        workspace.load("e", [(1,)])
        workspace.load("e", [(2,)])
        result = workspace["e"]
    with lftj.connect(executor=executor) as workspace:
        workspace.load("e", [(3,)])
        workspace.compact()
    for read in (lambda: result.to_spark(), lambda: result.write_parquet(str(tmp_path / "out"))):
        with pytest.raises(lftj.DistributedError, match="ask again") as caught:
            read()
        assert caught.value.code == "E403"


def test_a_compaction_removes_the_files_of_frames_that_are_gone(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = lftj.SparkExecutor(spark, 2, path=tmp_path)
    watches, used = list[Any](), executor.used

    def watched(frame: Any) -> Any:
        watches.append(used(frame))
        return watches[-1]

    monkeypatch.setattr(executor, "used", watched)
    with lftj.connect(executor=executor) as workspace:
        workspace.relation("e", {"x": int})
        for number in range(3):
            workspace.load("e", [(number,)])
        frame = workspace["e"].to_spark().filter("x < 2")
        other = workspace["e"].to_spark()
        first = {file.name for file in (tmp_path / "rows").iterdir()}

        def left() -> set[str]:
            """The files that the frames read, after other rows and a compaction."""
            workspace.load("e", [(100 + len(workspace["e"]),)])
            workspace.compact()
            return first & {file.name for file in (tmp_path / "rows").iterdir()}

        assert left() == left() != set()
        assert sorted(map(tuple, frame.collect())) == [(0,), (1,)]
        # Java's collector clears references to what nobody has any more, when it likes.
        watches[0].reference.clear()
        assert left() == left() != set()
        assert other.count() == 3
        watches[1].reference.clear()
        assert left() == set()
