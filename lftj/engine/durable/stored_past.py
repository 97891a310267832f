# SPDX-License-Identifier: Apache-2.0
"""Past versions of a workspace at a path: the nearest checkpoint before a version, and the log from
there to it, followed as one change. Pages are mapped into the memory of the workspace, so what two
versions share they share here.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

from lftj.engine.calls.limits import short_of_memory
from lftj.engine.delivery.consumers import Position
from lftj.engine.durable.checkpoint import OpenedRecord
from lftj.engine.durable.replay import replayed
from lftj.engine.versions.noted_work import Noted
from lftj.engine.versions.past import Entry
from lftj.engine.versions.state import State
from lftj.errors import DurableError, PastError
from lftj.program.schema import Catalog
from lftj.scantree import Arena
from lftj.storage.delta import Delta
from lftj.storage.durable.log import Commit, Log
from lftj.storage.durable.log_branches import LAST, Line, commits_of, on_line
from lftj.storage.durable.log_records import (
    RecordDamagedError,
    read_notes,
    read_positions,
    write_note,
    write_positions,
)
from lftj.storage.durable.packed_changes import unpacked
from lftj.storage.durable.stored_pages import NOT_TO_BE_HAD, StoredPages

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

_REACHED = 8
"""Past versions that are held once they were read."""
_PIECE = 256
"""Commits that are read from the log at once."""
Reached = tuple[State, int, int]
"""A state, and the number and checksum of its commit."""


class Files(Protocol):
    """Files of a workspace, as their past needs them."""

    write: bool
    pages: StoredPages

    @property
    def log(self) -> Log:
        """The log. Raises DurableError (E350) in a forked child."""
        ...

    def line(self, engine: Engine) -> Line:
        """The commits that lead to a branch."""
        ...

    def strange(self) -> list[int]:
        """Checkpoints that this process cannot open."""
        ...

    def storing(self) -> AbstractContextManager[object]:
        """For the length of a block, no checkpoint is written."""
        ...

    def damaged(self, reason: BaseException) -> DurableError:
        """The error for files that are not what was written."""
        ...


class StoredPast:
    """Versions that the log leads to. Any thread may read; a commit never waits for one."""

    def __init__(self, durable: Files, engine: Engine):
        self._durable, self._engine = durable, engine
        self._number = engine.number
        self._lock = threading.RLock()
        self._reached: OrderedDict[int, Reached] = OrderedDict()
        self._worker: tuple[Arena, Engine] | None = None

    # ── what is kept ──────────────────────────────────────────────────────────────────────────────
    def oldest(self) -> int:
        """The oldest version that is kept, and that files still lead to."""
        with self._reading() as connection:
            stored, wanted = self._first_stored(connection), self._first_wanted(connection)
        pinned = self._engine.past.pinned
        return max(stored, wanted if pinned is None else min(wanted, pinned))

    def _first_stored(self, connection: sqlite3.Connection) -> int:
        """The first version from which on commits or checkpoints lead to all."""
        (gap,) = connection.execute(
            "SELECT max(number) FROM commits WHERE rows = x'' "
            "AND number NOT IN (SELECT number FROM checkpoints)"
        ).fetchone()
        first = connection.execute(
            "SELECT number, length(rows) FROM commits ORDER BY number LIMIT 1"
        ).fetchone()
        if gap is None and (first is None or (first[0] == 1 and first[1])):
            return 0
        (point,) = connection.execute(
            "SELECT min(number) FROM checkpoints WHERE number > ?", (gap or 0,)
        ).fetchone()
        return self._version_at(connection, 0 if point is None else point)

    def _version_at(self, connection: sqlite3.Connection, number: int) -> int:
        """The version that the branch had after a commit of any branch."""
        found = connection.execute(
            f"SELECT version FROM {self._commits()} WHERE number <= ? ORDER BY number DESC LIMIT 1",
            (number,),
        ).fetchone()
        if found is not None:
            return found[0]
        found = connection.execute(
            f"SELECT version FROM {self._commits()} ORDER BY number LIMIT 1"
        ).fetchone()
        return self._engine.state.version if found is None else max(0, found[0] - 1)

    def last(self) -> int:
        """The version of the last commit in the log."""
        with self._reading() as connection:
            return self._version_at(connection, LAST)

    def _commits(self) -> str:
        """The commits that lead to this branch, as SQL."""
        return commits_of(self._line, self._durable.log.format)

    @property
    def _line(self) -> Line:
        return self._durable.line(self._engine)

    def _first_wanted(self, connection: sqlite3.Connection) -> int:
        keep = self._engine.past.keep
        last = self._engine.state.version
        if keep.versions is not None:
            return max(0, last - keep.versions + 1)
        if keep.seconds is None:
            return 0
        found = connection.execute(
            f"SELECT version FROM {self._commits()} WHERE time <= ? ORDER BY number DESC LIMIT 1",
            (time.time() - keep.seconds,),
        ).fetchone()
        return 0 if found is None else found[0]

    def needed(self) -> int | None:
        """The number of the commit from which on all are to be reached, for consumers too; None
        where nobody asked for the past.
        """
        needed: list[int] = []
        with self._reading() as connection:
            versions = [] if self._engine.past.pinned is None else [self._engine.past.pinned]
            if self._engine.past.keep.asked:
                versions.append(self._first_wanted(connection))
            for version in versions:
                found = self._number_of(connection, version)
                needed.append(found or 0)
        return min(needed, default=None)

    def entries(self) -> list[Entry]:
        """The records of the commits that are kept, and made a version."""
        oldest = self.oldest()
        with self._reading() as connection:
            noted = self._durable.log.format > 1
            notes = read_notes(connection, self._commits(), noted=noted)
        before = [0, *(version for version, _, _ in notes)]
        return [
            Entry(
                version,
                moment,
                note.get("message"),
                {name: won for name, (won, _) in note.get("rows", {}).items() if won},
                {name: lost for name, (_, lost) in note.get("rows", {}).items() if lost},
                note.get("seconds", 0.0),
                note.get("program", ""),
                tuple(Noted(*each) for each in note.get("works", ())),
            )
            for (version, moment, note), earlier in zip(notes, before, strict=False)
            if version >= oldest and version > earlier
        ]

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        log = self._durable.log
        with log.reading() as connection:
            try:
                yield connection
            except RecordDamagedError as reason:
                raise log.damaged(str(reason)) from None

    # ── versions ──────────────────────────────────────────────────────────────────────────────────
    def state(self, version: int) -> State | None:
        """A version; None where it is not kept. Raises DurableError (E353)."""
        with self._reading() as connection:
            found = self._number_of(connection, version)
        state = None if found is None else self.reach(found)[0]
        return None if state is None or state.version != version else state

    def reach(self, number: int) -> Reached:
        """The state after a commit, with what its views are maintained with. O(commits since the
        checkpoint, or since another that was reached). Raises DurableError, LimitError (E333).
        """
        short = short_of_memory("the version was not opened", "hold fewer versions at a time")
        with self._lock, short:
            engine = self._following()
            if number in self._reached:
                self._reached.move_to_end(number)
                return self._reached[number]
            try:
                found = self._from_reached(engine, number) or self._from_files(engine, number)
            except DurableError:
                raise
            except NOT_TO_BE_HAD as reason:
                raise self._durable.damaged(reason) from reason
            self._reached[number] = found
            while len(self._reached) > _REACHED:
                self._reached.popitem(last=False)
            return found

    def logged(self, version: int, catalog: Catalog) -> Iterator[tuple[int, dict[str, Delta]]]:
        """The changes of base rows by the commits that led to a version, each with the version that
        it made, the last first; as far as the log has them, and of the relations that a catalog has
        alone, since they began. Raises DurableError.
        """
        log = self._durable.log
        with self._reading() as connection:
            last = self._number_of(connection, version) or 0
        first, first_sum = log.oldest()
        while last > first:
            start = max(first, last - _PIECE)
            before = log.sum_of(start) if start > first else first_sum
            commits = None if before is None else log.since(start, before, last)
            for commit in reversed(commits or ()):
                if not commit.rows:
                    return
                if on_line(commit.branch, commit.number, self._line):
                    schemas = catalog.relations_of(commit.version)
                    dictionary = self._engine.dictionary
                    yield commit.version, unpacked(commit.rows, schemas, dictionary, alone=True)
            if commits is None:
                return
            last = start

    def _following(self) -> Engine:
        """An engine over this memory that follows commits, and disturbs nobody who commits."""
        main = self._engine
        if self._worker is None or self._worker[0] is not main.arena:
            self._reached.clear()
            worker = main.sibling()
            worker.state = worker.blank()
            worker.past.begin(worker.state)  # it holds no version
            self._worker = main.arena, worker
        return self._worker[1]

    def _from_reached(self, engine: Engine, number: int) -> Reached | None:
        """Follow a state shortly before that was reached already; None where there is none."""
        before = max((each for each in self._reached if each < number), default=None)
        if before is None:
            return None
        state, first, sum_ = self._reached[before]
        found = self._durable.log.before(number, skip=self._durable.strange())
        if found is not None and found[0] is not None and found[0].number > first:
            return None
        commits = self._durable.log.since(first, sum_, number)
        if not commits:
            return None
        return self._followed(engine, state, commits), number, commits[-1].sum

    def _followed(self, engine: Engine, state: State, commits: Sequence[Commit]) -> State:
        """The state after those of these commits that lead to this branch."""
        line = self._line
        own = [each for each in commits if on_line(each.branch, each.number, line)]
        return replayed(engine, state, own).state if own else state

    def _from_files(self, engine: Engine, number: int) -> Reached:
        durable = self._durable
        with durable.storing():  # no checkpoint removes the files of this one meanwhile
            found = durable.log.before(number, skip=durable.strange())
            if found is None and not durable.write:
                raise PastError(
                    "the checkpoint that this reader opened is not kept any more",
                    hint="ws.refresh() opens a newer one, then ask again",
                )
            if found is None:
                raise durable.log.damaged(f"commits before {number} are missing")
            point, commits = found
            state, sum_ = engine.blank(), 0
            if point is not None:
                opened = OpenedRecord(engine, point.record, durable.pages)
                state, sum_ = opened.tip(self._line).state, point.sum
        if commits:
            state, sum_ = self._followed(engine, state, commits), commits[-1].sum
        return state, number, sum_

    def _number_of(self, connection: sqlite3.Connection, version: int) -> int | None:
        """The number of the last commit that made a version or one before. Where there is none in
        the log, that of its first commit, or 0 where the log has all.
        """
        found = connection.execute(
            f"SELECT number FROM {self._commits()} WHERE version <= ? ORDER BY number DESC LIMIT 1",
            (version,),
        ).fetchone()
        if found is not None:
            return found[0]
        (first,) = connection.execute("SELECT min(number) FROM commits").fetchone()
        if version < 0:
            return None
        return 0 if first is None or first == 1 else first

    # ── what is written ───────────────────────────────────────────────────────────────────────────
    def beside(
        self,
        connection: sqlite3.Connection,
        number: int,
        entry: Entry,
        positions: Mapping[str, Position],
    ) -> None:
        """Write what belongs to a commit, in its transaction."""
        write_note(connection, number, note_of(entry))
        write_positions(connection, positions, self._number)

    def acknowledge(self, name: str, position: Position | None) -> None:
        """Have a consumer go on from there, or end. Raises DurableError."""
        with self._durable.log.writing() as connection:
            write_positions(connection, {name: position}, self._number)

    def positions(self) -> dict[str, Position]:
        """Consumers by name."""
        if self._durable.log.format < 2:
            return {}
        with self._reading() as connection:
            found = read_positions(connection, self._number)
        return {name: Position(*each) for name, each in found.items()}


def note_of(entry: Entry) -> dict[str, object]:
    """The record of a commit as data, without version and time."""
    note = {"message": entry.message, "rows": entry.rows, "seconds": entry.seconds}
    if entry.works:
        note["works"] = entry.works
    return {**note, "program": entry.program} if entry.program else note
