"""One writer at a time: the lock that a transaction holds from its start to its end, and what all
transactions do about that end.
"""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from lftj.engine.options import with_named_options
from lftj.engine.uncopied import Uncopied
from lftj.errors import TransactionError
from scantree.forking import put_right_in_child
from scantree.interrupts import raised_by_signal

Draft = TypeVar("Draft")


def no_attribute(workspace: object, transaction: type[object], name: str) -> AttributeError:
    """What to raise for an attribute that a workspace has not; who looks for what transactions do
    is told where it is.
    """
    problem = f"{type(workspace).__name__!r} object has no attribute {name!r}"
    if not name.startswith("_") and callable(getattr(transaction, name, None)):
        problem += f"; transactions have: with ws.transaction() as tx: tx.{name}(…)"
    return AttributeError(problem, name=name, obj=workspace)


def taken(lock: threading.Lock, seconds: float) -> bool:
    """Take a lock, waiting so long for it: whether it is taken now. Where an interrupt (Ctrl-C) is
    raised here, it is not.

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
    """Held by at most one transaction. Knows its thread, so that a second transaction in the same
    thread is an error, not a deadlock.

    Whoever gives it back clears `owner` and releases `lock`, on the spot where an interrupt must
    not come before it.
    """

    def __init__(self, timeout: float):
        self.timeout = timeout
        self.lock = threading.Lock()
        self.owner: int | None = None
        self.transaction: weakref.ref[Writing[Any]] | None = None
        """The one that held it last."""
        put_right_in_child(self, WriterLock._without_others)

    def _without_others(self) -> None:
        """In a forked child: what another thread began nobody ends here, so it is over."""
        if self.owner == threading.get_ident() or not self.lock.locked():
            return
        if self.transaction is not None and (left := self.transaction()) is not None:
            left._leave_behind()
        self.owner, self.lock = None, threading.Lock()

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
        if not taken(self.lock, self.timeout):
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
        """For the length of a block. Raises as `acquire`."""
        self.acquire()
        try:
            yield
        finally:
            self.owner = None
            self.lock.release()


@with_named_options
class Writing(Uncopied, Generic[Draft]):
    """A transaction from its start to its end: it holds the writer lock and a draft, which `commit`
    carries out and `rollback` forgets.
    """

    _ended: str | None = "never started"

    kind, instead = "transaction", "commit it, then hand on tx.changes(name)"

    def __init__(self, writer: WriterLock):
        """Raises TransactionError (E322) inside another transaction of this thread, (E323) when
        waiting took too long.
        """
        self._draft: Draft | None = None
        self._writer = writer
        writer.acquire()
        try:
            writer.transaction = weakref.ref(self)
            self._draft = self._begin()
            self._ended = None
        except BaseException:  # Ctrl-C at the worst moment must not leave the lock with nobody
            writer.release()
            raise

    def _begin(self) -> Draft:
        """A draft of what is there now. With the lock held."""
        raise NotImplementedError

    def commit(self) -> int:
        """Make everything happen and return the version. On any error nothing has happened and the
        transaction is over.
        """
        raise NotImplementedError

    def rollback(self) -> None:
        """Forget everything; nothing has happened. A rolled back transaction may be rolled back
        again.
        """
        if self._ended == "committed":
            self._open()
        if self._ended is None:
            self._release()

    def _release(self) -> None:
        """The end: an interrupt comes before all of it or after."""
        self._ended, self._draft, self._writer.owner = self._ended or "rolled back", None, None
        self._writer.lock.release()

    def _leave_behind(self) -> None:
        """For a forked child: the transaction goes on in the parent alone."""
        self._ended, self._draft = (
            self._ended or "left to the process that this one was forked from",
            None,
        )

    def _open(self) -> Draft:
        if self._ended is not None or self._draft is None:
            hint = "start another one with ws.transaction()"
            raise TransactionError(f"this transaction is over ({self._ended})", hint=hint)
        return self._draft

    def _unfinished(self) -> TransactionError:
        hint = "commit first: leave the `with` block, or call tx.commit()"
        return TransactionError(
            f"there are no changes to show: the transaction is {self._ended or 'still open'}",
            hint=hint,
        )

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._ended is None:
                end = self.commit if kind is None else self.rollback
                end()
        except BaseException:
            if self._ended is None:  # Ctrl-C before either began
                self.rollback()
            raise
        if (raised := raised_by_signal(error)) is not None:
            raise raised from None

    def __del__(self) -> None:
        if self._ended is None:
            self.rollback()  # first: the warning may be an error
            message = (
                "a transaction was dropped without commit() or rollback(), and nothing of it "
                "has happened"
            )
            warnings.warn(message, RuntimeWarning, stacklevel=2)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {self._ended or 'open'}>"
