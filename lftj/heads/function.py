"""Functional heads F[s] = t, and keys: one row per argument [LFTJ-IVM 2.1].

*State kept:* (t, η) per argument tuple s, where η counts the assignments that derive F[s] = t. *INSERT* adds 1 to η, *ERASE* takes 1 away.
A commit takes all erases first, then the inserts, so a value may be replaced in one commit; two different t for one s at its end are a
`KeyViolationError`, and the commit is rolled back. The relation itself is what `check_function` looks at, in key order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lftj.errors import KeyViolationError
from scantree.rows import equal_runs

_SHOWN = 10
"""Conflicting keys whose rows the error carries."""

Row = tuple[Any, ...]


def conflicts(columns: Sequence[np.ndarray], key_width: int) -> np.ndarray:
    """The positions of all rows that share their first `key_width` columns with another, in sorted distinct rows. O(n · width)."""
    if not columns or len(columns[0]) < 2:
        return np.zeros(0, dtype=np.int64)
    rows = len(columns[0])
    starts = equal_runs(columns, key_width)
    if len(starts) == rows:
        return np.zeros(0, dtype=np.int64)
    alone = np.diff(starts, append=rows) == 1
    shared = np.ones(rows, dtype=bool)
    shared[starts[alone]] = False
    return np.flatnonzero(shared)


def check_function(
    columns: Sequence[np.ndarray],
    key_width: int,
    *,
    relation: str = "the relation",
    functional: bool = True,
    decode: Callable[[Row], Row] = tuple,
) -> None:
    """KeyViolationError unless the first `key_width` columns determine the rest; the rows are sorted and distinct.

    `decode` makes a user's row of a row of codes (in the columns' order here). The error carries the rows of the first ten keys in conflict
    and names the first two. `functional` says whether the user wrote F[x] = y or declared a key.
    """
    positions = conflicts(columns, key_width)
    if not len(positions):
        return
    keys = equal_runs([column.take(positions) for column in columns], key_width)
    last = keys[_SHOWN] if len(keys) > _SHOWN else len(positions)
    rows = [decode(row) for row in zip(*(column.take(positions[:last]).tolist() for column in columns), strict=True)]
    more = f" (and {len(keys) - 1} more)" if len(keys) > 1 else ""
    if functional:
        message = f"{relation} has two values for one argument: {rows[0]} and {rows[1]}{more}"
        hint = "let the rules give one value per argument, take min(…) or max(…) of them, or declare a relation instead"
    else:
        message = f"two rows of {relation} share a key: {rows[0]} and {rows[1]}{more}"
        hint = "delete the old row in the same transaction, or use upsert"
    raise KeyViolationError(message, rows=rows, hint=hint)
