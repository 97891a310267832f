# SPDX-License-Identifier: Apache-2.0
"""Memory in use: rows and bytes per relation and key order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.engine.versions import Result, State
from lftj.explain.plans.upkeep import all_memory_rows
from lftj.types import INT, STR

if TYPE_CHECKING:
    from lftj.engine.live import Engine

COLUMNS = (("relation", STR), ("key_order", STR), ("rows", INT), ("bytes", INT))


def memory_report(engine: Engine, state: State) -> Result:
    """One row per relation and key order, hidden relations included, one per head state and
    sensitivity index, and three for the whole.

    The bytes of a key order, state or index are those of its rows; `(pages)` are the bytes of all
    pages in use, older versions' and free room included.
    """
    rows = list(all_memory_rows(state.database, state.view_states))
    rows.append(
        (
            "(rows)",
            "",
            sum(relation.count for relation in state.database.values()),
            sum(row[3] for row in rows),
        )
    )
    rows.append(("(pages)", "", 0, engine.arena.bytes_in_use))
    rows.append(("(dictionary)", "", engine.dictionary.strings, engine.dictionary.bytes_in_use))
    return Result.of_rows(COLUMNS, rows, version=state.version, name="memory")
