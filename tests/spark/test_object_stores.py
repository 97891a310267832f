"""A workspace on Spark whose files are objects of a server that speaks S3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from bench.partition.seaweed import BUCKET, seaweed
from lftj.partition.address import CACHE


def test_parts_of_spark_live_in_objects(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache of the driver"))
    edges = [(x, x * 7 % 50) for x in range(200)]
    spark.createDataFrame(edges, ["x", "y"]).write.parquet(str(tmp_path / "edges"))

    def opened() -> lftj.Workspace:
        executor = lftj.SparkExecutor(
            spark, 2, path=f"s3a://{BUCKET}/flights", storage_options=server
        )
        assert repr(executor) == f"<SparkExecutor, 2 partitions, s3://{BUCKET}/flights>"
        return lftj.connect(executor=executor)

    with seaweed(tmp_path / "server") as server:
        with opened() as big:
            edge = big.relation("edge", {"x": int, "y": int})
            assert big.load(edge, str(tmp_path / "edges")) == 200
            big.add_rules("""
              .decl two(x: number, n: number)
              two(x, count()) :- edge(x, y), edge(y, z).
            """)
            with big.transaction() as tx:
                tx.insert(edge, [(1, 2)])
            assert tx.changes("edge").fetchall() == [(1, 2, 1, big.version)]
            with pytest.raises(lftj.DistributedError, match="is in use"):
                opened()
        monkeypatch.setenv(CACHE, str(tmp_path / "another cache"))
        with opened() as big:
            with big.transaction() as tx:
                tx.delete("edge", [(1, 2)])
            assert sorted(big["edge"].fetchall()) == sorted(edges)
            assert big["two"].to_spark().count() == len(big["two"])
            assert not big.verify()
