# SPDX-License-Identifier: Apache-2.0
"""A transaction from its start to its end, over any backend.

A transaction holds the writer lock and a draft. Its commit makes the draft the next version, its
rollback discards the draft. Both give the lock back, whatever is raised meanwhile.
"""

from __future__ import annotations

import logging
import warnings
import weakref
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from lftj.engine.calls.options import with_named_options
from lftj.engine.calls.uncopied import Uncopied
from lftj.engine.delivery.subscription import Subscriptions
from lftj.engine.delivery.writer_lock import WriterLock
from lftj.engine.versions.result import Result
from lftj.errors import TransactionError
from lftj.scantree.process.garbage import collector_paused
from lftj.scantree.process.interrupts import interrupts_as_such, raised_by_signal

_log = logging.getLogger("lftj.commits")
_PAUSE = 0.1
"""Seconds of a commit in which no cyclic garbage is looked for: it makes none, its objects take the
place of as many, and to go through all objects of the process takes longer than most commits.
"""


class Committed(Protocol):
    """Changes that one commit made."""

    @property
    def version(self) -> int:
        """Number of the version that it made, or left as it was."""
        ...

    @property
    def work(self) -> int:
        """Kernel steps that it took."""
        ...

    def names(self) -> list[str]:
        """The relations that changed, sorted."""
        ...

    def of(self, name: str) -> Result:
        """The difference of one relation, with `__diff__` and `__version__`. Raises
        UnknownNameError.
        """
        ...

    def inserted(self, name: str) -> int:
        """Number of rows of its own that the relation won."""
        ...


class Pending(Protocol):
    """Operations that an open transaction has gathered."""

    committed: Committed | None
    """Changes of the commit, from the moment that they are true."""
    unlocked: bool
    """True once the commit has given the writer lock back, to wait for others without it."""

    def annotate(self, message: str) -> None:
        """Set the message that the commit is recorded with."""
        ...

    def discard(self) -> None:
        """Remove what was written ahead of a commit that does not happen."""
        ...


Draft = TypeVar("Draft", bound=Pending)


class Writable(Protocol[Draft]):
    """Parts of a backend that a transaction needs."""

    writer: WriterLock
    subscriptions: Subscriptions

    @property
    def version(self) -> int:
        """Number of the committed version."""
        ...

    def draft(self) -> Draft:
        """An empty draft on the committed version. With the writer lock held."""
        ...

    def commit(self, draft: Draft) -> None:
        """Make a draft the committed version, set its `committed` in the same moment, and queue its
        change sets for subscribers. On any error before that moment nothing has happened.
        """
        ...


@with_named_options
class Writing(Uncopied, Generic[Draft]):
    """Life of a transaction: begun with the writer lock taken, ended by `commit` or `rollback`."""

    _ended: str | None = "never started"

    kind, instead = "transaction", "commit it, then hand on tx.changes(name)"

    def __init__(self, backend: Writable[Draft]):
        """For the workspace. Raises TransactionError (E322) inside another transaction of this
        thread, (E323) when waiting took too long.
        """
        self._backend = backend
        self._draft: Draft | None = None
        self._committed: Committed | None = None
        self._writer = backend.writer
        self._writer.acquire()
        try:
            self._writer.transaction = weakref.ref(self)
            self._draft = self._begin()
            self._begun_on = backend.version
            self._ended = None
        except BaseException:  # Ctrl-C at the worst moment must not leave the lock with nobody
            self._writer.release()
            raise

    def _begin(self) -> Draft:
        """A draft on the committed version. With the lock held."""
        return self._backend.draft()

    @interrupts_as_such()
    def commit(self, message: str | None = None) -> int:
        """Make everything happen and return the version. On any error nothing has happened and the
        transaction is over. `message`: for `ws.log()`.

        Raises KeyViolationError, ValueRangeError, LimitError … Afterwards subscribers have been
        called.
        """
        draft = self._open()
        self._ended = "rolled back"
        try:
            with collector_paused(_PAUSE):
                if message is not None:
                    draft.annotate(self._text(message))
                self._backend.commit(draft)
        finally:
            if draft.committed is not None:  # an interrupt may have come after that
                self._committed, self._ended = draft.committed, "committed"
            try:
                if self._ended != "committed":
                    draft.discard()
            finally:  # as `_release`, at whose beginning an interrupt might be handled
                self._draft = None
                if not draft.unlocked:
                    self._writer.owner = None
                    self._writer.lock.release()
        if _log.isEnabledFor(logging.DEBUG):
            names = [] if self._committed is None else self._committed.names()
            _log.debug("version %d: %s", self.version, ", ".join(names) or "nothing changed")
        self._backend.subscriptions.deliver()
        return self.version

    def rollback(self) -> None:
        """Forget everything; nothing has happened. A rolled back transaction may be rolled back
        again.
        """
        if self._ended == "committed":
            self._open()
        if self._ended is None:
            self._release()

    def _release(self) -> None:
        """End the transaction and give the lock back, also where an interrupt comes meanwhile."""
        try:
            if self._draft is not None and self._ended != "committed":
                self._draft.discard()
        finally:
            self._ended, self._draft, self._writer.owner = self._ended or "rolled back", None, None
            self._writer.lock.release()

    def _leave_behind(self) -> None:
        """End in a forked child: the transaction goes on in the parent alone."""
        self._ended, self._draft = (
            self._ended or "left to the process that this one was forked from",
            None,
        )

    def _text(self, message: object) -> str:
        """The message. Raises TransactionError (E325) for what is no text."""
        if not isinstance(message, str):
            raise TransactionError(
                f"message={message!r} is no text", code="E325", hint='write message="why"'
            )
        return message

    def _open(self) -> Draft:
        """The draft. Raises TransactionError (E320) after the end."""
        if self._ended is not None or self._draft is None:
            hint = "start another one with ws.transaction()"
            raise TransactionError(f"this transaction is over ({self._ended})", hint=hint)
        return self._draft

    @property
    def version(self) -> int:
        """The version this transaction made; before its commit, and when it changed nothing, the
        one it started from.
        """
        return self._begun_on if self._committed is None else self._committed.version

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
