# SPDX-License-Identifier: Apache-2.0
"""Keys of base relations, checked on what a commit changes, and on all rows where it alters the key
or the type of a column.
"""

from __future__ import annotations

import numpy as np

from lftj.errors import KeyViolationError
from lftj.frames import to_tuples
from lftj.frames.out import value_order
from lftj.heads.function import conflicting_rows, keeps_key
from lftj.program.normal_form import RelationSchema
from lftj.scantree.rows import contains, equal_runs, sort_rows
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import RelationVersion, key_and_rest
from lftj.types import INT
from lftj.types.dictionary import Dictionary


def check_key(
    schema: RelationSchema,
    before: RelationVersion,
    changed: RelationVersion,
    delta: Delta,
    dictionary: Dictionary,
) -> None:
    """Raise KeyViolationError when `changed`, made by `delta` of `before`, which obeyed its key,
    has two rows of one key. O(δ log n), and once O(n log n) for the key order.

    `schema` is how the user knows the relation. `rows` of the error holds the offenders, one pair
    after the other.
    """
    if schema.key is None:
        return
    key, rest = key_and_rest(schema)
    # a key order made of `before` would go with it; one of `changed` stays for the next commits
    known = not rest or not before.count or (*key, *rest) in before.orders()
    if known and keeps_key(schema, before, delta):
        return
    rows = conflicting_rows(schema, changed, delta)
    if len(rows[0]):
        new = contains(rows, sort_rows([delta.inserts[i] for i in (*key, *rest)]))
        types = [schema.columns[i][1] for i in key]
        order = value_order(
            [*types, INT], [*rows[: len(key)], new.astype(np.int64)], dictionary.texts()
        )
        ordered = [column.take(order) for column in rows]
        hint = (
            f"delete the old row in the same transaction, or use tx.upsert({schema.name!r}, …), "
            f"which replaces the row of a key"
        )
        raise _violation(schema, key, rest, ordered, dictionary, hint)


def rows_of_one_key(schema: RelationSchema, relation: RelationVersion) -> Columns:
    """All rows that share their key with another, key columns first, in order. O(n log n)."""
    return conflicting_rows(schema, relation, Delta(relation.columns(), no_rows(schema.arity)))


def check_altered_key(
    schema: RelationSchema, relation: RelationVersion, dictionary: Dictionary
) -> None:
    """Raise KeyViolationError when a relation that got a key, or other values in the key, has two
    rows of one key. O(n log n).
    """
    rows = rows_of_one_key(schema, relation)
    if not len(rows[0]):
        return
    key, rest = key_and_rest(schema)
    types = [schema.columns[i][1] for i in (*key, *rest)]
    order = value_order(types, rows, dictionary.texts())
    hint = (
        f"begin a transaction with this tx.alter({schema.name!r}, …), then tx.delete the rows that "
        f"are too many, or tx.upsert the row that is to stay"
    )
    raise _violation(schema, key, rest, [column.take(order) for column in rows], dictionary, hint)


def _violation(
    schema: RelationSchema,
    key: tuple[int, ...],
    rest: tuple[int, ...],
    rows: Columns,
    dictionary: Dictionary,
    hint: str,
) -> KeyViolationError:
    """The error about rows in the order of their keys, an old one first where there is one."""
    order = (*key, *rest)
    types = [type for _, type in schema.columns]
    starts = equal_runs(rows, len(key))
    shown = starts[: KeyViolationError.shown].tolist()
    places = np.array([place for start in shown for place in (start, start + 1)], np.int64)
    back = [rows[order.index(i)].take(places) for i in range(schema.arity)]
    found = to_tuples(types, back, dictionary)
    named = ", ".join(schema.columns[i][0] for i in key)
    if schema.functional:
        what = f"function `{schema.name}` has two values for one argument"
    else:
        what = f"relation `{schema.name}` has two rows of one key ({named})"
    pairs = list(zip(found[::2], found[1::2], strict=True))
    return KeyViolationError.of(what, pairs, len(starts), hint)
