# SPDX-License-Identifier: Apache-2.0
"""The file of the log of a durable workspace, one SQLite database: who may open it, its format, its
transactions, and what comes of errors.

SQLite's transactions are the commit point. After a sync that failed nobody knows which pages the
system has kept, so the file takes no more of them. A write that the system did not take, for want
of room mostly, is another thing: the transaction has not happened, and the next one may.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from urllib.parse import quote

from lftj.errors import DurableError
from lftj.storage.durable.folder_lock import LOG
from lftj.storage.durable.log_branches import BRANCH_TABLES
from lftj.storage.durable.log_records import TABLES

ENDS = ("-journal", "-wal", "-shm")
"""Endings of the names that SQLite gives to files of its own beside it."""
FORMAT = 4
"""Format of the database and of the page files beside it."""
_APPLICATION = 0x6C66746A  # "lftj"
_TABLES_OF = (
    (
        "CREATE TABLE commits (number INTEGER PRIMARY KEY, version INTEGER NOT NULL, "
        "time REAL NOT NULL, program TEXT, rows BLOB NOT NULL, sum INTEGER NOT NULL)",
        "CREATE TABLE checkpoints (number INTEGER PRIMARY KEY, record BLOB NOT NULL, "
        "sum INTEGER NOT NULL)",
    ),
    TABLES,
    BRANCH_TABLES,
    (),
)
"""Tables that each format has beside those of the one before. What format 4 has more is in heads of
strings.
"""
DURABILITY = ("full", "normal", "off")
"""Settings of SQLite's `synchronous` that users may choose."""
_BUSY = 60.0  # seconds that SQLite waits for another connection
_NOT_TAKEN = frozenset(
    {
        sqlite3.SQLITE_IOERR_WRITE,  # also a quota's end, and that of a file's allowed size
        sqlite3.SQLITE_IOERR_TRUNCATE,
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
        sqlite3.SQLITE_IOERR_NOMEM,
    }
)
"""Errors after which all that was synced is as it was."""


class LogFile:
    """The database below one folder. Any thread may use it; one at a time does."""

    def __init__(self, folder: Path, *, write: bool, durability: str = "full"):
        """Open it, or begin it where `write` and there is none. Raises DurableError."""
        self.file = folder / LOG
        self._lock = threading.Lock()
        self._failed: str | None = None
        with self._sqlite_errors():
            self._fixed = not write and _unwritable(folder)
            self._connection = self._copied() if self._fixed else self._connected(write)
            if write:
                self._begin()
                self._connection.execute(f"PRAGMA synchronous={durability.upper()}")
                self._connection.execute("PRAGMA wal_autocheckpoint=0")
            self._require_ours()
            if write:
                self._renew()
        self._places = self._found()

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

    def _copied(self) -> sqlite3.Connection:
        """The database in memory: where SQLite cannot make its `-shm`, it reads nothing."""
        found = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        with TemporaryDirectory() as folder:
            for end in ("", "-wal"):
                with suppress(FileNotFoundError):
                    copyfile(f"{self.file}{end}", Path(folder) / f"{LOG}{end}")
            with closing(sqlite3.connect(Path(folder) / LOG)) as source:
                source.execute("PRAGMA trusted_schema=OFF")
                source.backup(found)
        found.execute("PRAGMA trusted_schema=OFF")
        return found

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
            for table in _tables(FORMAT):
                connection.execute(table)

    def _renew(self) -> None:
        """Bring an older format to this one: it has fewer tables."""
        if self.format < FORMAT:
            with _transaction(self._connection, "BEGIN IMMEDIATE"):
                for table in _tables(FORMAT)[len(_tables(self.format)) :]:
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
        tables = connection.execute("SELECT sql FROM sqlite_master").fetchall()
        if {sql for (sql,) in tables} != set(_tables(found)):  # VACUUM orders them anew
            raise self.damaged("it has other tables than were made")
        self.format = found

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One moment of the database, whoever writes meanwhile."""
        with self._lock, self._sqlite_errors(), _transaction(self._connection, "BEGIN"):
            yield self._connection

    # ── writing ───────────────────────────────────────────────────────────────────────────────────
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
            try:
                with self._sqlite_errors(), _transaction(self._connection, "BEGIN IMMEDIATE"):
                    yield self._connection
            finally:
                self._note_size()

    def _note_size(self) -> None:
        """Note the size that the write-ahead file has after a transaction of ours. One that failed
        may have made it longer, too.
        """
        found = self._found()
        if [each and each[:2] for each in found] == [each and each[:2] for each in self._places]:
            self._places = found

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

    # ── care ──────────────────────────────────────────────────────────────────────────────────────
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
        with self._lock:
            try:
                with self._sqlite_errors():
                    self._connection.execute("VACUUM")
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                self._note_size()

    def copy_to(self, folder: Path) -> None:
        """Write the log as it is now to another folder. Commits go on. Raises DurableError."""
        with self._sqlite_errors(), closing(sqlite3.connect(folder / LOG)) as target:
            if self._fixed:
                with self._lock:
                    self._connection.backup(target)
                return
            with closing(self._connected(write=False)) as source:
                source.backup(target)

    def integrity(self) -> list[str]:
        """Problems that SQLite finds in its file; empty when there is none. O(log)."""
        with self.reading() as connection:
            rows = connection.execute("PRAGMA integrity_check").fetchall()
        return [] if rows == [("ok",)] else [text for (text,) in rows]

    # ── errors ────────────────────────────────────────────────────────────────────────────────────
    @contextmanager
    def _sqlite_errors(self) -> Iterator[None]:
        """Raise what SQLite says as DurableError. An error of the disk ends all writing, but where
        the disk only did not take something.
        """
        try:
            yield
        except sqlite3.Error as reason:
            extended = getattr(reason, "sqlite_errorcode", 0)
            code = extended & 0xFF
            if code == sqlite3.SQLITE_IOERR and extended not in _NOT_TAKEN:
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


def _unwritable(folder: Path) -> bool:
    """True where this process may write no file, and no other one has the database open."""
    return not (os.access(folder, os.W_OK) or (folder / f"{LOG}-shm").exists())


def _tables(format: int) -> list[str]:
    """The tables of a format, and their indices, as SQL in their order."""
    return [table for tables in _TABLES_OF[:format] for table in tables]


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
