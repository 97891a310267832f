# SPDX-License-Identifier: Apache-2.0
"""Group commit: threads that wait for one another's commits share one sync.

Where other threads wait for the writer lock, a commit that is computed gives it back before it is
in the log. The next transaction begins with the state that it will leave. One of the threads writes
all commits that have gathered in one transaction of the log, and only then shows them, one after
the other; the next ones gather meanwhile. Where the log refuses, none of them has happened, nor any
that builds on them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from copy import copy
from sqlite3 import Connection
from typing import NamedTuple

from lftj.engine.durable.branch_tips import Kept
from lftj.engine.versions.state import State
from lftj.errors import DurableError
from lftj.scantree.frozen import record
from lftj.scantree.process.forking import put_right_in_child
from lftj.scantree.process.interrupts import interrupts_wait
from lftj.storage.durable.log import Commit


class Logged(NamedTuple):
    """A commit as it is to be logged: what comes `beside` it, all branches `after` it, the number
    of its changed rows, and the kernel steps that it took.
    """

    commit: Commit
    after: Kept
    beside: Callable[[Connection], None]
    rows: int
    steps: int


@record(eq=False)
class Waiting:
    """A commit that is computed and not yet in the log. `state`: of its branch, after it; `publish`
    shows it.
    """

    logged: Logged
    state: State
    publish: Callable[[], object]
    over: bool = False
    error: BaseException | None = None


class GroupCommit:
    """Commits that wait for the log, in their order."""

    def __init__(self, write: Callable[[Sequence[Logged]], None]):
        """`write`: writes commits to the log as one. Raises DurableError; then none is there."""
        self._write = write
        self._begin()
        put_right_in_child(self, GroupCommit._begin)  # they are the parent's

    def _begin(self) -> None:
        self._queue: tuple[Waiting, ...] = ()
        self._entering, self._writing = threading.Lock(), threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._queue)

    @property
    def last(self) -> Kept | None:
        """All branches after the last commit that waits; None where none does."""
        queue = self._queue
        return queue[-1].logged.after if queue else None

    def state(self, branch: int, published: State) -> State:
        """The state that the next commit of a branch begins with."""
        for each in reversed(self._queue):
            if each.logged.commit.branch == branch:
                return each.state
        return published

    def enter(self, each: Waiting, sound: Callable[[], bool]) -> None:
        """Have a commit wait, where what it builds on is still `sound`. With the writer lock held.
        Raises DurableError (E354).
        """
        with self._entering:
            self.require_sound(sound())
            self._queue += (each,)

    def wait(self, each: Waiting) -> None:
        """Wait until a commit is in the log and shown; this thread may be the one that writes.
        Without the writer lock. Raises DurableError; then it has not happened.
        """
        with interrupts_wait(), self._writing:
            if not each.over:
                self._write_all()
        if each.error is not None:
            raise copy(each.error) from each.error

    def flush(self) -> None:
        """Write and show all that waits. Errors go to those who wait."""
        if self._queue:
            with interrupts_wait(), self._writing:
                self._write_all()

    def _write_all(self) -> None:
        batch = self._queue
        try:
            if batch:
                self._write([each.logged for each in batch])
        except BaseException as reason:
            with self._entering:
                lost, self._queue = self._queue, ()
            for each in lost:
                each.error, each.over = reason, True
            return
        for each in batch:
            try:
                each.publish()
            except BaseException as reason:  # those after it are in the log, too
                each.error = reason
            with self._entering:
                self._queue = self._queue[1:]
            each.over = True

    @staticmethod
    def require_sound(sound: bool) -> None:
        """Raise DurableError (E354) where a commit that another one builds on was not written."""
        if not sound:
            raise DurableError(
                "the commit before this one, of another thread, was not written",
                code="E354",
                hint="see why that one failed, and try again",
            )
