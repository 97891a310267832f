"""Places: as many as local mode has cores, none on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from lftj.partition.executor import usable_cores
from lftj.partition.places import mapped, places_of


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


def test_on_a_cluster_each_payload_is_a_task() -> None:
    context = FakeContext("yarn")
    assert mapped(context, squares, [5, 6], [0, 0]) == [25, 36]
    assert context.made == []
