"""Refusals before anything starts, and the names of our jobs on Spark's pages."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import lftj
from tests.spark import tasks


@pytest.mark.parametrize(
    "path",
    ["hdfs://host:1/flights", "dbfs:/flights", "file://host/f", "ftp://host/f"],
)
def test_an_address_is_no_path(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for given in (path, Path(path)):
        with pytest.raises(lftj.DistributedError, match="is an address") as caught:
            lftj.SparkExecutor(spark, path=given)
        assert (caught.value.code, caught.value.hint.split(",")[0]) == (
            "E400",
            "give a folder that driver and executors see under one name",
        )
    assert not list(tmp_path.iterdir())


def test_the_address_of_a_local_folder_is_that_folder(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "two words").mkdir()
    assert (
        lftj.SparkExecutor(spark, path=(tmp_path / "two words").as_uri()).path
        == tmp_path / "two words"
    )


def test_connect_sessions_are_refused_by_name(tmp_path: Path) -> None:
    session: Any = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(lftj.DistributedError, match="Spark Connect") as caught:
        lftj.SparkExecutor(session, path=tmp_path / "none")
    assert caught.value.code == "E400"
    assert "lftj.local_spark()" in caught.value.hint
    assert not list(tmp_path.iterdir())


def _property(spark: Any, name: str) -> Any:
    return spark.sparkContext.getLocalProperty(name)


def test_jobs_say_what_they_are_for(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = lftj.SparkExecutor(spark, 2, path=tmp_path)
    seen, run = list[tuple[Any, Any]](), executor.map

    def seeing(*given: Any, **more: Any) -> list[Any]:
        seen.append(
            (_property(spark, "spark.job.description"), _property(spark, "spark.jobGroup.id"))
        )
        return run(*given, **more)

    monkeypatch.setattr(executor, "map", seeing)
    spark.sparkContext.setJobDescription("mine")
    try:
        with lftj.connect(executor=executor) as workspace:
            workspace.add_rules(".decl e(x: number, y: number) .decl v(y: number) v(y) :- e(_, y).")
            workspace.load("e", [(1, 2), (2, 3)])
            workspace.query("e(x, 3)")
        assert _property(spark, "spark.job.description") == "mine"
        assert _property(spark, "spark.jobGroup.id") is None
    finally:
        spark.sparkContext.setLocalProperty("spark.job.description", None)
    said = {description.split(" of ")[0] for description, _ in seen}
    assert said == {"lftj: commit 1", "lftj: commit 2", "lftj: query"}
    assert all(group == description for description, group in seen)


def test_an_interrupt_leaves_the_description_as_it_was(spark: Any, tmp_path: Path) -> None:
    executor = lftj.SparkExecutor(spark, 2, path=tmp_path)

    def interrupt() -> None:
        time.sleep(2)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    helper = threading.Thread(target=interrupt)
    spark.sparkContext.setJobDescription("mine")
    try:
        helper.start()
        with pytest.raises(KeyboardInterrupt), executor.described("ours"):
            executor.map(tasks.sleep, [20])
        helper.join()
        assert _property(spark, "spark.job.description") == "mine"
        assert _property(spark, "spark.jobGroup.id") is None
    finally:
        signal.signal(signal.SIGINT, before)
        spark.sparkContext.setLocalProperty("spark.job.description", None)
