"""Records in the log beside commits: what was said of each, how far consumers have come, branches
and their commits. They are written in the transaction of the commit that they belong to.

Each row has a checksum. A branch's commits are like those of the workspace, each with a checksum
that covers the one before.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

TABLES = (
    "CREATE TABLE notes (number INTEGER PRIMARY KEY, note TEXT NOT NULL, sum INTEGER NOT NULL)",
    "CREATE TABLE consumers (name TEXT PRIMARY KEY, relation TEXT NOT NULL, "
    "version INTEGER NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE branches (name TEXT PRIMARY KEY, record TEXT NOT NULL, sum INTEGER NOT NULL) "
    "WITHOUT ROWID",
    "CREATE TABLE branch_commits (branch TEXT NOT NULL, number INTEGER NOT NULL, "
    "version INTEGER NOT NULL, time REAL NOT NULL, program TEXT, rows BLOB NOT NULL, "
    "note TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (branch, number)) WITHOUT ROWID",
)

Positions = Mapping[str, tuple[str, int] | None]
"""Consumers by name: the relation and the version that was acknowledged; None for one that ends."""
Note = dict[str, Any]


class RecordDamagedError(ValueError):
    """A row that is not what was written."""


class BranchCommit(NamedTuple):
    """One commit of a branch. `program` is None where it is the one before."""

    number: int
    version: int
    time: float
    program: str | None
    rows: bytes
    note: str
    sum: int = 0

    def sum_after(self, before: int) -> int:
        """The checksum of the row, after one with the checksum `before`."""
        head = [self.number, self.version, self.time, self.program, self.note]
        return zlib.crc32(self.rows, zlib.crc32(json.dumps(head).encode(), before))


# ── notes ─────────────────────────────────────────────────────────────────────────────────────────
def write_note(connection: sqlite3.Connection, number: int, note: Note) -> None:
    """Note something of a commit."""
    text = json.dumps(note)
    connection.execute("INSERT INTO notes VALUES (?, ?, ?)", (number, text, _sum(number, text)))


def read_notes(connection: sqlite3.Connection, *, noted: bool) -> list[tuple[int, float, Note]]:
    """Version, time and note of all commits, ascending. Those before there were notes have an empty
    one; all, where the file is not `noted`.
    """
    notes = "notes" if noted else "(SELECT 0 AS number, NULL AS note, 0 AS sum)"
    found: list[tuple[int, float, Note]] = []
    for number, version, time, text, kept in connection.execute(
        f"SELECT number, version, time, note, n.sum FROM commits LEFT JOIN {notes} n "
        "USING (number) ORDER BY number"
    ):
        if text is not None and _sum(number, text) != kept:
            raise RecordDamagedError(f"the note of commit {number} is not what was written")
        found.append((version, time, {} if text is None else json.loads(text)))
    return found


# ── consumers ─────────────────────────────────────────────────────────────────────────────────────
def write_positions(connection: sqlite3.Connection, positions: Positions) -> None:
    """Have consumers go on from there, or end."""
    for name, position in positions.items():
        if position is None:
            connection.execute("DELETE FROM consumers WHERE name = ?", (name,))
        else:
            connection.execute(
                "INSERT OR REPLACE INTO consumers VALUES (?, ?, ?, ?)",
                (name, *position, _sum(name, *position)),
            )


def read_positions(connection: sqlite3.Connection) -> dict[str, tuple[str, int]]:
    """Consumers by name."""
    found: dict[str, tuple[str, int]] = {}
    for name, relation, version, kept in connection.execute("SELECT * FROM consumers"):
        if _sum(name, relation, version) != kept:
            raise RecordDamagedError(f"the position of consumer {name!r} is not what was written")
        found[name] = relation, version
    return found


# ── branches ──────────────────────────────────────────────────────────────────────────────────────
def write_branch(connection: sqlite3.Connection, name: str, record: Mapping[str, Any]) -> None:
    """Begin a branch, or replace its record."""
    text = json.dumps(dict(record))
    connection.execute(
        "INSERT OR REPLACE INTO branches VALUES (?, ?, ?)", (name, text, _sum(name, text))
    )


def drop_branch(connection: sqlite3.Connection, name: str) -> None:
    """Remove a branch with its commits."""
    connection.execute("DELETE FROM branches WHERE name = ?", (name,))
    connection.execute("DELETE FROM branch_commits WHERE branch = ?", (name,))


def read_branches(connection: sqlite3.Connection) -> dict[str, dict[str, Any]]:
    """Records of branches by name."""
    found: dict[str, dict[str, Any]] = {}
    for name, text, kept in connection.execute("SELECT * FROM branches ORDER BY name"):
        if _sum(name, text) != kept:
            raise RecordDamagedError(f"the record of branch {name!r} is not what was written")
        found[name] = json.loads(text)
    return found


def write_branch_commit(connection: sqlite3.Connection, branch: str, commit: BranchCommit) -> None:
    """Write a commit of a branch, with its checksum."""
    connection.execute(
        "INSERT INTO branch_commits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (branch, *commit)
    )


def read_branch_commits(
    connection: sqlite3.Connection, branch: str, before: int
) -> list[BranchCommit]:
    """The commits of a branch, ascending. `before`: the checksum that its first one follows."""
    found: list[BranchCommit] = []
    for row in connection.execute(
        "SELECT number, version, time, program, rows, note, sum FROM branch_commits "
        "WHERE branch = ? ORDER BY number",
        (branch,),
    ):
        commit = BranchCommit(*row)
        if commit.number != len(found) + 1 or commit.sum_after(before) != commit.sum:
            raise RecordDamagedError(f"commit {commit.number} of branch {branch!r} is damaged")
        found.append(commit)
        before = commit.sum
    return found


def _sum(*values: object) -> int:
    return zlib.crc32(json.dumps(values).encode())
