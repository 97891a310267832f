"""Places: as many as local mode has cores; on a cluster they live at seats of executors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from lftj.partition.executor import usable_cores
from lftj.partition.places import Seats, mapped, places_of


@dataclass
class FakeContext:
    """Stand-in for a SparkContext, with the calls of `mapped`. An RDD is its partitions; `made`:
    the environment and payloads of those that have an id.
    """

    master: str
    environment: dict[str, str] = field(default_factory=lambda: {"KEPT": "1"})
    made: list[tuple[dict[str, str], list[int]]] = field(default_factory=list)

    def parallelize(self, payloads: Sequence[int], partitions: int) -> FakeData:
        size = len(payloads) // partitions
        return FakeData(
            self,
            [list(payloads[size * number : size * (number + 1)]) for number in range(partitions)],
        )

    def union(self, tasks: Sequence[FakeData]) -> FakeData:
        return FakeData(self, [part for task in tasks for part in task.parts])


@dataclass
class FakeData:
    context: FakeContext
    parts: list[list[int]]

    def mapPartitions(self, run: Callable[[Iterable[int]], Iterator[int]]) -> FakeData:
        return FakeData(self.context, [list(run(part)) for part in self.parts])

    def id(self) -> None:
        self.context.made.append((self.context.environment, self.parts[0]))

    def collect(self) -> list[int]:
        return [result for part in self.parts for result in part]


def squares(payloads: Iterable[int]) -> Iterator[int]:
    return (payload * payload for payload in payloads)


@pytest.mark.parametrize(
    ("master", "places"),
    [("local", 1), ("local[3]", 3), ("local[2,4]", 2), ("local[*]", usable_cores())],
)
def test_local_mode_has_a_place_for_each_core(master: str, places: int) -> None:
    assert places_of(master) == places


@pytest.mark.parametrize(
    "master", ["local-cluster[2,1,1024]", "spark://host:7077", "yarn", "k8s://https://host"]
)
def test_a_cluster_has_none(master: str) -> None:
    assert places_of(master) is None


def test_payloads_of_one_place_are_one_task_in_its_environment() -> None:
    context = FakeContext("local[2]")
    assert mapped(context, squares, [5, 6, 7, 8], [3, 0, 1, 2]) == [25, 36, 49, 64]
    environments = [
        ({"KEPT": "1", "PARTITION_PLACE": place}, results)
        for place, results in (("1", [25, 49]), ("0", [36, 64]))
    ]
    assert context.made == environments
    assert context.environment == {"KEPT": "1"}


def test_an_environment_is_put_back_after_a_failure() -> None:
    context = FakeContext("local[2]")
    with pytest.raises(TypeError):
        mapped(context, squares, ["text"], [0])
    assert context.environment == {"KEPT": "1"}


def test_where_spark_chooses_each_payload_is_a_task() -> None:
    context = FakeContext("yarn")
    assert mapped(context, squares, [5, 6], [0, 0]) == [25, 36]
    assert context.made == []


# ── a cluster ─────────────────────────────────────────────────────────────────────────────────────
class Listed(list[Any]):
    """A list as Java has it."""

    def apply(self, number: int) -> Any:
        return self[number]

    def size(self) -> int:
        return len(self)

    def mkString(self, between: str) -> str:
        return between.join(self)


@dataclass
class FakeExecutor:
    name: str
    tasks: int = 2

    def id(self) -> str:
        return self.name

    def hostPort(self) -> str:
        return f"10.0.0.{self.name}:77"

    def maxTasks(self) -> int:
        return self.tasks


@dataclass
class FakeCluster:
    """The executors of a cluster, those that the status store knows of, as `Seats` asks."""

    there: list[FakeExecutor]
    noted: list[FakeExecutor] | None = None
    master: str = "spark://host:7077"
    asked: int = 0
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def _jsc(self) -> Any:
        return self

    def sc(self) -> Any:
        return self

    def getExecutorIds(self) -> Any:
        return Listed([each.id() for each in self.there])

    def statusStore(self) -> Any:
        return self

    def executorList(self, active: bool) -> Any:
        self.asked += 1
        driver = FakeExecutor("driver", 0)
        return Listed([*(self.there if self.noted is None else self.noted), driver])


def homes(seats: Seats, cluster: FakeCluster, places: int = 8) -> list[tuple[str, int]]:
    found = seats.of(cluster, range(places))
    assert found is not None
    return [(seat.executor, seat.slot) for seat in found]


def test_a_place_lives_where_it_lived_and_each_seat_has_as_many() -> None:
    cluster, seats = FakeCluster([FakeExecutor("1"), FakeExecutor("0")]), Seats(8)
    first = homes(seats, cluster)
    assert Counter(first) == {(executor, slot): 2 for executor in "01" for slot in (0, 1)}
    assert homes(seats, cluster) == first
    assert cluster.asked == 1  # while the executors are the same ones


def test_places_of_a_lost_executor_move_and_no_others() -> None:
    cluster, seats = FakeCluster([FakeExecutor("0"), FakeExecutor("1")]), Seats(8)
    first = homes(seats, cluster)
    cluster.there = [FakeExecutor("1"), FakeExecutor("2")]
    second = homes(seats, cluster)
    assert [new for old, new in zip(first, second, strict=True) if old[0] == "1"] == [
        old for old in first if old[0] == "1"
    ]
    assert set(Counter(second).values()) == {2}
    assert {executor for executor, _ in second} == {"1", "2"}


def test_a_new_executor_takes_its_share() -> None:
    cluster, seats = FakeCluster([FakeExecutor("0")]), Seats(8)
    first = homes(seats, cluster)
    cluster.there.append(FakeExecutor("1"))
    second = homes(seats, cluster)
    assert Counter(executor for executor, _ in second) == {"0": 4, "1": 4}
    assert sum(old == new for old, new in zip(first, second, strict=True)) == 4
    seat = seats.of(cluster, [0])
    assert seat is not None
    assert 0 in seats.here(seat[0])
    assert len(seats.here(seat[0])) == 2
    assert len(seats.one_of_each(cluster)) == 4


def test_executors_that_are_not_noted_yet_are_looked_for_again() -> None:
    both = [FakeExecutor("0"), FakeExecutor("1")]
    cluster, seats = FakeCluster(both, noted=[]), Seats(4)
    assert seats.of(cluster, range(4)) is None
    cluster.noted = both[:1]
    assert {executor for executor, _ in homes(seats, cluster, 4)} == {"0"}
    cluster.noted = both
    assert {executor for executor, _ in homes(seats, cluster, 4)} == {"0", "1"}


class Refusing(FakeCluster):
    """A cluster that tells its executors, and takes no preferences."""

    def parallelize(self, payloads: Sequence[Any], partitions: int) -> FakeData:
        return FakeContext("yarn").parallelize(payloads, partitions)


def test_a_spark_that_takes_no_preferences_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    context, seats = Refusing([FakeExecutor("0")]), Seats(2)
    for _ in range(3):
        assert mapped(context, squares, [5, 6], [0, 1], seats) == [25, 36]
    assert len(caplog.records) == 1
    assert context.environment == {}


def test_a_java_that_is_gone_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_: Any) -> Any:
        raise ConnectionRefusedError("Java has ended")

    monkeypatch.setattr(FakeCluster, "getExecutorIds", gone)
    seats = Seats(2)
    with pytest.raises(ConnectionRefusedError):
        seats.of(FakeCluster([FakeExecutor("0")]), [0])
    assert seats.preferring


def test_a_spark_that_tells_nothing_of_its_executors_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    context, seats = FakeContext("spark://host:7077"), Seats(2)
    for _ in range(3):
        assert mapped(context, squares, [5, 6], [0, 1], seats) == [25, 36]
    assert len(caplog.records) == 1
    assert "parts go to whichever worker is idle" in caplog.text
    assert seats.one_of_each(context) == []
