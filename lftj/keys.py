"""Keys of base relations, checked on what a commit changes and nowhere else."""

from __future__ import annotations

import numpy as np

from lftj.dictionary import Dictionary
from lftj.errors import KeyViolationError
from lftj.frames import to_tuples
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import RelationVersion, key_and_rest
from scantree.rows import equal_runs, locate, sort_rows

_SHOWN = 3


def check_key(committed: RelationVersion, delta: Delta, dictionary: Dictionary) -> None:
    """Raise KeyViolationError when `committed` changed by `delta` has two rows of one key. O(δ log n).

    `committed` obeys its key. `rows` of the error holds the offenders, one pair after the other.
    """
    schema = committed.schema
    key, rest = key_and_rest(schema)
    if schema.key is None or not rest or not delta.inserted:
        return
    rows = sort_rows([delta.inserts[i] for i in (*key, *rest)])
    pairs = [*_pairs_within(rows, len(key)), *_pairs_across(committed, delta, rows)]
    if pairs:
        raise _violation(schema, key, rest, pairs, dictionary)


def _pairs_within(rows: Columns, key_width: int) -> list[tuple[Columns, Columns]]:
    """Neighbours among the new rows that share their key."""
    fresh = np.zeros(len(rows[0]), dtype=bool)
    fresh[equal_runs(rows, key_width)] = True
    clashes = np.flatnonzero(~fresh)[:_SHOWN]
    return [([column[i - 1 : i] for column in rows], [column[i : i + 1] for column in rows]) for i in clashes]


def _pairs_across(committed: RelationVersion, delta: Delta, rows: Columns) -> list[tuple[Columns, Columns]]:
    """New rows whose key a row holds that stays."""
    if not committed.count:
        return []
    key, rest = key_and_rest(committed.schema)
    keys = rows[: len(key)]
    found, values = committed.key_index().lookup(keys)
    present = [*(column[found] for column in keys), *(column[found] for column in values)]
    erased = sort_rows([delta.erases[i] for i in (*key, *rest)])
    # `present` ascends by key, and a key has one row, so it is sorted, though not distinct: new rows may repeat a key.
    stays = ~locate(present, erased)[1]
    new = [column[found][stays][:_SHOWN] for column in rows]
    old = [column[stays][:_SHOWN] for column in present]
    return [([column[i : i + 1] for column in old], [column[i : i + 1] for column in new]) for i in range(len(new[0]))]


def _violation(
    schema: RelationSchema, key: tuple[int, ...], rest: tuple[int, ...], pairs: list[tuple[Columns, Columns]], dictionary: Dictionary
) -> KeyViolationError:
    order = (*key, *rest)
    back = [order.index(i) for i in range(schema.arity)]
    types = [type for _, type in schema.columns]
    rows = [to_tuples(types, [row[i] for i in back], dictionary)[0] for pair in pairs[:_SHOWN] for row in pair]
    named = ", ".join(schema.columns[i][0] for i in key)
    shown = "; ".join(f"{old} and {new}" for old, new in zip(rows[::2], rows[1::2], strict=True))
    if schema.functional:
        message = f"function `{schema.name}` has two values for one argument: {shown}"
    else:
        message = f"relation `{schema.name}` has two rows of one key ({named}): {shown}"
    hint = f"delete the old row in the same transaction, or use tx.upsert({schema.name!r}, …), which replaces the row of a key"
    return KeyViolationError(message, rows=rows, hint=hint)
