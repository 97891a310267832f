from __future__ import annotations

import threading

import pytest

from lftj.engine.delivery.writer_lock import WriterLock
from lftj.errors import TransactionError


def test_a_second_transaction_of_the_thread_is_an_error():
    lock = WriterLock(1.0)
    lock.acquire()
    with pytest.raises(TransactionError, match="already has an open transaction") as caught:
        lock.acquire()
    assert caught.value.code == "E322"
    lock.release()
    lock.acquire()
    assert lock.mine


def test_another_thread_waits_and_gives_up():
    lock = WriterLock(0.02)
    lock.acquire()
    problems = []

    def other():
        try:
            lock.acquire()
        except TransactionError as error:
            problems.append(error)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert [error.code for error in problems] == ["E323"]
    assert "writer_timeout" in str(problems[0])


def test_another_thread_gets_the_lock_when_it_is_free():
    lock = WriterLock(10.0)
    lock.acquire()
    taken = threading.Event()

    def other():
        lock.acquire()
        taken.set()
        lock.release()

    thread = threading.Thread(target=other)
    thread.start()
    lock.release()
    thread.join()
    assert taken.is_set()
    assert not lock.mine
