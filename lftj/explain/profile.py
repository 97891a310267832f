"""Work of commits: one row per rule that had work, as `ws.profile()` shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from typing import TYPE_CHECKING, TypeVar

from lftj.engine.result import Result
from lftj.errors import DeclarationError
from lftj.types import FLOAT, INT, STR

if TYPE_CHECKING:
    import pandas

    from lftj.engine.engine import Engine

Commit = TypeVar("Commit")

COLUMNS = (
    ("version", INT), ("relation", STR), ("rule", STR), ("strategy", STR), ("surgeries", INT),
    ("stabs", INT), ("regions", INT),
    ("steps", INT), ("assignments", INT), ("head_changes", INT), ("bytes", INT), ("seconds", FLOAT),
    ("cpu_seconds", FLOAT), ("parts", INT), ("largest_part", INT), ("compile_seconds", FLOAT),
    ("outcome", STR),
)  # fmt: skip


def last_commits(commits: Iterable[Commit], last: int | None) -> list[Commit]:
    """The last so many of these, all where there are fewer or `last` is None. Raises
    DeclarationError (E160) for what is no such number.
    """
    known = list(commits)
    if last is None:
        return known
    if isinstance(last, bool) or not isinstance(last, int) or last < 0:
        raise DeclarationError(
            f"`last` is a number of commits, found {last!r}",
            hint="leave it out for all: `ws.profile()`",
        )
    return known[max(0, len(known) - last) :]


def profile_report(engine: Engine, last: int | None) -> pandas.DataFrame:
    """One row per commit and rule, of the `last` commits, the oldest first; a commit without work
    for rules has none.
    """
    commits = last_commits(engine.history, last)
    rows = [(version, *astuple(work)) for version, works in commits for work in works]
    frame = Result.of_rows(COLUMNS, rows, version=engine.state.version, name="profile").df()
    return frame.sort_values("version", kind="stable", ignore_index=True)
