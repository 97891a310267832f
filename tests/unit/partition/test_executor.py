"""Results in order, failures in their place, and no thread that outlives its call."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from lftj.partition.executor import ThreadExecutor, usable_cores


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_payloads(threads: int):
    def slower_at_first(payload: int) -> int:
        time.sleep(0.01 if payload < 3 else 0)
        return payload * payload

    assert list(ThreadExecutor(threads).map(slower_at_first, range(40))) == [
        payload * payload for payload in range(40)
    ]


def test_several_threads_work_at_once():
    meeting = threading.Barrier(3, timeout=10)
    assert len(list(ThreadExecutor(3).map(lambda _: meeting.wait(), range(3)))) == 3


def test_no_more_is_begun_than_a_caller_keeps_up_with():
    begun: list[int] = []
    results = ThreadExecutor(2).map(begun.append, range(1000))
    next(iter(results))
    time.sleep(0.05)
    assert len(begun) < 20
    results.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_failure_in_order_is_the_one_that_is_raised(threads: int):
    def fails(payload: int) -> int:
        if payload >= 5:
            time.sleep(0.02 if payload == 5 else 0)
            raise RuntimeError(str(payload))
        return payload

    found: list[int] = []
    with pytest.raises(RuntimeError, match="5"):
        found.extend(ThreadExecutor(threads).map(fails, range(50)))
    assert found == [0, 1, 2, 3, 4]


def test_a_failure_stops_what_runs_and_drops_what_waits():
    stop = threading.Event()
    begun: list[int] = []
    stopped: list[bool] = []

    def works(payload: int) -> None:
        begun.append(payload)
        if payload == 0:
            raise TimeoutError("of the task's own")
        stopped.append(stop.wait(10))
        time.sleep(0.1)

    with pytest.raises(TimeoutError, match="own"):
        list(ThreadExecutor(2).map(works, range(1000), stop=stop))
    assert all(stopped)
    assert len(begun) <= 4


def test_one_thread_is_the_callers():
    assert (
        list(ThreadExecutor(1).map(lambda _: threading.get_ident(), range(3)))
        == [threading.get_ident()] * 3
    )


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ValueError])
def test_what_the_waiting_caller_meets_stops_everything(raised: type[BaseException]):
    stop = threading.Event()
    calls = iter(range(10))

    def meanwhile() -> None:
        if next(calls) == 3:
            raise raised

    with pytest.raises(raised):
        list(
            ThreadExecutor(2).map(lambda _: stop.wait(10), range(8), stop=stop, meanwhile=meanwhile)
        )


def test_threads_are_as_many_as_cores_unless_said():
    assert ThreadExecutor().workers == usable_cores() == len(os.sched_getaffinity(0))
    assert [ThreadExecutor(threads).parts for threads in (1, 8, 20)] == [32, 32, 80]
    assert repr(ThreadExecutor(2, parts=7)) == "ThreadExecutor(threads=2, parts=7)"
    for wrong in ({"threads": 0}, {"parts": -1}, {"threads": 1.5}, {"threads": "2"}):
        with pytest.raises(ValueError, match="at least 1"):
            ThreadExecutor(**wrong)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_together_the_caller_works_too(threads: int):
    workers: set[int] = set()

    def square(payload: int) -> int:
        workers.add(threading.get_ident())
        time.sleep(0.001)
        return payload * payload

    assert ThreadExecutor(threads).together(square, range(40)) == [
        payload * payload for payload in range(40)
    ]
    assert len(workers) == threads
    assert threading.get_ident() in workers


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("by_caller", [False, True])
def test_together_what_was_raised_first_is_raised_and_stops_the_others(
    threads: int, by_caller: bool
):
    stop, caller = threading.Event(), threading.get_ident()
    done: list[int] = []

    def fails(payload: int) -> None:
        if payload >= 4 and (threads == 1 or (threading.get_ident() == caller) == by_caller):
            raise RuntimeError("first")
        done.append(payload)
        time.sleep(0.001)
        if payload >= 4 and stop.wait(5):
            raise RuntimeError("later")

    with pytest.raises(RuntimeError, match="first"):
        ThreadExecutor(threads).together(fails, range(10_000), stop=stop)
    assert stop.is_set()
    assert len(done) < 100


def test_together_a_failure_drops_what_waits():
    done: list[int] = []

    def works(payload: int) -> None:
        if payload == 0:
            raise ValueError
        done.append(payload)
        time.sleep(0.001)

    with pytest.raises(ValueError):  # noqa: PT011
        ThreadExecutor(3).together(works, range(5000))
    assert len(done) < 1000


def test_together_the_caller_looks_around_while_it_waits():
    caller = threading.get_ident()
    enough = threading.Event()
    looks: list[int] = []

    def task(payload: int) -> None:
        if threading.get_ident() != caller:
            assert enough.wait(10)

    def look() -> None:
        looks.append(1)
        if len(looks) > 5:
            enough.set()
        if len(looks) > 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ThreadExecutor(2).together(
            lambda payload: (task(payload), time.sleep(0.01)), range(200), meanwhile=look
        )


def test_together_all_threads_have_ended_before_an_interrupt_goes_on():
    stop, busy, caller = threading.Event(), threading.Event(), threading.get_ident()
    ended: list[int] = []

    def task(payload: int) -> None:
        if threading.get_ident() == caller:
            assert busy.wait(10)
            return
        busy.set()
        assert stop.wait(10)
        time.sleep(0.05)
        ended.append(payload)

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ThreadExecutor(2).together(task, range(2), stop=stop, meanwhile=interrupted)
    assert len(ended) == 1


@pytest.mark.parametrize("started", range(3))
def test_where_the_system_allows_fewer_threads_those_and_the_caller_do_it_all_once(
    started: int, monkeypatch: pytest.MonkeyPatch
):
    start, left = threading.Thread.start, [0]

    def refused(thread: threading.Thread) -> None:
        if left[0] == 0:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        start(thread)

    done: list[int] = []

    def task(number: int) -> int:
        time.sleep(0.001)
        done.append(number)
        return number * number

    monkeypatch.setattr(threading.Thread, "start", refused)
    for how in (ThreadExecutor(3).map, ThreadExecutor(3).together):
        left[0] = started
        done.clear()
        assert list(how(task, range(40))) == [number * number for number in range(40)]
        assert sorted(done) == list(range(40))


def test_another_reason_for_which_a_thread_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch):
    def refused(_thread: threading.Thread) -> None:
        raise RuntimeError("threads can only be started once")

    monkeypatch.setattr(threading.Thread, "start", refused)
    for how in (ThreadExecutor(3).map, ThreadExecutor(3).together):
        with pytest.raises(RuntimeError, match="only be started once"):
            list(how(abs, range(3)))


AT_THE_END = """
import atexit, threading, time
from lftj.partition.executor import ThreadExecutor

def square(number):
    time.sleep(0.01)
    return number * number

def work():
    executor = ThreadExecutor(2)
    mapped, together = list(executor.map(square, range(30))), executor.together(square, range(30))
    print(mapped == together == [number * number for number in range(30)])

threading.Thread(target=work).start()
atexit.register(work)
"""


def test_where_the_interpreter_ends_the_caller_works_alone():
    """A thread that the interpreter waits for is in the middle of its work then, and what `atexit`
    calls begins after that.
    """
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("True\nTrue\n", "")


def test_together_no_thread_is_needed_where_none_is_started_any_more(
    monkeypatch: pytest.MonkeyPatch,
):
    def too_late(_thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", too_late)
    assert ThreadExecutor(3).together(str, range(5)) == list("01234")
