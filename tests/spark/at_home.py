"""The driver of a cluster: its parts stay where they live, come elsewhere while their executor is
busy, and move when it is lost; a worker is stopped in a commit.

It writes what went wrong with each into a file, of which that is the name.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from threading import Thread
from typing import Any

import lftj
from bench.campaign import strikes
from bench.partition.cluster import session, until
from lftj.distributed.work import stage, worker
from tests.spark.cluster import made, require_equal, roads, stopped
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

    def struck(self, fault: str, number: int) -> None:
        """A commit in which a fault happens as the task of this number begins."""
        plain, folder = self.executor.map, self.executor.path.parent
        for mark in ("begun", "struck"):
            (folder / mark).unlink(missing_ok=True)

        def striking(task: Any, payloads: Any, *rest: Any, **others: Any) -> list[Any]:
            if task is stage.run_stage:
                each = (fault, number, str(folder), "", 0)
                task, payloads = strikes.run, [strikes.Struck(one, *each) for one in payloads]
            return plain(task, payloads, *rest, **others)

        self.executor.map = striking  # type: ignore[method-assign]
        try:
            self.commit()
        finally:
            self.executor.map = plain  # type: ignore[method-assign]
        assert (folder / "struck").exists()
        require_equal(self.many, self.one)

    def executors(self) -> set[str]:
        """The executors that there are."""
        return {seat.executor for seat in self.seats().values()}

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


def decommissioned(driver: Driver) -> None:
    """An executor is decommissioned as a task of it begins, and another one comes in its place."""
    before = driver.seats()
    driver.struck("executor decommissioned", PARTS + 1)
    until(lambda: not {seat.executor for seat in before.values()} <= driver.executors())
    until(lambda: len(set(driver.seats().values())) == SEATS)
    until(driver.settled)


def rows_lost(driver: Driver) -> None:
    """Rows that parts told each other are lost in a superstep: the commit begins again."""
    said = list[str]()
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("lftj").addHandler(handler)
    driver.struck("rows lost", PARTS + 1)
    assert any("begins again" in text for text in said), said


def drive(master: str, folder: Path) -> None:
    """All of it, in one session."""
    at_start = {
        "spark.locality.wait": "500ms",
        "spark.speculation": "true",
        "spark.speculation.interval": "50ms",
        "spark.speculation.efficiency.enabled": "false",
        "spark.speculation.minTaskRuntime": "50ms",
        "spark.speculation.multiplier": "1.01",
        "spark.speculation.quantile": "1.0",  # none, until another is set
        "spark.decommission.enabled": "true",
        "spark.storage.decommission.enabled": "false",
    }
    spark = session(master, at_start)
    driver = Driver(lftj.SparkExecutor(spark, PARTS, path=folder / "path"))
    until(lambda: len(set(driver.seats().values())) == SEATS and driver.settled())
    for what in (stay, come_elsewhere, move, decommissioned, rows_lost, stopped):
        said = ""
        try:
            what(driver)
            require_equal(driver.many, driver.one)
        except Exception:
            said = traceback.format_exc()
        (folder / what.__name__).write_text(said)
    assert driver.many.verify() == []
    driver.many.close()
    spark.stop()


if __name__ == "__main__":
    from tests.spark import at_home as importable  # whose functions workers find by name

    importable.drive(sys.argv[1], Path(sys.argv[2]))
