# SPDX-License-Identifier: Apache-2.0
"""One writer at a time: the lock that a transaction holds from its start to its end."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from lftj.errors import TransactionError
from lftj.scantree.process.forking import put_right_in_child


class Holder(Protocol):
    """A transaction, as its lock knows it."""

    def _leave_behind(self) -> None:
        """End in a forked child: the transaction goes on in the parent alone."""
        ...


def taken(lock: threading.Lock, seconds: float) -> bool:
    """Take a lock, waiting so many seconds for it, and return True if it is taken. Where an
    interrupt (Ctrl-C) is raised here, it is not.

    Python handles signals where a function of its own begins, and where one of C's has returned,
    whose result is lost then. So what takes the lock also writes down that it did, in one call of
    C's.
    """
    answers: list[bool] = []
    try:
        answers.extend(
            map(
                lock.acquire,
                (seconds > 0,),
                (min(seconds, threading.TIMEOUT_MAX) if seconds > 0 else -1,),
            )
        )
    except BaseException:
        if answers == [True]:
            lock.release()
        raise
    return answers[0]


class WriterLock:
    """Lock of at most one transaction at a time. It knows its thread, so that a second transaction
    in the same thread is an error, not a deadlock.

    The holder gives it back by clearing `owner` and releasing `lock`, on the spot where an
    interrupt must not come before it.
    """

    def __init__(self, timeout: float):
        self.timeout = timeout
        self.lock = threading.Lock()
        self.owner: int | None = None
        self.waiting: dict[int, None] = {}
        """Threads that wait for it."""
        self.flush: Callable[[], None] = lambda: None
        """Called by `held` with the lock: finishes what was left to be done without it."""
        self.transaction: weakref.ref[Holder] | None = None
        """Transaction that held it last."""
        put_right_in_child(self, WriterLock._without_others)

    def _without_others(self) -> None:
        """Take the lock away, in a forked child, from a transaction of another thread, which nobody
        ends here.
        """
        if self.owner == threading.get_ident() or not self.lock.locked():
            return
        if self.transaction is not None and (left := self.transaction()) is not None:
            left._leave_behind()
        self.owner, self.lock, self.waiting = None, threading.Lock(), {}

    @property
    def mine(self) -> bool:
        """True when this thread holds the lock."""
        return self.owner == threading.get_ident()

    def acquire(self) -> None:
        """Take the lock, waiting up to `timeout` seconds for another thread's transaction. Raises
        TransactionError (E322, E323).
        """
        thread = threading.get_ident()
        if self.owner == thread:
            hint = "use the open transaction, or end it first with commit() or rollback()"
            raise TransactionError(
                "this thread already has an open transaction on the workspace",
                code="E322",
                hint=hint,
            )
        self.waiting[thread] = None
        try:
            locked = taken(self.lock, self.timeout)
        finally:
            del self.waiting[thread]  # no call, where an interrupt would leave the lock taken
        if not locked:
            hint = "end the other transaction, or wait longer: lftj.connect(writer_timeout=seconds)"
            raise TransactionError(
                f"another thread's transaction is still open after {self.timeout:g} s",
                code="E323",
                hint=hint,
            )
        self.owner = thread

    def release(self) -> None:
        """Give the lock back; any thread may do it."""
        self.owner = None
        self.lock.release()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock for the length of a block. Raises as `acquire`."""
        self.acquire()
        try:
            self.flush()
            yield
        finally:
            self.owner = None
            self.lock.release()
