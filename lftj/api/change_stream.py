# SPDX-License-Identifier: Apache-2.0
"""Changes of a relation as they come: a stream to iterate over, and consumers that resume."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Protocol

from lftj.engine.calls.options import with_named_options
from lftj.engine.calls.uncopied import Uncopied
from lftj.engine.delivery.consumers import Position
from lftj.engine.live.timeline import Timeline
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import State
from lftj.errors import ConsumerError, DeclarationError, PastError

_LOOK = 0.05
"""Seconds between two looks at a log that another process writes."""


class Changes(Uncopied):
    """The changes of one relation, each a `Result` as `Transaction.changes` gives it: iterate with
    `for` or `async for`. Waits for the next commit; ends when the workspace is closed, or when
    nothing has come for `timeout` seconds.

    It holds the version that it reached, and no later one. So it never holds up a commit, and
    changes of versions that are not kept any more come as one.
    """

    kind, instead = "stream of changes", "begin another one: ws.changes(view, since=version)"

    def __init__(
        self,
        timeline: Timeline,
        relation: str,
        since: int,
        timeout: float | None,
        backlog: int | None,
    ):
        """For the workspace."""
        self._timeline, self._relation = timeline, relation
        self._timeout, self._backlog = timeout, backlog
        self._rows: Result | None = None
        """A change of rows that comes after one of the schema."""
        self._dropped = False
        self._hold(timeline.state(since))
        self._relation = timeline.name_at(relation, self._state)

    @property
    def version(self) -> int:
        """The version up to which changes were given."""
        return self._state.version

    def __iter__(self) -> Iterator[Result]:
        return self

    def __next__(self) -> Result:
        end = None if self._timeout is None else time.monotonic() + self._timeout
        while (found := self._following()) is None:
            left = None if end is None else max(0.0, end - time.monotonic())
            if self._dropped or not self._timeline.wait(self.version, left):
                raise StopIteration
        return found

    def __aiter__(self) -> AsyncIterator[Result]:
        return self

    async def __anext__(self) -> Result:
        import asyncio

        published = self._timeline.published
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        pause = None if self._timeline.writes else _LOOK
        end = None if self._timeout is None else loop.time() + self._timeout
        with published.waking(lambda: loop.call_soon_threadsafe(event.set)):
            while True:
                event.clear()
                if not self._timeline.writes:
                    await asyncio.to_thread(self._timeline.wait, self.version, 0)
                if (found := await asyncio.to_thread(self._following)) is not None:
                    return found
                left = None if end is None else end - loop.time()
                if self._dropped or published.ended or (left is not None and left <= 0):
                    raise StopAsyncIteration
                waits = min((each for each in (pause, left) if each is not None), default=None)
                try:
                    await asyncio.wait_for(event.wait(), waits)
                except TimeoutError:
                    continue

    def _following(self) -> Result | None:
        """The next change; None where there is none yet."""
        timeline = self._timeline
        if self._rows is not None:
            found, self._rows = self._rows, None
            return found
        while (
            not self._dropped
            and self.version < (last := timeline.last)
            and not timeline.published.ended
        ):
            target = self.version + 1
            if self._backlog is not None:
                target = max(target, last - self._backlog + 1)
            target = min(last, max(target, timeline.oldest))
            try:
                after = timeline.state(target)
            except PastError:  # let go of just now: the next look begins with another one
                if timeline.writes:
                    continue
                timeline.engine.refresh()
                after = timeline.state(timeline.last)
            altered = timeline.schema_change(self._relation, self._state, after)
            if altered is not None:
                self._relation = altered.relation
                self._dropped = altered.after is None
            change = None if self._dropped else self._change(after)
            self._hold(after)
            if altered is not None:
                self._rows = change if change is not None and len(change) else None
                altered.rows_follow = self._rows is not None
                return altered
            assert change is not None
            if len(change):
                return change
        return None

    def _hold(self, state: State) -> None:
        """Hold a version, and what its codes mean."""
        engine = self._timeline.engine
        self._state, self._arena, self._texts = state, engine.arena, engine.dictionary.texts()

    def _change(self, after: State) -> Result:
        """The change since the version that is held, perhaps in the memory of a reader that has
        begun anew.
        """
        timeline = self._timeline
        if self._arena is timeline.engine.arena:
            return timeline.change(self._relation, self._state, after)
        try:
            return timeline.change(self._relation, timeline.state(self.version), after)
        except PastError:
            return timeline.change_from(self._relation, self._state, self._texts, after)

    def __repr__(self) -> str:
        return f"<Changes of {self._relation} since version {self.version}>"


class Acknowledging(Protocol):
    """A transaction, with whose commit a consumer acknowledges what it was given."""

    def ack(self, consumer: Consumer, change: Result | int | None = None) -> None:
        """Acknowledge a change; see `Transaction.ack`."""
        ...


@with_named_options
class Consumer(Uncopied):
    """A reader of one relation's changes that the workspace knows by `name`. Iterate over it with
    `for` or `async for`, and `ack` what was dealt with: whoever asks for the consumer again, even
    after a crash, gets all that was not acknowledged.

    Versions from the acknowledged one on are kept until `ack` or `drop`.
    """

    kind, instead = "consumer", "ask for it by its name: ws.consumer(name, view)"

    def __init__(
        self,
        timeline: Timeline,
        name: str,
        position: Position,
        timeout: float | None,
        backlog: int | None,
    ):
        """For the workspace."""
        self.name, self.relation = name, position.relation
        self._timeline, self._timeout, self._backlog = timeline, timeout, backlog
        self._given = position.version

    @property
    def version(self) -> int:
        """The last version that was acknowledged. Raises ConsumerError (E372) after `drop`."""
        position = self._timeline.position(self.name)
        if position is None:
            raise ConsumerError(
                f"consumer {self.name!r} has ended", hint="begin it anew with ws.consumer(…)"
            )
        return position.version

    def __iter__(self) -> Iterator[Result]:
        for change in self._stream():
            self._given = _reached(change)
            yield change

    async def __aiter__(self) -> AsyncIterator[Result]:
        async for change in self._stream():
            self._given = _reached(change)
            yield change

    def _stream(self) -> Changes:
        return Changes(self._timeline, self.relation, self.version, self._timeout, self._backlog)

    def ack(self, change: Result | int | None = None, tx: Acknowledging | None = None) -> None:
        """Acknowledge a change and all before it; by default the last one that was given. Durable
        when it returns, where commits are.

        With a transaction it happens with its commit, or not at all, as by `tx.ack`. Raises
        ConsumerError (E372) for what was not given, TransactionError (E320), DurableError.
        """
        if tx is None:
            self._timeline.acknowledge(self.name, self.position(change))
        else:
            tx.ack(self, change)

    def position(self, change: Result | int | None = None) -> Position:
        """The position once a change is acknowledged, by default the last one that was given.
        Raises ConsumerError (E372).
        """
        version = self._given if change is None else _reached(change)
        if isinstance(version, bool) or not isinstance(version, int) or version > self._given:
            raise ConsumerError(
                f"consumer {self.name!r} was given changes up to version {self._given}, found "
                f"{version!r}",
                hint="acknowledge a change that it gave: consumer.ack(change)",
            )
        return Position(self.relation, max(version, self.version))

    def drop(self) -> None:
        """End it: what it has not acknowledged need not be kept."""
        self._timeline.acknowledge(self.name, None)

    def __repr__(self) -> str:
        return f"<Consumer {self.name} of {self.relation}>"


def _reached(change: Any) -> Any:
    """The version that is dealt with once a change is. After the change of a schema the rows of the
    same commit may be still to come.
    """
    version = getattr(change, "version", change)
    return version - 1 if getattr(change, "rows_follow", False) else version


def check_stream(timeout: object, backlog: object) -> None:
    """Raise DeclarationError (E160) for options of another kind."""
    numeric = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if timeout is not None and not (numeric and timeout >= 0):  # pyright: ignore[reportOperatorIssue]
        raise DeclarationError(
            f"timeout is a number of seconds, found {timeout!r}",
            hint="0 gives what is there, None waits for as long as it takes",
        )
    if backlog is not None and (
        isinstance(backlog, bool) or not isinstance(backlog, int) or backlog < 1
    ):
        raise DeclarationError(
            f"backlog is a number of changes, found {backlog!r}",
            hint="backlog=1 gives all that waits as one change",
        )
