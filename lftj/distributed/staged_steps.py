# SPDX-License-Identifier: Apache-2.0
"""Steps that an open transaction has gathered of one relation, in their order, of which equal ones
become one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.distributed.sending import Dependent, Staged
from lftj.distributed.work.resolve import UPSERT
from lftj.engine.commit import last_of_keys
from lftj.program import RelationSchema
from lftj.storage import Delta


def push(steps: list[Staged], step: Staged, schema: RelationSchema) -> None:
    """One step more. Sizes at least halve towards the end, so a row is joined O(log n) times
    whatever the number of calls.
    """
    steps.append(step)
    while (
        len(steps) > 1
        and _size(steps[-2]) <= 2 * _size(steps[-1])
        and (one := _joined(steps[-2], steps[-1], schema)) is not None
    ):
        steps[-2:] = [one]


def folded(steps: Sequence[Staged], schema: RelationSchema) -> list[Staged]:
    """As few steps as will do."""
    found = list[Staged]()
    for step in steps:
        one = _joined(found[-1], step, schema) if found else None
        found[-1:] = [*found[-1:], step] if one is None else [one]
    return found


def _joined(first: Staged, second: Staged, schema: RelationSchema) -> Staged | None:
    """Two steps as one, where rows of this process come or go in both, or replace those of their
    keys in both.
    """
    if isinstance(first, Delta) and isinstance(second, Delta):
        return first.then(second)
    rows = [_upserted(step) for step in (first, second)]
    if rows[0] is None or rows[1] is None:
        return None
    both = [
        np.concatenate(pair)
        for pair in zip(*(each.inserts for each in rows if each is not None), strict=True)
    ]
    return Dependent(UPSERT, Delta.insertion(last_of_keys(schema, both)))


def _upserted(step: Staged) -> Delta | None:
    return (
        step.rows
        if isinstance(step, Dependent) and step.operation == UPSERT and isinstance(step.rows, Delta)
        else None
    )


def _size(step: Staged) -> int:
    rows = step.rows if isinstance(step, Dependent) else step
    return len(rows) if isinstance(rows, Delta) else 0
