"""Sources that Spark's executors read, against what pyarrow reads of the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.parquet
import pytest

import lftj
from tests.spark.graph import open_path

COLUMNS = {"x": int, "s": str, "day": "date"}


def partitioned(folder: Path) -> list[tuple[Any, ...]]:
    """Two days of rows, and what pyarrow reads of them."""
    for day in ("2026-01-01", "2026-01-02"):
        part = folder / f"day={day}"
        part.mkdir(parents=True)
        rows = pa.table({"x": [1, 2, int(day[-1])], "s": ["a", "é", day]})
        pyarrow.parquet.write_table(rows, part / "part.parquet")
    schema = pa.schema([("x", pa.int64()), ("s", pa.string()), ("day", pa.date32())])
    table = pyarrow.parquet.read_table(folder, schema=schema, partitioning="hive")
    return sorted({tuple(row.values()) for row in table.to_pylist()})


def test_each_source_has_the_rows_that_pyarrow_reads(spark: Any, tmp_path: Path) -> None:
    expected = partitioned(tmp_path / "in")
    frame = spark.createDataFrame(expected, "x long, s string, day date")
    frame.createOrReplaceTempView("days")
    frame.write.saveAsTable("days_kept", path=str(tmp_path / "kept"))
    frame.repartition(3).write.csv(str(tmp_path / "text"), header=True)
    frame.write.partitionBy("day").parquet(str(tmp_path / "sparks"))
    deltalake.write_deltalake(
        tmp_path / "lake",
        pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in expected]),
        partition_by=["day"],
    )
    sources = {
        "frame": frame,
        "view": "days",
        "table": "default.days_kept",
        "folder": tmp_path / "in",
        "of_spark": tmp_path / "sparks",
        "text": tmp_path / "text",
        "lake": tmp_path / "lake",
    }
    try:
        with open_path(spark, tmp_path / "path") as ws:
            ws.add_rules("".join(f".decl {n}(x: number, s: symbol, day: date)\n" for n in sources))
            for name, source in sources.items():
                assert ws.load(name, source) == len(expected), name
                assert sorted(ws[name].fetchall()) == expected, name
    finally:
        spark.sql("drop table days_kept")
        spark.catalog.dropTempView("days")


def test_a_feed_of_a_table_goes_on_after_opening(spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "lake")
    deltalake.write_deltalake(path, pa.table({"x": [1, 2, 2]}))
    for rows in ([1, 2], [2, 3]):
        with open_path(spark, tmp_path / "path") as ws:
            ws.relation("r", {"x": int})
            with ws.transaction() as tx:
                tx.apply_changes("r", deltalake.DeltaTable(path), feed="f")
            version = ws.version
            with ws.transaction() as tx:
                assert tx.apply_changes("r", deltalake.DeltaTable(path), feed="f") == 0
            assert ws.version == version
            assert sorted(ws["r"].fetchall()) == [(x,) for x in rows]
        deltalake.write_deltalake(path, pa.table({"x": [3]}), mode="append")
        deltalake.DeltaTable(path).delete("x = 1")


@pytest.mark.parametrize(
    ("column", "type", "said"),
    [
        ("X'00'", str, 'column "v": expected str, found binary'),
        ("array(1)", int, 'column "v": expected int, found list'),
        ("named_struct('a', 1)", int, 'column "v": expected int, found struct'),
        ("map('a', 1)", int, 'column "v": expected int, found map'),
        ("123456789012345678901.5BD", "decimal(18,2)", 'column "v": 123456789012345678901'),
    ],
)
def test_what_no_column_holds_is_named(
    spark: Any, tmp_path: Path, column: str, type: object, said: str
) -> None:
    with open_path(spark, tmp_path / "path") as ws:
        ws.relation("r", {"v": type})
        with pytest.raises(lftj.LftjError) as caught:
            ws.load("r", spark.sql(f"select {column} v"))
        assert said in str(caught.value)
        assert ws["r"].fetchall() == []
