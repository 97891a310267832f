"""Past versions of a workspace at a path: the nearest checkpoint before a version, and the log from
there to it, followed as one change. Pages are mapped into the memory of the workspace, so what two
versions share they share here.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lftj.engine.checkpoint import state_of
from lftj.engine.consumers import Position
from lftj.engine.past import Entry
from lftj.engine.replay import replayed
from lftj.engine.state import State
from lftj.errors import DurableError
from lftj.storage.durable.log_records import (
    RecordDamagedError,
    read_notes,
    read_positions,
    write_note,
    write_positions,
)
from lftj.storage.durable.stored_pages import NOT_TO_BE_HAD, StoredPages
from scantree import Arena

if TYPE_CHECKING:
    from lftj.engine.durable import Durable
    from lftj.engine.engine import Engine

_REACHED = 8
"""Past versions that are held once they were read."""
Reached = tuple[State, int, int]
"""A state, and the number and checksum of its commit."""


class StoredPast:
    """Versions that the log leads to. Any thread may read; a commit never waits for one."""

    def __init__(self, durable: Durable, engine: Engine):
        self._durable, self._engine = durable, engine
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
        found = connection.execute(
            "SELECT version FROM commits WHERE number = "
            "(SELECT min(number) FROM checkpoints WHERE number > ?)",
            (gap or 0,),
        ).fetchone()
        return 0 if found is None else found[0]

    def _first_wanted(self, connection: sqlite3.Connection) -> int:
        keep = self._engine.past.keep
        last = self._engine.state.version
        if keep.versions is not None:
            return max(0, last - keep.versions + 1)
        if keep.seconds is None:
            return 0
        found = connection.execute(
            "SELECT version FROM commits WHERE time <= ? ORDER BY number DESC LIMIT 1",
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
                found = _number_of(connection, version)
                needed.append(0 if found is None else found[0])
        return min(needed, default=None)

    def entries(self) -> list[Entry]:
        """The records of the commits that are kept, and made a version."""
        oldest = self.oldest()
        with self._reading() as connection:
            notes = read_notes(connection, noted=self._durable.log.format > 1)
        before = [0, *(version for version, _, _ in notes)]
        return [
            Entry(
                version,
                moment,
                note.get("message"),
                {name: (won, lost) for name, (won, lost) in note.get("rows", {}).items()},
                note.get("seconds", 0.0),
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
            found = _number_of(connection, version)
        return None if found is None else self.reach(found[0])[0]

    def reach(self, number: int) -> Reached:
        """The state after a commit, with what its views are maintained with. O(commits since the
        checkpoint, or since another that was reached).
        """
        with self._lock:
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
        return replayed(engine, state, commits).state, number, commits[-1].sum

    def _from_files(self, engine: Engine, number: int) -> Reached:
        durable = self._durable
        with durable.storing():  # no checkpoint removes the files of this one meanwhile
            found = durable.log.before(number, skip=durable.strange())
            if found is None:
                raise durable.log.damaged(f"commits before {number} are missing")
            point, commits = found
            state, sum_ = engine.blank(), 0
            if point is not None:
                pages: StoredPages = durable.pages
                state, sum_ = state_of(engine, state, point.record, pages), point.sum
        if commits:
            state, sum_ = replayed(engine, state, commits).state, commits[-1].sum
        return state, number, sum_

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
        write_positions(connection, positions)

    def acknowledge(self, name: str, position: Position | None) -> None:
        """Have a consumer go on from there, or end. Raises DurableError."""
        with self._durable.log.writing() as connection:
            write_positions(connection, {name: position})

    def positions(self) -> dict[str, Position]:
        """Consumers by name."""
        if self._durable.log.format < 2:
            return {}
        with self._reading() as connection:
            return {name: Position(*each) for name, each in read_positions(connection).items()}


def note_of(entry: Entry) -> dict[str, object]:
    """The record of a commit as data, without version and time."""
    return {"message": entry.message, "rows": entry.rows, "seconds": entry.seconds}


def _number_of(connection: sqlite3.Connection, version: int) -> tuple[int, int] | None:
    """The last commit that made a version or one before, and the version; (0, 0) before all."""
    found = connection.execute(
        "SELECT number, version FROM commits WHERE version <= ? ORDER BY number DESC LIMIT 1",
        (version,),
    ).fetchone()
    if found is None and version >= 0:
        return 0, 0
    return found
