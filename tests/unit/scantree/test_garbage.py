"""Pauses of Python's collector: as long as they are wanted, and afterwards as before."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

import pytest

from lftj.scantree.process.garbage import collector_paused, resume_in_time


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if enabled else gc.disable)()


def test_the_collector_pauses_and_goes_on():
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_was_stopped_stays_so():
    gc.disable()
    with collector_paused(0.0):
        resume_in_time()
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_an_error_ends_the_pause():
    with pytest.raises(ZeroDivisionError), collector_paused():
        _ = 1 / 0
    assert gc.isenabled()


def test_a_pause_ends_in_time_and_once():
    with collector_paused():
        resume_in_time()
        assert not gc.isenabled()
    with collector_paused(0.0), collector_paused():
        resume_in_time()
        assert gc.isenabled()
        gc.disable()  # by someone else meanwhile
    assert not gc.isenabled()


def test_threads_pause_it_at_once():
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collector_paused():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with collector_paused():
        thread.start()
        inside.wait()
    assert gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("enabled", [True, False])
def test_a_child_that_is_forked_meanwhile_collects_as_before(enabled: bool):
    (gc.enable if enabled else gc.disable)()
    with collector_paused():
        child = os.fork()
        if not child:
            os._exit(int(gc.isenabled()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == enabled
