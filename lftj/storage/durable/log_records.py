# SPDX-License-Identifier: Apache-2.0
"""Records in the log beside commits: what was said of each, and how far consumers have come. They
are written in the transaction of the commit that they belong to. Each row has a checksum.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping
from typing import Any

TABLES = (
    "CREATE TABLE notes (number INTEGER PRIMARY KEY, note TEXT NOT NULL, sum INTEGER NOT NULL)",
    "CREATE TABLE consumers (name TEXT PRIMARY KEY, relation TEXT NOT NULL, "
    "version INTEGER NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID",
    # commits whose rows only a checkpoint has
    "CREATE INDEX large ON commits (number) WHERE rows = x''",
)

Positions = Mapping[str, tuple[str, int] | None]
"""Consumers by name: the relation and the version that was acknowledged; None for one that ends."""
Note = dict[str, Any]
_OF_BRANCH = "\x1f"
"""Stands before and behind the number of a branch in the names of its consumers."""


class RecordDamagedError(ValueError):
    """A row that is not what was written."""


# ── notes ─────────────────────────────────────────────────────────────────────────────────────────
def write_note(connection: sqlite3.Connection, number: int, note: Note) -> None:
    """Note something of a commit."""
    text = json.dumps(note)
    connection.execute("INSERT INTO notes VALUES (?, ?, ?)", (number, text, _sum(number, text)))


def read_notes(
    connection: sqlite3.Connection, commits: str, *, noted: bool
) -> list[tuple[int, float, Note]]:
    """Version, time and note of `commits`, which is SQL, ascending. Those before there were notes
    have an empty one; all, where the file is not `noted`.
    """
    notes = "notes" if noted else "(SELECT 0 AS number, NULL AS note, 0 AS sum)"
    found: list[tuple[int, float, Note]] = []
    for number, version, time, text, kept in connection.execute(
        f"SELECT number, version, time, note, n.sum FROM {commits} LEFT JOIN {notes} n "
        "USING (number) ORDER BY number"
    ):
        if text is not None and _sum(number, text) != kept:
            raise RecordDamagedError(f"the note of commit {number} is not what was written")
        found.append((version, time, {} if text is None else json.loads(text)))
    return found


# ── consumers ─────────────────────────────────────────────────────────────────────────────────────
def write_positions(connection: sqlite3.Connection, positions: Positions, branch: int = 0) -> None:
    """Have consumers of a branch go on from there, or end."""
    for name, position in positions.items():
        stored = _stored_name(branch, name)
        if position is None:
            connection.execute("DELETE FROM consumers WHERE name = ?", (stored,))
        else:
            connection.execute(
                "INSERT OR REPLACE INTO consumers VALUES (?, ?, ?, ?)",
                (stored, *position, _sum(stored, *position)),
            )


def read_positions(connection: sqlite3.Connection, branch: int = 0) -> dict[str, tuple[str, int]]:
    """Consumers of a branch by name."""
    found: dict[str, tuple[str, int]] = {}
    for stored, relation, version, kept in connection.execute("SELECT * FROM consumers"):
        if _sum(stored, relation, version) != kept:
            raise RecordDamagedError(f"the position of consumer {stored!r} is not what was written")
        of, name = _read_name(stored)
        if of == branch:
            found[name] = relation, version
    return found


def _stored_name(branch: int, name: str) -> str:
    """The name of a consumer among those of all branches. Those of main have their own."""
    if not branch and not name.startswith(_OF_BRANCH):
        return name
    return f"{_OF_BRANCH}{branch}{_OF_BRANCH}{name}"


def _read_name(stored: str) -> tuple[int, str]:
    if not stored.startswith(_OF_BRANCH):
        return 0, stored
    _, branch, name = stored.split(_OF_BRANCH, 2)
    return int(branch), name


def _sum(*values: object) -> int:
    return zlib.crc32(json.dumps(values).encode())
