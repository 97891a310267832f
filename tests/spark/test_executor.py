"""Tasks in Spark's Python workers: results in order, workers that last, and what happens when they
do not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lftj
from bench.partition.cluster import until
from lftj.partition import alive
from lftj.partition.spark import SparkExecutor, TaskFailedError, task_name
from tests.spark import tasks


@pytest.fixture
def executor(spark: Any, tmp_path: Path) -> SparkExecutor:
    return SparkExecutor(spark, 4, path=tmp_path)


def test_results_come_in_the_order_of_the_payloads(executor: SparkExecutor) -> None:
    assert executor.map("math:sqrt", [n * n for n in range(9)]) == list(range(9))
    assert executor.map(tasks.count_rows, []) == []


def test_workers_are_used_again_with_what_they_left(executor: SparkExecutor) -> None:
    executor.map(tasks.number_of_the_call, range(4))
    calls = executor.map(tasks.number_of_the_call, range(4)) + executor.map(
        tasks.number_of_the_call, range(4)
    )
    assert max(calls for _, calls in calls) >= 2
    assert len({process for process, _ in calls}) <= 4


def test_a_place_keeps_its_process(executor: SparkExecutor) -> None:
    first = executor.map(tasks.number_of_the_call, range(5), [0, 1, 1, 0, 2])
    again = executor.map(tasks.number_of_the_call, range(3), [1, 0, 1])
    processes = [process for process, _ in first]
    assert (
        processes[1] == processes[2] != processes[0] == processes[3] == processes[4]
    )  # there are two cores
    assert [process for process, _ in again] == [processes[1], processes[0], processes[1]]
    assert again[0][1] == first[2][1] + 1


def test_a_dead_worker_is_replaced(executor: SparkExecutor, tmp_path: Path) -> None:
    assert executor.map(tasks.die_the_first_time, [str(tmp_path / "died")]) == ["done"]


def test_a_task_that_keeps_failing_fails_the_job(executor: SparkExecutor) -> None:
    with pytest.raises(TaskFailedError, match="ValueError: no way"):
        executor.map(tasks.fail, ["no way"])
    assert executor.map("math:sqrt", [4]) == [2]


def test_a_frame_is_scanned_where_it_is(executor: SparkExecutor) -> None:
    frame = executor.spark.range(0, 10, 1, 3)
    assert sorted(executor.scan(frame, tasks.count_rows, 10)) == [30, 30, 40]


def test_a_frame_of_what_tasks_yield(executor: SparkExecutor) -> None:
    schema = pa.schema([("n", pa.int64()), ("square", pa.int64())])
    frame = executor.frame(tasks.squares, [range(3), range(3, 5)], schema)
    assert sorted(map(tuple, frame.collect())) == [(n, n * n) for n in range(5)]
    assert frame.rdd.getNumPartitions() == 2
    assert executor.frame(tasks.squares, [], schema).collect() == []


def test_only_what_can_be_imported_is_a_task() -> None:
    assert task_name(tasks.fail) == "tests.spark.tasks:fail"
    with pytest.raises(ValueError, match="cannot be imported"):
        task_name(lambda payload: payload)


@pytest.mark.parametrize("partitions", [0, 2.5, "2"])
def test_no_partitions_is_an_error(spark: Any, tmp_path: Path, partitions: Any) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        SparkExecutor(spark, partitions, path=tmp_path)


def test_numbers_of_numpy_are_numbers(spark: Any, tmp_path: Path) -> None:
    partitions: Any = np.int64(3)
    assert type(SparkExecutor(spark, partitions, path=tmp_path).partitions) is int


def test_no_session_is_an_error(tmp_path: Path) -> None:
    session: Any = "local[2]"
    with pytest.raises(TypeError, match="expected a Spark session, found 'local"):
        SparkExecutor(session, 2, path=tmp_path)


def test_a_rest_uses_the_worker_of_each_seat(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = SparkExecutor(spark, 4, path=tmp_path)
    before = dict(executor.map(tasks.number_of_the_call, range(4)))
    monkeypatch.setattr(alive, "PERIOD", 0.05)
    monkeypatch.setattr("lftj.partition.spark.nothing", tasks.number_of_the_call)
    plain, beats = executor._beat, list[None]()
    monkeypatch.setattr(SparkExecutor, "_beat", lambda self: beats.append(plain()))
    executor = SparkExecutor(spark, 4, path=tmp_path)
    executor.map(tasks.number_of_the_call, range(4))
    until(lambda: len(beats) > 1)
    executor.end_keeping()
    after = executor.map(tasks.number_of_the_call, range(4))
    assert {process for process, _ in after} == set(before)
    for process, calls in after:
        assert calls >= before[process] + 2 + len(beats)
    executor.end_keeping()


def test_a_closed_workspace_keeps_no_workers(spark: Any, tmp_path: Path) -> None:
    executor = lftj.SparkExecutor(spark, 2, path=tmp_path)
    with lftj.connect(executor=executor) as workspace:
        workspace.relation("e", {"x": int})
        workspace.load("e", [(1,), (2,)])
        assert executor._alive._thread is not None
    until(lambda: executor._alive._thread is None)
    never = lftj.SparkExecutor(spark, 2, path=tmp_path, keep_alive=0)
    with lftj.connect(executor=never) as workspace:
        workspace.load("e", [(3,)])
        assert never._alive._thread is None
