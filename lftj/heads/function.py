# SPDX-License-Identifier: Apache-2.0
"""Functional heads F[s] = t, and keys: one row per argument [LFTJ-IVM 2.1].

*State kept:* (t, η) per argument tuple s, where η counts the assignments that derive F[s] = t.
*INSERT* adds 1 to η, *ERASE* takes 1 away. A commit takes all erases first, then the inserts, so a
value may be replaced in one commit; two different t for one s at its end are a `KeyViolationError`,
and the commit is rolled back. The relation itself is what `check_function` looks at, in key order;
after a change `check_function_delta` looks at the keys of the rows that came, in the relation as it
is then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lftj.errors import KeyViolationError
from lftj.program.normal_form import RelationSchema
from lftj.scantree import after_prefix
from lftj.scantree.rows import contains, equal_runs, sort_rows
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion, key_and_rest

FIRST_KEYS = 10
"""Conflicting keys whose rows the error carries."""

Row = tuple[Any, ...]


def conflicts(columns: Sequence[np.ndarray], key_width: int) -> np.ndarray:
    """The positions of all rows that share their first `key_width` columns with another, in sorted
    distinct rows. O(n · width).
    """
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


def keeps_key(schema: RelationSchema, before: RelationVersion, delta: Delta) -> bool:
    """Check quickly that inserted rows cannot break the key, which `before` obeyed; False where a
    closer look is needed.

    A look-up of the key of each: O(δ log n).
    """
    key, rest = key_and_rest(schema)
    if not rest or not delta.inserted:
        return True
    order = (*key, *rest)
    change = delta.reordered(order)
    if len(equal_runs(change.inserts, len(key))) < delta.inserted:
        return False
    if not before.count or before.tree(order).ends_before(
        [int(column[0]) for column in change.inserts[: len(key)]]
    ):
        return True  # keys that are given out in their order are all new
    there, rows, _ = before.tree(order).edge_rows(change.inserts[: len(key)])
    if not there.any():
        return True
    return bool(delta.erased and contains([column[there] for column in rows], change.erases).all())


def conflicting_rows(
    schema: RelationSchema, version: RelationVersion, delta: Delta
) -> list[np.ndarray]:
    """All rows of `version` that share their key with another, key columns first (as `key_and_rest`
    has them), in order.

    `delta` led to this version from one that obeyed the key, so only the keys of rows that came can
    be in conflict. O(δ log n).
    """
    key, rest = key_and_rest(schema)
    inserts = sort_rows([delta.inserts[i] for i in (*key, *rest)]) if rest else delta.inserts
    if not rest or not delta.inserted:
        return [column[:0] for column in inserts]
    if delta.inserted == version.count:
        found = conflicts(inserts, len(key))
        return [column.take(found) for column in inserts]
    tree = version.tree((*key, *rest))
    starts = equal_runs(inserts, len(key))
    keys = np.stack(inserts).take(starts, axis=1)[: len(key)]
    least, greatest = tree.edge_rows(keys)[1], tree.edge_rows(keys, last=True)[1]
    several = np.zeros(len(starts), dtype=bool)
    for first, last in zip(least[len(key) :], greatest[len(key) :], strict=True):
        several |= first != last
    ranges = [tree.range(key, after_prefix(key)) for key in keys[:, several].T.tolist()]
    return (
        [np.concatenate(column) for column in zip(*ranges, strict=True)]
        if ranges
        else [column[:0] for column in inserts]
    )


def check_function_delta(
    schema: RelationSchema,
    version: RelationVersion,
    delta: Delta,
    *,
    decode: Callable[[Row], Row] = tuple,
) -> None:
    """As `check_function`, and with the same error, of the version that `delta` made of one that
    obeyed its key. O(δ log n).

    `decode` makes a user's row of a row of codes, key columns first.
    """
    key, _ = key_and_rest(schema)
    check_function(
        conflicting_rows(schema, version, delta),
        len(key),
        relation=schema.name,
        functional=schema.functional,
        decode=decode,
    )


def check_function(
    columns: Sequence[np.ndarray],
    key_width: int,
    *,
    relation: str = "the relation",
    functional: bool = True,
    decode: Callable[[Row], Row] = tuple,
) -> None:
    """KeyViolationError unless the first `key_width` columns determine the rest; the rows are
    sorted and distinct.

    `decode` makes a user's row of a row of codes (in the columns' order here). The error carries
    the rows of ten keys in conflict and names the first of these by value. `functional` says
    whether the user wrote F[x] = y or declared a key.
    """
    positions = conflicts(columns, key_width)
    if not len(positions):
        return
    keys = equal_runs([column.take(positions) for column in columns], key_width)
    last = keys[FIRST_KEYS] if len(keys) > FIRST_KEYS else len(positions)
    rows = [
        decode(row)
        for row in zip(*(column.take(positions[:last]).tolist() for column in columns), strict=True)
    ]
    if functional:
        what = f"{relation} has two values for one argument"
        hint = (
            "let the rules give one value per argument, take min(…) or max(…) of them, or "
            "declare a relation instead"
        )
    else:
        what = f"two rows of {relation} share a key"
        hint = "delete the old row in the same transaction, or use upsert"
    bounds = [*keys[:FIRST_KEYS].tolist(), last]
    groups = sorted([rows[first:end] for first, end in pairwise(bounds)])
    raise KeyViolationError.of(what, groups, len(keys), hint)
