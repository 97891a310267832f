"""What commits did: one row per rule that had work, as `ws.profile()` shows it."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from lftj.result import Result
from lftj.types import FLOAT, INT, STR

if TYPE_CHECKING:
    import pandas

    from lftj.engine import Engine

COLUMNS = (
    ("version", INT), ("relation", STR), ("rule", STR), ("strategy", STR), ("surgeries", INT), ("stabs", INT), ("regions", INT),
    ("steps", INT), ("assignments", INT), ("head_changes", INT), ("bytes", INT), ("seconds", FLOAT),
    ("parts", INT), ("largest_part", INT),
)  # fmt: skip


def profile_report(engine: Engine, last: int | None) -> pandas.DataFrame:
    """One row per commit and rule, of the `last` commits, the oldest first; a commit without work for rules has none."""
    commits = list(engine.history)[-last:] if last else list(engine.history)
    rows = [(version, *astuple(work)) for version, works in commits for work in works]
    frame = Result.of_rows(COLUMNS, rows, version=engine.state.version, name="profile").df()
    return frame.sort_values("version", kind="stable", ignore_index=True)
