"""Workers are kept by a job now and then: not during another one, nor for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from lftj.partition import alive
from lftj.partition.alive import KeepAlive


class Owner:
    """One whose beats are counted; `during` is done in each."""

    def __init__(self, seconds: float, during: Callable[[], Any] = lambda: None):
        self.beats, self.during = 0, during
        self.alive = KeepAlive(self.beat, seconds)

    def beat(self) -> None:
        self.beats += 1
        self.during()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alive, "PERIOD", 0.02)


def comes(what: Callable[[], Any]) -> bool:
    end = time.monotonic() + 20
    while not what() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(what())


def job(owner: Owner) -> None:
    with owner.alive.job():
        pass


def test_beats_come_after_a_job_until_the_end() -> None:
    owner = Owner(60)
    assert owner.alive._thread is None  # nothing was done yet
    job(owner)
    assert comes(lambda: owner.beats > 2)
    owner.alive.end()
    assert comes(lambda: owner.alive._thread is None)
    before = owner.beats
    job(owner)
    assert comes(lambda: owner.beats > before)
    owner.alive.end()


def test_none_comes_during_a_job_and_no_job_during_one() -> None:
    inside = threading.Event()
    owner = Owner(60, lambda: time.sleep(0.05) if not inside.is_set() else pytest.fail("a job"))
    job(owner)
    for _ in range(5):
        assert comes(lambda: owner.alive._beating)
        with owner.alive.job():
            inside.set()
            assert not owner.alive._beating
            before = owner.beats
            time.sleep(0.1)
            assert owner.beats == before
            inside.clear()
    owner.alive.end()


@pytest.mark.parametrize("how", ["never", "for a while", "failed", "gone"])
def test_the_thread_ends_by_itself(how: str) -> None:
    owner = Owner(0 if how == "never" else 0.3 if how == "for a while" else 60)
    if how == "failed":
        owner.during = lambda: 1 / 0
    kept = owner.alive
    job(owner)
    assert how == "never" or comes(lambda: owner.beats)
    if how == "gone":
        del owner
    assert comes(lambda: kept._thread is None)
    if how == "failed":
        assert owner.beats == 1
