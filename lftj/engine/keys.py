"""Keys of base relations, checked on what a commit changes and nowhere else."""

from __future__ import annotations

import numpy as np

from lftj.errors import KeyViolationError
from lftj.frames import to_tuples
from lftj.heads.function import conflicting_rows, keeps_key
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import RelationVersion, key_and_rest
from lftj.types.dictionary import Dictionary
from scantree.rows import contains, equal_runs, sort_rows

_SHOWN = 3


def check_key(
    schema: RelationSchema,
    before: RelationVersion,
    changed: RelationVersion,
    delta: Delta,
    dictionary: Dictionary,
) -> None:
    """Raise KeyViolationError when `changed`, made by `delta` of `before`, which obeyed its key,
    has two rows of one key. O(δ log n).

    `schema` is how the user knows the relation. `rows` of the error holds the offenders, one pair
    after the other.
    """
    if schema.key is None or keeps_key(schema, before, delta):
        return
    rows = conflicting_rows(schema, changed, delta)
    if len(rows[0]):
        key, rest = key_and_rest(schema)
        new = contains(rows, sort_rows([delta.inserts[i] for i in (*key, *rest)]))
        raise _violation(schema, key, rest, _pairs(rows, new, len(key)), dictionary)


def _pairs(rows: Columns, new: np.ndarray, key_width: int) -> list[tuple[Columns, Columns]]:
    """Two rows of each of the first few keys, an old one first where there is one."""
    order = np.lexsort((new, *reversed(rows[:key_width])))
    rows = [column.take(order) for column in rows]
    starts = equal_runs(rows, key_width)[:_SHOWN].tolist()
    return [
        ([column[i : i + 1] for column in rows], [column[i + 1 : i + 2] for column in rows])
        for i in starts
    ]


def _violation(
    schema: RelationSchema,
    key: tuple[int, ...],
    rest: tuple[int, ...],
    pairs: list[tuple[Columns, Columns]],
    dictionary: Dictionary,
) -> KeyViolationError:
    order = (*key, *rest)
    back = [order.index(i) for i in range(schema.arity)]
    types = [type for _, type in schema.columns]
    rows = [
        to_tuples(types, [row[i] for i in back], dictionary)[0] for pair in pairs for row in pair
    ]
    named = ", ".join(schema.columns[i][0] for i in key)
    shown = "; ".join(f"{old} and {new}" for old, new in zip(rows[::2], rows[1::2], strict=True))
    if schema.functional:
        message = f"function `{schema.name}` has two values for one argument: {shown}"
    else:
        message = f"relation `{schema.name}` has two rows of one key ({named}): {shown}"
    hint = (
        f"delete the old row in the same transaction, or use tx.upsert({schema.name!r}, …), "
        f"which replaces the row of a key"
    )
    return KeyViolationError(message, rows=rows, hint=hint)
