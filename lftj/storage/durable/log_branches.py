# SPDX-License-Identifier: Apache-2.0
"""Branches in the log: which branch each commit is of, and where branches begin, end and merge.

All commits are one sequence of numbers and checksums. Table `branched` has a row for each commit
that is not of main, or that begins, ends or merges a branch. A branch has the number of the commit
that began it, so a name may be used again. The line of a branch is its own commits, those of the
branch that it began from up to there, and so on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

BRANCH_TABLES = (
    "CREATE TABLE branched (number INTEGER PRIMARY KEY, branch INTEGER NOT NULL, event TEXT)",
)
Line = tuple[tuple[int, int], ...]
"""Pairs of a branch and the number of its last commit that belongs to the line."""
LAST = 2**62
"""Number that is greater than that of any commit."""
MAIN_LINE: Line = ((0, LAST),)
_BEGIN, _END, _MERGE = "begin", "end", "merge"


def begins(name: str, parent: int) -> str:
    """The event of a branch's first commit."""
    return json.dumps({_BEGIN: name, "parent": parent})


def ends() -> str:
    """The event of a branch's last commit."""
    return json.dumps({_END: True})


def merges(source: int) -> str:
    """The event of a commit with the changes of another branch."""
    return json.dumps({_MERGE: source})


def begun(event: dict[str, Any]) -> tuple[str, int] | None:
    """The name of a branch that begins, and the number of its parent."""
    return (event[_BEGIN], event["parent"]) if _BEGIN in event else None


def ended(event: dict[str, Any]) -> bool:
    """Test for the end of a branch."""
    return _END in event


def merged(event: dict[str, Any]) -> int | None:
    """The number of a branch that is merged."""
    return event.get(_MERGE)


def branched(format: int) -> str:
    """The table, or in its place an empty one for formats before it."""
    if format >= 3:
        return "branched"
    return "(SELECT 0 AS number, 0 AS branch, NULL AS event WHERE 0)"


def on_line(branch: int, number: int, line: Line) -> bool:
    """Test for a commit of a line."""
    return any(branch == each and number <= last for each, last in line)


def commits_of(line: Line, format: int) -> str:
    """The commits of a line, as SQL in the place of a table."""
    parts: Iterable[str] = (
        f"coalesce(branch, 0) = {branch:d} AND number <= {last:d}" for branch, last in line
    )
    return (
        f"(SELECT commits.* FROM commits LEFT JOIN {branched(format)} USING (number) "
        f"WHERE {' OR '.join(parts)})"
    )
