"""A forked child reads what its parent had, whatever other threads of the parent were doing."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

import lftj
from lftj.storage.index import LazyIndex
from lftj.syntax import parser

PATIENCE = 60.0


def told_by_child(action: Callable[[], object]) -> str:
    """Run `action` in a forked child and return its output, or say that it did not end."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, repr(action()).encode())
        finally:
            os._exit(0)
    os.close(write)
    try:
        ready = select.poll()  # which does not mind how many files are open
        ready.register(read)
        ended = ready.poll(1000 * PATIENCE)
        if not ended:
            os.kill(child, signal.SIGKILL)
        return os.read(read, 1000).decode() if ended else "hangs"
    finally:
        os.waitpid(child, 0)
        os.close(read)


@contextmanager
def held_by_another_thread(lock, until: threading.Event) -> Iterator[None]:
    """The lock is another thread's until the event, or until this ends."""
    taken = threading.Event()

    def hold():
        with lock:
            taken.set()
            until.wait(PATIENCE)

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    try:
        yield
    finally:
        until.set()
        holder.join()


@pytest.fixture
def closure(ws):
    ws.add_rules(
        ".decl e(x: number, y: number)\n.decl r(x: number, y: number)\nr(x, y) :- e(x, y).\nr(x, "
        "z) :- r(x, y), e(y, z)."
    )
    ws.load("e", [(1, 2), (2, 3), (3, 4)])
    return ws


def test_locks_under_which_orders_are_made_are_free_in_a_child(closure):
    with ExitStack() as held:
        for version in closure._backend.state.database.values():
            held.enter_context(held_by_another_thread(version.lock, threading.Event()))
            for waiting in version._waiting.values():
                if isinstance(waiting, LazyIndex):
                    held.enter_context(
                        held_by_another_thread(waiting._making.lock, threading.Event())
                    )
        assert (
            told_by_child(
                lambda: (len(closure.query("e(x, y), e(y, z), r(z, x)")), closure.verify())
            )
            == "(0, [])"
        )


@pytest.mark.parametrize("lock", ["arena", "parser"])
def test_who_forks_waits_for_what_others_change(closure, lock):
    until = threading.Event()
    lock = closure._backend.arena.lock if lock == "arena" else parser._one_at_a_time
    with held_by_another_thread(lock, until):
        threading.Timer(0.2, until.set).start()
        assert told_by_child(lambda: closure.load("e", [(4, 5)])) == "1"
    assert len(closure["e"]) == 3


def in_another_thread(action):
    """Run `action` in a thread that ends, and return its result."""
    found = []
    thread = threading.Thread(target=lambda: found.append(action()))
    thread.start()
    thread.join()
    return found[0]


def test_a_child_writes_though_another_thread_had_a_transaction_open(closure):
    tx = in_another_thread(closure.transaction)
    tx.insert("e", [(4, 5)])

    def write():
        with pytest.raises(lftj.TransactionError, match="left to the process"):
            tx.commit()
        return closure.load("e", [(5, 6)]), sorted(closure["e"]), closure.verify()

    assert told_by_child(write) == "(1, [(1, 2), (2, 3), (3, 4), (5, 6)], [])"
    assert (tx.commit(), len(closure["r"])) == (3, 10)


def test_a_transaction_of_the_thread_that_forks_goes_on_in_the_child(closure):
    with closure.transaction() as tx:
        tx.insert("e", [(4, 5)])
        assert (
            told_by_child(lambda: (tx.commit(), closure.load("e", [(5, 6)]), len(closure["e"])))
            == "(3, 1, 5)"
        )
    assert len(closure["e"]) == 4


def test_a_child_tells_its_subscribers_though_another_thread_was_telling_some(closure):
    delivering, over, heard = threading.Event(), threading.Event(), []

    def callback(changes):
        if threading.current_thread() is not threading.main_thread():
            delivering.set()
            over.wait(PATIENCE)
        heard.append(changes.version)

    with closure.subscribe("e", callback):
        committing = threading.Thread(target=lambda: closure.load("e", [(4, 5)]))
        committing.start()
        delivering.wait(PATIENCE)
        found = told_by_child(lambda: (closure.load("e", [(5, 6)]), heard))
        over.set()
        committing.join()
    assert found == "(1, [3, 4])"
    assert heard == [3]


def test_a_child_that_a_callback_forks_tells_later_changes_when_the_callback_is_back(closure):
    heard = []

    def callback(changes):
        heard.append(changes.version)
        if len(heard) == 1:
            heard.append(told_by_child(lambda: (closure.load("e", [(5, 6)]), heard)))

    with closure.subscribe("e", callback):
        closure.load("e", [(4, 5)])
    assert heard == [3, "(1, [3])"]


def test_a_reader_finds_nothing_half_let_go_where_an_order_is_made(closure):
    for n in range(3):
        closure.load("e", [(10 + n, 11)])
    closure.query("e(x, 3)")
    closure.load("e", [(20, 11)])
    orders = [
        late
        for version in closure._backend.state.database.values()
        for late in version._waiting.values()
    ]
    waiting = next(late for late in orders if isinstance(late, LazyIndex))
    until, found = threading.Event(), []
    reader = threading.Thread(target=lambda: found.append(waiting.since_read()))
    with held_by_another_thread(waiting._making.lock, until):
        reader.start()
        reader.join(0.1)
        assert not found
    reader.join()
    assert len(found) == 1
