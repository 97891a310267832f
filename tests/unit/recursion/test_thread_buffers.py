"""Threads that add to one set of rows at the same time."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lftj.maintenance.semi_naive.row_set import RowSet
from lftj.maintenance.semi_naive.thread_buffers import ThreadBuffers
from lftj.partition.executor import ThreadExecutor

SPANS = {"dense": 60, "sparse": 10**7, "wide": 2**61}


@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize("expected", [0, 10, 2**61])
def test_each_row_is_new_to_one_of_the_threads(span: str, expected: int) -> None:
    by = random.Random(span)
    pool = [
        (
            by.randint(-9, 9) if by.random() < 0.5 else by.randint(0, SPANS[span]),
            by.randint(0, SPANS[span]),
        )
        for _ in range(3000)
    ]
    batches = [by.sample(pool, by.choice([1, 60, 1500])) for _ in range(40)]
    rows = RowSet(2, np.zeros(2), np.full(2, expected), ThreadExecutor(4))
    seen: set[tuple[int, ...]] = set()
    for half in (batches[:20], batches[20:]):
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda batch: rows.add(np.array(batch).T.copy(), np.arange(2)), half))
        found = list(zip(*(column.tolist() for column in rows.take_fresh()), strict=True))
        assert len(found) == len(set(found))
        assert set(found) == {row for batch in half for row in batch} - seen
        seen |= set(found)
        assert rows.count == len(seen)
    assert list(zip(*(column.tolist() for column in rows.columns()), strict=True)) == sorted(seen)


def test_who_is_alone_waits_until_nobody_adds() -> None:
    lanes, entered, order = ThreadBuffers(), threading.Event(), []

    def add() -> None:
        with lanes.lane(5, lambda more: False, lambda more: None):
            entered.set()
            order.append("adds")

    with lanes.lane(5, lambda more: False, lambda more: None):
        waiting = threading.Thread(target=lambda: _alone(lanes, order))
        waiting.start()
        adding = threading.Thread(target=add)
        adding.start()
        assert entered.wait(10)
        adding.join(10)
        order.append("done")
    waiting.join(10)
    assert order == ["adds", "done", "alone"]


def _alone(lanes: ThreadBuffers, order: list[str]) -> None:
    with lanes.alone():
        order.append("alone")


def test_a_set_that_others_may_fill_is_entered_when_they_are_done() -> None:
    lanes, grown = ThreadBuffers(), list[int]()
    asked: list[int] = []

    def full(more: int) -> bool:
        asked.append(more)
        return more > 8

    with lanes.lane(5, full, grown.append):
        another = threading.Thread(target=lambda: _enter(lanes, full, grown))
        another.start()
        while asked[-1] != 9:
            threading.Event().wait(0.001)
        assert another.is_alive()
    another.join(10)
    assert asked[-1] == 4
    assert not grown
    with lanes.lane(9, full, grown.append):
        assert grown == [9]


def _enter(lanes: ThreadBuffers, full: Callable[[int], bool], grown: list[int]) -> None:
    with lanes.lane(4, full, grown.append):
        pass
