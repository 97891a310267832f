"""A driver of the cluster whose parts stay where they live, come elsewhere while their executor is
busy, and move when it is lost.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Thread
from typing import Any

import lftj
from bench.partition.cluster import session, until
from lftj.distributed.work import worker
from tests.spark.cluster import made, require_equal, roads
from tests.spark.tasks import sleep

PARTS = 8
SEATS = 4


def parts_here(path: str) -> tuple[int, frozenset[int]]:
    """In a worker: its process, and the parts of a path that it keeps."""
    return os.getpid(), frozenset(part for where, part in worker._worker.parts if where == path)


def executor_process(_: Any) -> int:
    """In a worker: the process of its executor, which started the one that it was forked from."""
    status = Path(f"/proc/{os.getppid()}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])


class Driver:
    """The same commits over parts and in one process."""

    def __init__(self, executor: lftj.SparkExecutor):
        self.executor, self._seed = executor, 10
        self.many, self.one = made(lftj.connect(executor=executor)), made(lftj.connect())

    def commit(self) -> int:
        """A commit of a few rows; how many parts were opened for it, or built."""
        self._seed += 1
        for workspace in (self.many, self.one):
            workspace.load("road", roads(self._seed, 6))
        cost = self.many.profile(last=1).iloc[0]
        return int(cost["opened"] + cost["built"])

    def settled(self) -> bool:
        """Tell whether a commit opened nothing, in all parts."""
        return self.commit() == 0 and self.many.profile(last=1).iloc[0]["parts"] == PARTS

    def require_one_copy(self) -> None:
        """Each part is kept by one worker, and each seat has as many."""
        kept = dict(self.executor.map(parts_here, [str(self.executor.path)] * PARTS))
        assert Counter(map(len, kept.values())) == {PARTS // SEATS: SEATS}, kept
        assert frozenset().union(*kept.values()) == frozenset(range(PARTS))

    def seats(self) -> dict[int, Any]:
        found = self.executor._seats.of(self.executor.spark.sparkContext, range(PARTS))
        assert found is not None
        return dict(enumerate(found))


def stay(driver: Driver) -> None:
    """No commit opens a part, though every executor has two workers that are idle."""
    assert [driver.commit() for _ in range(10)] == [0] * 10
    driver.require_one_copy()


def come_elsewhere(driver: Driver) -> None:
    """While an executor has other work, its parts are done by the other one: as right, and nothing
    is taken from those that live there.
    """
    homes = driver.seats()
    busy = [place for place, seat in homes.items() if seat.executor == homes[0].executor]
    other = lftj.SparkExecutor(driver.executor.spark, PARTS, path=driver.executor.path / "other")
    other._seats._at.update(homes)
    thread = Thread(target=other.map, args=(sleep, [4.0] * 2, busy[:2]))
    assert len({homes[place] for place in busy[:2]}) == 2
    thread.start()
    time.sleep(1.0)
    opened = driver.commit()
    was_busy = thread.is_alive()
    thread.join()
    assert opened == len(busy) or not was_busy
    require_equal(driver.many, driver.one)
    assert driver.commit() == 0  # at home again, where the commit between is caught up with
    driver.require_one_copy()


def move(driver: Driver) -> None:
    """The parts of an executor that dies go to others, and their share to the one that comes."""
    before = driver.seats()
    lost = driver.executor.map(executor_process, [None], [0])[0]
    os.kill(lost, signal.SIGKILL)
    until(lambda: before[0].executor not in {seat.executor for seat in driver.seats().values()})
    driver.commit()
    require_equal(driver.many, driver.one)
    until(lambda: len(set(driver.seats().values())) == SEATS)
    driver.commit()
    until(driver.settled)
    driver.require_one_copy()
    kept = [place for place, seat in driver.seats().items() if seat == before[place]]
    assert len(kept) == PARTS // 2


def drive(master: str, folder: Path) -> None:
    """All of it, in one session."""
    spark = session(master, {"spark.locality.wait": "500ms"})
    driver = Driver(lftj.SparkExecutor(spark, PARTS, path=folder / "path"))
    until(lambda: len(set(driver.seats().values())) == SEATS and driver.settled())
    for what in (stay, come_elsewhere, move):
        what(driver)
        require_equal(driver.many, driver.one)
    assert driver.many.verify() == []
    driver.many.close()
    spark.stop()


if __name__ == "__main__":
    from tests.spark import at_home as importable  # whose functions workers find by name

    importable.drive(sys.argv[1], Path(sys.argv[2]))
