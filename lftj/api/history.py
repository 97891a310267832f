# SPDX-License-Identifier: Apache-2.0
"""The past of a workspace, and the changes that its readers follow."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping

from lftj.api.backend import Backend
from lftj.api.change_stream import Changes, Consumer, check_stream
from lftj.api.delta_writing import written
from lftj.api.snapshot import Snapshot
from lftj.engine.calls.options import with_named_options
from lftj.engine.live.timeline import When
from lftj.engine.transaction.program_draft import RelationOrName
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import name_of
from lftj.errors import PastError
from lftj.frames import DeltaSink
from lftj.scantree.process.interrupts import interrupts_as_such


class ViewHistory(Result):
    """The change of one relation between two versions, as `Transaction.changes` gives it, all of it
    as one; `commits()` gives the change of each commit.
    """

    def __init__(self, change: Result, since: int, commits: Callable[[], Iterator[Result]]):
        """For the workspace."""
        super().__init__(
            change._typed_columns(),
            change._columns,
            len(change),
            change._texts,
            version=change.version,
            name=change.name,
        )
        self.since = since
        """The version before."""
        self._commits = commits

    def commits(self) -> Iterator[Result]:
        """The change of each commit that changed the relation, the oldest first. O(changes) where
        versions are held in memory; others are read from files.
        """
        return self._commits()


@with_named_options
class History(ABC):
    """Access to versions other than the last one. Not over parts: DistributedError (E400)."""

    @property
    @abstractmethod
    def _backend(self) -> Backend:
        """The open backend. Raises LftjError (E341) where it is closed."""

    @interrupts_as_such()
    def at(self, version: When) -> Snapshot:
        """A past version, by its number or by a moment at which it was the last one; a `datetime`
        without a zone is local time.

        O(1) where the version is held in memory; at a path others are read from the checkpoint
        before them and the log since, and the last ones that were read are held. Raises PastError
        (E371), which names the oldest version that is kept, DeclarationError (E160).
        """
        timeline = self._backend.timeline("at")
        return Snapshot(timeline.version(timeline.number(version)))

    @interrupts_as_such()
    def history(
        self, relation: RelationOrName, *, since: When | None = None, until: When | None = None
    ) -> ViewHistory:
        """The change of a relation between two kept versions, by default from the oldest to the
        last one: a `Result` with `__diff__` and `__version__`. Its `commits()` are the changes of
        each commit.

        O(change) where versions share pages, else O(rows). Where its schema changed between, rows
        are in the columns of the later version, and `commits()` tell of the change of the schema
        before those of the rows. Raises PastError (E371), UnknownNameError, DeclarationError
        (E160).
        """
        timeline = self._backend.timeline("history")
        name = timeline.schema(name_of(relation)).name
        first = timeline.oldest if since is None else timeline.number(since)
        last = timeline.last if until is None else timeline.number(until)
        if first > last:
            raise PastError(
                f"since={first} comes after until={last}", hint="write the earlier one as since="
            )
        before, after = timeline.state(first), timeline.state(last)
        change = timeline.change(timeline.name_at(name, after), before, after)
        return ViewHistory(change, first, lambda: timeline.changes(name, first, last))

    def log(self) -> Result:
        """The commits, the oldest first: `version`, `time` (local), `message`, `rows` that
        relations and views won and lost (`"edge +2, reach +5 -1"`), the `seconds` it took, and of
        its `program` the names of programs and how many rules and relations came and went
        (`"main: rules +1 -1"`).

        The log has the commits of kept versions, and in memory always the last 1,000 commits.
        """
        return self._backend.timeline("log").log()

    def changes(
        self,
        relation: RelationOrName,
        *,
        since: When | None = None,
        timeout: float | None = None,
        backlog: int | None = None,
    ) -> Changes:
        """The changes of a relation since a version, by default the last one, and future changes:
        `for change in ws.changes("reach")`, or `async for`.

        Waits for the next commit; with a `timeout` it ends when nothing has come for so many
        seconds, with 0 when all is given. `backlog`: versions that may wait; of more, the oldest
        come as one change. Where a commit changed the schema, an entry whose `kind` is `"schema"`,
        a `SchemaChange`, comes first, then the rows in the new columns; a relation that is renamed
        is followed, and the stream of one that is dropped ends with such an entry. Raises
        PastError (E371), UnknownNameError, DeclarationError (E160).
        """
        timeline = self._backend.timeline("ws.changes")
        check_stream(timeout, backlog)
        name = timeline.schema(name_of(relation)).name
        start = timeline.last if since is None else timeline.number(since)
        return Changes(timeline, name, start, timeout, backlog)

    @interrupts_as_such()
    def write_delta(
        self,
        relation: RelationOrName,
        address: str | os.PathLike[str],
        *,
        name: str,
        storage_options: dict[str, str] | None = None,
    ) -> int:
        """Have a table of Delta be equal to a relation or view, as of the last commit; returns its
        version. The first time the table is made, or gets all rows; then each call writes what
        changed since the one before, deletes and appends in one commit of Delta.

        Once, however often it is tried: that commit names `name` and the version (an application
        transaction of Delta), so what is there already is not written again, whichever process
        died when. Versions since are kept as for a consumer of this name, which ends by
        `ws.consumer(name, view).drop()`. After a change of its schema the table gets all rows.

        O(changes), and what Delta writes anew: files with rows that go. Raises FrameError (E232
        where it could not be written, E235 for a table with rows of others), ConsumerError (E372)
        for a name of another relation, MissingDependencyError (E250); not over parts:
        DistributedError (E400).
        """
        timeline = self._backend.timeline("write_delta")
        sink = DeltaSink(os.fspath(address), name, storage_options)
        return written(timeline, sink, name, name_of(relation))

    def consumer(
        self,
        name: str,
        relation: RelationOrName,
        *,
        since: When | None = None,
        timeout: float | None = None,
        backlog: int | None = None,
    ) -> Consumer:
        """The consumer of this name, or a new one, which begins at the last version, or `since`
        another; an existing one continues where it was. It gives the changes that were not
        acknowledged, and future ones.

        At a path it is durable: after a crash each change is given again or was acknowledged.
        `timeout` and `backlog` as for `changes`. Raises ConsumerError (E372) where the consumer
        reads another relation, and as `changes`; DurableError.
        """
        timeline = self._backend.timeline("consumer")
        check_stream(timeout, backlog)
        position = timeline.consumer(name, name_of(relation), since)
        return Consumer(timeline, name, position, timeout, backlog)

    @property
    def consumers(self) -> Mapping[str, Consumer]:
        """All consumers by name, in the order of their names."""
        timeline = self._backend.timeline("consumers")
        return {
            name: Consumer(timeline, name, position, None, None)
            for name, position in timeline.positions.items()
        }
