# SPDX-License-Identifier: Apache-2.0
"""Sizes that the forms of rules rest on, where columns come and go."""

from __future__ import annotations

import pytest

import lftj

RULE = ".decl v(x: number)\nv(z) :- a(x), b(x, y), c(y, z)."


@pytest.fixture
def divided() -> lftj.Workspace:
    """A rule whose form depends on how many rows and values its relations have."""
    ws = lftj.connect()
    ws.relation("a", {"x": int})
    ws.relation("b", {"x": int, "y": int})
    ws.relation("c", {"y": int, "z": int})
    ws.add_rules(RULE)
    ws.load("a", [(x,) for x in range(20)])
    ws.load("b", [(x % 20, x // 20) for x in range(100)])
    ws.load("c", [(x, x) for x in range(5)])
    return ws


@pytest.mark.parametrize("relation", ["a", "b", "c"])
@pytest.mark.parametrize(
    "change",
    [
        {"add": {"n": int}, "default": {"n": 0}},
        {"add": {"n": int}, "compute": {"n": "{first} + 1"}},
        {"to": "other"},
    ],
    ids=["default", "computed", "renamed"],
)
def test_a_relation_of_a_divided_body_is_altered(
    divided: lftj.Workspace, relation: str, change: dict[str, object]
) -> None:
    """Earlier a column that came was looked for among the sizes of those before."""
    first = {"a": "x", "b": "x", "c": "y"}[relation]
    made = dict(change)
    if "compute" in made:
        made["compute"] = {"n": f"{first} + 1"}
    divided.alter(relation, **made)  # pyright: ignore[reportArgumentType]
    assert set(divided["v"].fetchall()) == {(z,) for z in range(5)}
    if "add" in made:
        divided.alter(relation, drop="n")
    with divided.transaction() as tx:
        tx.insert("other" if "to" in made and relation == "c" else "c", [(4, 9)])
    assert (9,) in divided["v"].fetchall()


def test_a_branch_with_a_divided_body_takes_a_column_over(divided: lftj.Workspace) -> None:
    """A merge replays the alteration over sizes of the branch."""
    branch = divided.branch("b")
    divided.alter("a", add={"n": int}, default={"n": 0})
    with branch.transaction() as tx:
        tx.insert("c", [(1, 7)])
    branch.merge("main")
    assert set(branch["v"].fetchall()) == {(z,) for z in (*range(5), 7)}
