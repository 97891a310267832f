"""Workspaces with a recursive stratum: changes of their facts, and what following them took."""

from __future__ import annotations

from typing import Any

import lftj
from tests.unit.recursion.stratum import counted_at_once

EDGES = ".decl e(x: number, y: number)\n"

CLOSURE = (
    EDGES + ".decl t(x: number, y: number)\nt(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z).\n"
)

RING = [(i, (i + 1) % 40) for i in range(40)]


def workspace(text: str, facts: dict[str, list[tuple[Any, ...]]], **options: Any) -> Any:
    """A workspace with these rules and rows, its first small change done, so that states are
    counted. `options` are those of `lftj.connect`.
    """
    found = lftj.connect(**options)
    found.add_rules(text)
    name, rows = next((name, rows) for name, rows in facts.items() if rows)
    with counted_at_once():
        change(found, facts, {})
        for change_ in ({}, {name: rows[-1:]}), ({name: rows[-1:]}, {}):
            change(found, *change_)
    return found


def change(
    target: Any,
    inserts: dict[str, list[tuple[Any, ...]]],
    deletes: dict[str, list[tuple[Any, ...]]],
) -> None:
    with target.transaction() as transaction:
        for name, rows in deletes.items():
            transaction.delete(name, rows)
        for name, rows in inserts.items():
            transaction.insert(name, rows)


def strategies(target: Any, commits: int = 1) -> list[str]:
    profile = target.profile(last=commits)
    return [
        strategy
        for strategy, rule in zip(profile["outcome"], profile["rule"], strict=True)
        if not rule
    ]


def steps(target: Any) -> int:
    return int(target.profile(last=1)["steps"].sum())
