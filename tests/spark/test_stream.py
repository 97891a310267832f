"""Structured Streaming into a workspace: every micro-batch exactly once, whatever Spark gives
again.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import lftj
from tests.spark.graph import RULES, edges, expected, open_path, rows_of

BATCHES = [
    [(x, y, 1) for x, y in edges()],
    [(*edges()[0], -1), (3, 99, 1), (99, 5, 1)],
    [(3, 99, -1), (*edges()[0], 1), (*edges()[1], -1), (*edges()[1], 1)],
]
RESULT = sorted({*edges(), (99, 5)})


def write_batch(folder: Path, number: int) -> None:
    """One file of changes. Spark takes files by their times: as if they had been written an hour
    apart.
    """
    folder.mkdir(exist_ok=True)
    file, written = folder / f"{number}.parquet", time.time() + 3600 * number
    xs, ys, signs = zip(*BATCHES[number], strict=True)
    pyarrow.parquet.write_table(pa.table({"x": xs, "y": ys, "__diff__": signs}), file)
    os.utime(file, (written, written))


def stream_all(spark: Any, folder: Path, write: Any, checkpoint: str = "checkpoint") -> None:
    """Run the stream over the files that are there, a file a batch, to its end."""
    frame = (
        spark.readStream.schema("x long, y long, `__diff__` long")
        .option("maxFilesPerTrigger", "1")
        .parquet(str(folder))
    )
    writer = frame.writeStream.foreachBatch(write).option(
        "checkpointLocation", str(folder.parent / checkpoint)
    )
    writer.trigger(availableNow=True).start().awaitTermination()


def test_micro_batches_are_commits(spark: Any, tmp_path: Path) -> None:
    with open_path(spark, tmp_path / "path") as workspace:
        workspace.add_rules(f".decl e(x: number, y: number)\n{RULES}")
        before = workspace.version
        for number in range(len(BATCHES)):
            write_batch(tmp_path / "in", number)
        stream_all(spark, tmp_path / "in", workspace.feed("e", "edges"))
        assert workspace.version == before + len(BATCHES)
        assert rows_of(workspace) == expected(RESULT)


def test_a_batch_that_comes_again_is_passed_over(spark: Any, tmp_path: Path) -> None:
    with open_path(spark, tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "y": int})
        write = workspace.feed("e", "edges")

        def dies_after_its_commit(frame: Any, batch: int) -> None:
            write(frame, batch)
            if batch == 1:
                raise RuntimeError("before Spark noted that the batch is done")

        for number in range(len(BATCHES)):
            write_batch(tmp_path / "in", number)
        with pytest.raises(Exception, match="before Spark noted"):
            stream_all(spark, tmp_path / "in", dies_after_its_commit)
        version = workspace.version
    with open_path(spark, tmp_path / "path") as workspace:
        with workspace.transaction() as tx:
            tx.delete("e", [(99, 5)])  # which the batch that comes again had inserted
        stream_all(spark, tmp_path / "in", workspace.feed("e", "edges"))
        assert workspace.version == version + 2
        assert sorted(workspace["e"].fetchall()) == [row for row in RESULT if row != (99, 5)]


def test_batches_of_a_new_checkpoint_are_others(spark: Any, tmp_path: Path) -> None:
    with open_path(spark, tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "y": int})
        write_batch(tmp_path / "in", 0)
        stream_all(spark, tmp_path / "in", workspace.feed("e", "edges"))
        write_batch(
            tmp_path / "later", 1
        )  # another source, and so another checkpoint: its first batch has the number 0 too
        stream_all(
            spark, tmp_path / "later", workspace.feed("e", "edges"), "checkpoint of another source"
        )
        assert sorted(workspace["e"].fetchall()) == sorted({*edges()[1:], (3, 99), (99, 5)})


@pytest.mark.parametrize(("kind", "none"), [("int", None), ("double", float("nan"))])
def test_a_row_without_a_sign_is_an_error(
    spark: Any, tmp_path: Path, kind: str, none: float | None
) -> None:
    one = int if kind == "int" else float
    frame = spark.createDataFrame(
        [(1, 2, one(1)), (3, 4, none), (5, 6, one(0))], f"x long, y long, `__diff__` {kind}"
    )
    with open_path(spark, tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "y": int})
        version = workspace.version
        with pytest.raises(
            lftj.NullValueError, match=r'column "__diff__": NULL says neither'
        ) as caught:
            workspace.feed("e", "edges")(frame, 0)
        assert (caught.value.code, workspace.version) == ("E200", version)
        workspace.feed("e", "edges", nulls="drop")(frame, 0)
        assert workspace["e"].fetchall() == [(1, 2)]


def test_a_batch_is_read_once(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scans, scan = list[int](), lftj.SparkExecutor.scan

    def counted(*args: Any, **options: Any) -> list[Any]:
        scans.append(1)
        return scan(*args, **options)

    monkeypatch.setattr(lftj.SparkExecutor, "scan", counted)
    before = set(spark.sparkContext._jsc.getPersistentRDDs())
    rows = spark.createDataFrame(
        [(1, 2, -1), (1, 2, 3), (3, 4, 1), (5, 6, -2), (7, 8, 0)], "x long, y long, `__diff__` int"
    )
    with open_path(spark, tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", [(5, 6), (7, 8)])
        workspace.feed("e", "edges")(rows.repartition(5), 0)
        assert sorted(workspace["e"].fetchall()) == [(1, 2), (3, 4), (7, 8)]
        workspace.feed("e", "edges")(rows.where("`__diff__` = 0"), 1)
        assert len(scans) == 2
        assert set(spark.sparkContext._jsc.getPersistentRDDs()) <= before


@pytest.mark.parametrize(
    ("columns", "sign", "code", "said"),
    [
        ("1L x, 2L y", "__diff__", "E230", 'the frame has no column "__diff__"; it has x, y'),
        (
            "1L x, 2L y, true `__diff__`",
            "__diff__",
            "E210",
            'column "__diff__": expected numbers, found bool',
        ),
        ("1L x, 2L y, '1' `op`", "op", "E210", 'column "op": expected numbers, found string'),
    ],
)
def test_a_column_of_signs_that_is_none_is_told(
    spark: Any, tmp_path: Path, columns: str, sign: str, code: str, said: str
) -> None:
    with open_path(spark, tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "y": int})
        with pytest.raises(lftj.LftjError) as caught:
            workspace.feed("e", "edges", sign=sign)(spark.sql(f"select {columns}"), 0)
        assert (caught.value.code, caught.value.message) == (code, said)
        workspace.feed("e", "edges", sign="Op`.code")(
            spark.sql("select 1L x, 2L y, -1 `op``.code` union all select 3L, 4L, 1"), 0
        )
        assert workspace["e"].fetchall() == [(3, 4)]
