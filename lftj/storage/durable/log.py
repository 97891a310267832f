# SPDX-License-Identifier: Apache-2.0
"""The log of a durable workspace: commits and checkpoints, as rows of its database.

A row of `commits` is one commit: its number, the version that it made, the program where it is
another one than before, and changes of base rows as Arrow bytes. A row of `checkpoints` names the
pages that hold everything up to some commit. Commits before the older of two checkpoints are
removed with the next one. SQLite has no checksums of its pages, so each row has one, which covers
the row before too: nothing is missing in between. Commits of all branches are in one sequence.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lftj.errors import DurableError
from lftj.storage.durable.acknowledged import Acknowledged, acknowledged
from lftj.storage.durable.log_branches import branched
from lftj.storage.durable.log_file import LogFile

_LAST = 2**63 - 1
_CHECKPOINTS = 2
"""Checkpoints that are kept: where the later one cannot be opened, the other one can."""
_COLUMNS = "number, version, time, program, rows, sum, coalesce(branch, 0), event"


class Commit(NamedTuple):
    """One commit as it is logged. `sum` is that of its row; `program` is None where it is the one
    before; `rows` are empty where only the checkpoint of the commit has them. `branch`: the number
    of its branch, 0 for main; `event`: a branch that it begins, ends or merges, see `log_branches`.
    """

    number: int
    version: int
    time: float
    program: str | None
    rows: bytes
    sum: int = 0
    branch: int = 0
    event: str | None = None

    def sum_after(self, before: int) -> int:
        """The checksum of the row, after one with the checksum `before`."""
        values = [self.number, self.version, self.time, self.program]
        if self.branch or self.event is not None:
            values += [self.branch, self.event]
        return zlib.crc32(self.rows, zlib.crc32(json.dumps(values).encode(), before))


class Checkpoint(NamedTuple):
    """The record of all that there is up to a commit; `sum` is that of the commit's row."""

    number: int
    record: dict[str, Any]
    sum: int


class Log(LogFile):
    """The database below one folder. Any thread may use it; one at a time does."""

    def __init__(self, folder: Path, *, write: bool, durability: str = "full"):
        """Open it, or begin it where `write` and there is none. Raises DurableError."""
        super().__init__(folder, write=write, durability=durability)
        self._acknowledged: Acknowledged | None = None
        if write and durability == "full":
            with suppress(OSError):  # a full disk is no reason not to read
                self._acknowledged = Acknowledged(folder)

    def _rows(
        self, connection: sqlite3.Connection, number: int, last: int = _LAST
    ) -> Iterator[Commit]:
        """The commits after one, up to the `last`, ascending."""
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM commits LEFT JOIN {branched(self.format)} USING (number) "
            "WHERE number > ? AND number <= ? ORDER BY number",
            (number, last),
        )
        return map(Commit._make, rows)

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

    def sum_of(self, number: int) -> int | None:
        """The checksum of a commit; None where it is not kept any more."""
        with self.reading() as connection:
            found = connection.execute(
                "SELECT sum FROM commits WHERE number = ?", (number,)
            ).fetchone()
        return None if found is None else found[0]

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
            for commit in self._rows(connection, number):
                after = commit.sum_after(before)
                if commit.number != number + 1 or not commit.rows or after != commit.sum:
                    break
                found.append(commit)
                number, before = commit.number, after
        return found

    def _since(
        self, connection: sqlite3.Connection, number: int, before: int, last: int = _LAST
    ) -> list[Commit] | None:
        found: list[Commit] = []
        for commit in self._rows(connection, number, last):
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

    def checkpoints(self) -> list[int]:
        """The numbers of the commits that checkpoints were written after, the last one first."""
        with self.reading() as connection:
            rows = connection.execute("SELECT number FROM checkpoints ORDER BY number DESC")
            return [number for (number,) in rows]

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
            connection.executemany(
                "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)", [row[:6] for row in rows]
            )
            connection.executemany(
                "INSERT INTO branched VALUES (?, ?, ?)",
                [(row.number, row.branch, row.event) for row in rows if row.branch or row.event],
            )
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
            self._remove_before(connection, oldest)
            kept = connection.execute("SELECT number, record FROM checkpoints").fetchall()
        return [json.loads(record.rpartition(b"\n")[0]) for _, record in kept]

    def replace_checkpoints(self, points: Sequence[Checkpoint]) -> None:
        """Write checkpoints in the place of all others, and remove the commits before the first."""
        oldest = min(point.number for point in points)
        with self.writing() as connection:
            connection.execute("DELETE FROM checkpoints")
            for point in points:
                self._insert(connection, point)
            self._remove_before(connection, oldest)

    def _remove_before(self, connection: sqlite3.Connection, oldest: int) -> None:
        """Remove commits. The `oldest` itself stays, so that the next one's number is known in any
        case.
        """
        for table in ("commits", "notes", "branched"):
            connection.execute(f"DELETE FROM {table} WHERE number < ?", (oldest,))

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

    def close(self) -> None:
        """Close it. Harmless when repeated."""
        super().close()
        if self._acknowledged is not None:
            self._acknowledged.close()
