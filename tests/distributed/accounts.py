"""A workspace over parts with accounts, edges and views of both, and one change that takes every
way a commit has.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from tests.distributed.inline import InlineExecutor

RULES = """
.decl held(o: symbol, n: number)
held(o, count()) :- acct(_, o).
.decl linked(x: number, y: number)
linked(x, y) :- e(x, y).
linked(x, z) :- linked(x, y), linked(y, z).
"""


def opened(path: Path, parts: int = 3, **options: Any) -> Any:
    return lftj.connect(executor=InlineExecutor(path, parts), **options)


def made(workspace: Any) -> Any:
    workspace.relation("acct", {"id": int, "o": str}, key="id")
    workspace.relation("e", {"x": int, "y": int})
    workspace.add_rules(RULES)
    workspace.load("acct", [(i, f"o{i % 3}") for i in range(12)])
    workspace.load("e", [(i, i + 1) for i in range(8)])
    return workspace


def change(workspace: Any) -> None:
    """Rows that are settled before the commit, rows that are sent with it, and rounds."""
    with workspace.transaction() as tx:
        tx.upsert("acct", [(1, "new"), (50, "new")])
        tx.delete_where("acct", o="o2")
        tx.insert("e", [(8, 20), (20, 21)])
        tx.delete("e", [(3, 4)])


def rows(workspace: Any) -> dict[str, list[Any]]:
    return {name: sorted(workspace[name].fetchall()) for name in ("acct", "e", "held", "linked")}


@pytest.fixture
def expected() -> list[dict[str, list[Any]]]:
    """Expected rows before and after the change."""
    with made(lftj.connect()) as workspace:
        before = rows(workspace)
        change(workspace)
        return [before, rows(workspace)]
