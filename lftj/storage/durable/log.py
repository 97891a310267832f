"""The log of a durable workspace: one SQLite database, whose transactions are the commit point.

A row of `commits` is one commit: its number, the version that it made, the program where it is
another one than before, and changes of base rows as Arrow bytes. A row of `checkpoints` names the
pages that hold everything up to some commit. Commits before the older of two checkpoints are
removed with the next one. SQLite has no checksums of its pages, so each row has one, which covers
the row before too: nothing is missing in between.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from lftj.errors import DurableError
from lftj.storage.durable.acknowledged import Acknowledged, acknowledged
from lftj.storage.durable.log_records import TABLES

FILE = "log.sqlite"
ENDS = ("-journal", "-wal", "-shm")
"""Endings of the names that SQLite gives to files of its own beside it."""
FORMAT = 2
"""Format of the database and of the page files beside it."""
_APPLICATION = 0x6C66746A  # "lftj"
_FIRST_TABLES = (
    "CREATE TABLE commits (number INTEGER PRIMARY KEY, version INTEGER NOT NULL, "
    "time REAL NOT NULL, program TEXT, rows BLOB NOT NULL, sum INTEGER NOT NULL)",
    "CREATE TABLE checkpoints (number INTEGER PRIMARY KEY, record BLOB NOT NULL, "
    "sum INTEGER NOT NULL)",
)
_TABLES = (*_FIRST_TABLES, *TABLES)
_LAST = 2**63 - 1
_CHECKPOINTS = 2
"""Checkpoints that are kept: where the later one cannot be opened, the other one can."""
DURABILITY = ("full", "normal", "off")
"""Settings of SQLite's `synchronous` that users may choose."""
_BUSY = 60.0  # seconds that SQLite waits for another connection


class Commit(NamedTuple):
    """One commit as it is logged. `sum` is that of its row; `program` is None where it is the one
    before; `rows` are empty where only the checkpoint of the commit has them.
    """

    number: int
    version: int
    time: float
    program: str | None
    rows: bytes
    sum: int = 0

    def sum_after(self, before: int) -> int:
        """The checksum of the row, after one with the checksum `before`."""
        head = json.dumps([self.number, self.version, self.time, self.program]).encode()
        return zlib.crc32(self.rows, zlib.crc32(head, before))


class Checkpoint(NamedTuple):
    """The record of all that there is up to a commit; `sum` is that of the commit's row."""

    number: int
    record: dict[str, Any]
    sum: int


class Log:
    """The database below one folder. Any thread may use it; one at a time does."""

    def __init__(self, folder: Path, *, write: bool, durability: str = "full"):
        """Open it, or begin it where `write` and there is none. Raises DurableError."""
        self.file = folder / FILE
        self._lock = threading.Lock()
        self._failed: str | None = None
        self._acknowledged: Acknowledged | None = None
        with self._sqlite_errors():
            self._connection = self._connected(write)
            if write:
                self._begin()
                self._connection.execute(f"PRAGMA synchronous={durability.upper()}")
                self._connection.execute("PRAGMA wal_autocheckpoint=0")
            self._require_ours()
            if write:
                self._renew()
        self._places = self._found()
        if write and durability == "full":
            with suppress(OSError):  # a full disk is no reason not to read
                self._acknowledged = Acknowledged(folder)

    def _connected(self, write: bool) -> sqlite3.Connection:
        mode = "rwc" if write else "ro"
        connection = sqlite3.connect(
            f"file:{quote(str(self.file))}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=_BUSY,
        )
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        return connection

    def _begin(self) -> None:
        """Make the tables where there are none. Two processes cannot: the writer's lock is held."""
        connection = self._connection
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return
        if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
            # SQLite goes on with another way to commit, and says so only here
            raise sqlite3.OperationalError("it cannot have a write-ahead file")
        with _transaction(connection, "BEGIN IMMEDIATE"):
            connection.execute(f"PRAGMA application_id={_APPLICATION}")
            connection.execute(f"PRAGMA user_version={FORMAT}")
            for table in _TABLES:
                connection.execute(table)

    def _renew(self) -> None:
        """Bring an older format to this one: it has fewer tables."""
        if self.format < FORMAT:
            with _transaction(self._connection, "BEGIN IMMEDIATE"):
                for table in TABLES:
                    self._connection.execute(table)
                self._connection.execute(f"PRAGMA user_version={FORMAT}")
            self.format = FORMAT

    def _require_ours(self) -> None:
        """Raise DurableError for another file (E351), a newer format (E352), and for whatever else
        may be in a database and would run (E353).
        """
        connection = self._connection
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION:
            hint = "open the folder that lftj.connect(path) made, or choose a new path"
            raise DurableError(f"{self.file} is no log of lftj", code="E351", hint=hint)
        if found > FORMAT:
            raise DurableError(
                f"{self.file} has format {found}, this version reads up to {FORMAT}",
                code="E352",
                hint="open it with the version of lftj that wrote it, or a later one",
            )
        tables = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()
        if [sql for (sql,) in tables] != list(_TABLES if found > 1 else _FIRST_TABLES):
            raise self.damaged("it has other tables than were made")
        self.format = found

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    def last(self) -> tuple[int, int]:
        """The number and the version of the last commit; 0 where there is none."""
        with self.reading() as connection:
            found = connection.execute(
                "SELECT number, version FROM commits ORDER BY number DESC LIMIT 1"
            ).fetchone()
        return found or (0, 0)

    def oldest(self) -> tuple[int, int]:
        """The number and the checksum of the oldest commit that is kept; zeros for the first one,
        or where there is none.
        """
        with self.reading() as connection:
            found = connection.execute(
                "SELECT number, sum FROM commits ORDER BY number LIMIT 1"
            ).fetchone()
        return (0, 0) if found is None or found[0] == 1 else found

    def since(self, number: int, before: int, last: int = _LAST) -> list[Commit] | None:
        """The commits after one that is known by its number and checksum, up to the `last`; None
        where these are not kept any more.
        """
        with self.reading() as connection:
            return self._since(connection, number, before, last)

    def opened(self, skip: Collection[int] = ()) -> tuple[Checkpoint | None, list[Commit]]:
        """The last checkpoint, but for those to `skip`, and the commits after it, of one moment.
        Raises DurableError (E353) where something is missing.
        """
        known = acknowledged(self.file.parent)
        with self.reading() as connection:
            point = self._checkpoint(connection, skip)
            commits = self._since(connection, *((point.number, point.sum) if point else (0, 0)))
        if commits is None:
            raise self.damaged("commits are missing")
        last = commits[-1].number if commits else point.number if point else 0
        if last < known:
            raise self.damaged(f"it ends with commit {last}, and commit {known} was written")
        return point, commits

    def salvaged(self) -> Iterator[tuple[Checkpoint | None, list[Commit]]]:
        """Yield each whole checkpoint of a damaged log, the last one first, with the commits after
        it up to the first that is damaged or missing; in the end None, with the first commits.
        """
        with self.reading() as connection:
            found: list[tuple[Checkpoint | None, list[Commit]]] = []
            numbers = [row[0] for row in connection.execute("SELECT number FROM checkpoints")]
            for number in sorted(numbers, reverse=True):
                with suppress(DurableError, ValueError, sqlite3.Error):
                    others = [each for each in numbers if each != number]
                    point = self._checkpoint(connection, others)
                    if point is not None:
                        found.append((point, self._whole(connection, number, point.sum)))
            found.append((None, self._whole(connection, 0, 0)))
        yield from found

    def _whole(self, connection: sqlite3.Connection, number: int, before: int) -> list[Commit]:
        """The commits after one up to the first that is damaged or missing."""
        found: list[Commit] = []
        with suppress(sqlite3.Error):
            for row in connection.execute(
                "SELECT number, version, time, program, rows, sum FROM commits WHERE number > ? "
                "ORDER BY number",
                (number,),
            ):
                commit = Commit._make(row)
                after = commit.sum_after(before)
                if commit.number != number + 1 or not commit.rows or after != commit.sum:
                    break
                found.append(commit)
                number, before = commit.number, after
        return found

    def _since(
        self, connection: sqlite3.Connection, number: int, before: int, last: int = _LAST
    ) -> list[Commit] | None:
        rows = connection.execute(
            "SELECT number, version, time, program, rows, sum FROM commits WHERE number > ? "
            "AND number <= ? ORDER BY number",
            (number, last),
        )
        found: list[Commit] = []
        for commit in map(Commit._make, rows):
            if commit.number != number + 1 or not commit.rows:
                return None
            if commit.sum_after(before) != commit.sum:
                raise self.damaged(f"commit {commit.number} is not what was written")
            found.append(commit)
            number, before = commit.number, commit.sum
        return found

    def before(
        self, number: int, skip: Collection[int] = ()
    ) -> tuple[Checkpoint | None, list[Commit]] | None:
        """The last checkpoint up to a commit, and the commits from there to it; None where these
        are not kept any more.
        """
        with self.reading() as connection:
            point = self._checkpoint(connection, skip, number)
            start = (point.number, point.sum) if point else (0, 0)
            commits = self._since(connection, *start, number)
        return None if commits is None else (point, commits)

    def _checkpoint(
        self, connection: sqlite3.Connection, skip: Collection[int], last: int = _LAST
    ) -> Checkpoint | None:
        for number, record, sum_ in connection.execute(
            "SELECT number, record, sum FROM checkpoints WHERE number <= ? ORDER BY number DESC",
            (last,),
        ):
            if number in skip:
                continue
            body, _, seal = record.rpartition(b"\n")
            if zlib.crc32(body, sum_) != int(seal):
                raise self.damaged(f"checkpoint {number} is not what was written")
            return Checkpoint(number, json.loads(body), sum_)
        return None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One moment of the database, whoever writes meanwhile."""
        with self._lock, self._sqlite_errors(), _transaction(self._connection, "BEGIN"):
            yield self._connection

    # ── writing ───────────────────────────────────────────────────────────────────────────────────
    def append(
        self,
        commits: Sequence[Commit],
        before: int,
        record: dict[str, Any] | None = None,
        *,
        beside: Callable[[sqlite3.Connection], None] = lambda _: None,
        past: bool = False,
    ) -> int:
        """Write commits after one with the checksum `before`, the `record` of a checkpoint of the
        last, and what comes `beside`, in one transaction; the checksum of the last. Checkpoints
        before a record lead to the `past` alone. Raises DurableError; then none of it has happened.
        """
        rows: list[Commit] = []
        for commit in commits:
            before = commit.sum_after(before)
            rows.append(commit._replace(sum=before))
        with self.writing() as connection:
            connection.executemany("INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)", rows)
            beside(connection)
            if record is not None:
                if not past:
                    connection.execute("DELETE FROM checkpoints")
                self._insert(connection, Checkpoint(rows[-1].number, record, before))
        if self._acknowledged is not None:
            self._acknowledged.note(rows[-1].number)
        return before

    def add_checkpoint(
        self, point: Checkpoint, needed: int | None = None, *, keep: int = _CHECKPOINTS
    ) -> list[dict[str, Any]]:
        """Write a checkpoint, and remove those and the commits that are of no use any more; the
        records that are left: `keep`, and those that lead to the commit that is `needed`.
        """
        with self.writing() as connection:
            self._insert(connection, point)
            found = connection.execute(
                "SELECT number FROM checkpoints ORDER BY number DESC"
            ).fetchall()
            numbers = [number for (number,) in found]
            oldest = numbers[:keep][-1]
            if needed is not None:
                oldest = min(oldest, next((each for each in numbers if each <= needed), 0))
            connection.execute("DELETE FROM checkpoints WHERE number < ?", (oldest,))
            # the commit itself stays, so that the next one's number is known in any case
            connection.execute("DELETE FROM commits WHERE number < ?", (oldest,))
            connection.execute("DELETE FROM notes WHERE number < ?", (oldest,))
            kept = connection.execute("SELECT number, record FROM checkpoints").fetchall()
        return [json.loads(record.rpartition(b"\n")[0]) for _, record in kept]

    def drop_checkpoints(self, numbers: Sequence[int]) -> None:
        """Remove checkpoints that cannot be opened: later ones have other codes of strings."""
        with self.writing() as connection:
            connection.executemany(
                "DELETE FROM checkpoints WHERE number = ?", [(each,) for each in numbers]
            )

    def _insert(self, connection: sqlite3.Connection, point: Checkpoint) -> None:
        body = json.dumps(point.record).encode()
        sealed = body + f"\n{zlib.crc32(body, point.sum)}".encode()
        connection.execute(
            "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)",
            (point.number, sealed, point.sum),
        )

    def move_into_database(self) -> None:
        """Move what is in the write-ahead file into the database, as far as no reader needs it
        there. By a connection of its own: commits go on. Raises DurableError.
        """
        with self._sqlite_errors(), closing(self._connected(write=True)) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def compact(self) -> None:
        """Give back the room of what was removed. No commit happens meanwhile; readers that are
        behind keep some of it. Raises DurableError.
        """
        with self._lock, self._sqlite_errors():
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._places = self._found()

    def copy_to(self, folder: Path) -> None:
        """Write the log as it is now to another folder. Commits go on. Raises DurableError."""
        with (
            self._sqlite_errors(),
            closing(self._connected(write=False)) as source,
            closing(sqlite3.connect(folder / FILE)) as target,
        ):
            source.backup(target)

    def integrity(self) -> list[str]:
        """Problems that SQLite finds in its file; empty when there is none. O(log)."""
        with self.reading() as connection:
            rows = connection.execute("PRAGMA integrity_check").fetchall()
        return [] if rows == [("ok",)] else [text for (text,) in rows]

    def checkpoints(self) -> list[int]:
        """The numbers of the commits that checkpoints were written after, the last one first."""
        with self.reading() as connection:
            rows = connection.execute("SELECT number FROM checkpoints ORDER BY number DESC")
            return [number for (number,) in rows]

    def fail(self, reason: str) -> None:
        """Take no more commits: the disk did not take something."""
        self._failed = self._failed or reason

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction that writes. Raises DurableError; then it has not happened."""
        with self._lock:
            if self._failed is None and self._found() != self._places:
                self._failed = "its files were moved or replaced"
            if self._failed is not None:
                hint = "see that the disk works, close the workspace, and open it again"
                raise DurableError(
                    f"{self.file} takes no more commits: {self._failed}", code="E355", hint=hint
                )
            with self._sqlite_errors(), _transaction(self._connection, "BEGIN IMMEDIATE"):
                yield self._connection
            self._places = self._found()

    def _found(self) -> list[tuple[int, ...] | None]:
        """The files that the names lead to now, and the size of the write-ahead file, which this
        process alone changes.
        """
        places: list[tuple[int, ...] | None] = []
        for name, sized in ((str(self.file), False), (f"{self.file}-wal", True)):
            try:
                found = os.stat(name)
                places.append((found.st_dev, found.st_ino, found.st_size if sized else 0))
            except OSError:
                places.append(None)
        return places

    def close(self) -> None:
        """Close it. Harmless when repeated."""
        with self._lock:
            self._connection.close()
            if self._acknowledged is not None:
                self._acknowledged.close()

    # ── errors ────────────────────────────────────────────────────────────────────────────────────
    @contextmanager
    def _sqlite_errors(self) -> Iterator[None]:
        """Raise what SQLite says as DurableError. An error of the disk ends all writing: nobody
        knows which pages the system kept.
        """
        try:
            yield
        except sqlite3.Error as reason:
            code = getattr(reason, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_IOERR:
                self._failed = str(reason)
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise self.damaged(str(reason)) from None
            hint = "see that the folder is there, has room and may be written, and try again"
            raise DurableError(
                f"{self.file} cannot be used: {reason}", code="E354", hint=hint
            ) from reason
        except (ValueError, TypeError, AttributeError) as reason:
            if isinstance(reason, DurableError):
                raise
            raise self.damaged(str(reason)) from None

    def damaged(self, reason: str) -> DurableError:
        """The error for a log that is not what was written."""
        return DurableError(
            f"{self.file} is damaged: {reason}", code="E353", hint="take it back from a copy"
        )


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise
