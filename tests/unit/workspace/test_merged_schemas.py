"""Branches that have both altered schemas: what is merged, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.errors import MergeConflictError

Change = Callable[[Any], object]


def begun(path: Path | None = None) -> Any:
    ws = lftj.connect(path, keep="all") if path else lftj.connect(keep="all")
    ws.relation("item", {"id": int, "who": str, "price": int}, key="id")
    ws.relation("shop", {"id": int, "town": str})
    ws.load("item", [(1, "ann", 10), (2, "bob", 20)])
    ws.load("shop", [(1, "Rome")])
    ws.add_rules(".decl large(id: number) large(id) :- item(id, _, p), p > 15.")
    return ws


def altered_apart(here: Any, there: Any) -> tuple[Any, Any]:
    """A workspace that one alteration changed, and its branch `b` that another one did."""
    ws = begun()
    branch = ws.branch("b")
    here(ws)
    there(branch)
    return ws, branch


def alter(**change: Any) -> Change:
    return lambda ws: ws.alter("item", **change)


COMMUTE: dict[str, tuple[Change, Change, str]] = {
    "relations": (alter(to="article"), lambda ws: ws.alter("shop", rename={"town": "city"}),
                  "article(id: int, who: str, price: int) key(id)"),
    "adds": (alter(add={"a": int}, default={"a": 1}), alter(add={"b": "int?"}),
             "item(id: int, who: str, price: int, a: int = 1, b: int?) key(id)"),
    "add and rename": (alter(rename={"who": "name"}), alter(add={"b": int}, default={"b": 2}),
                       "item(id: int, name: str, price: int, b: int = 2) key(id)"),
    "drop and retype": (alter(drop="who"), alter(retype={"price": float}),
                        "item(id: int, price: float) key(id)"),
    "computed of a renamed one": (
        alter(rename={"price": "cost"}), alter(add={"b": int}, compute={"b": "price * 2"}),
        "item(id: int, who: str, cost: int, b: int) key(id)"),
    "key and rename": (alter(rename={"id": "number"}), alter(key=["id", "who"]),
                       "item(number: int, who: str, price: int) key(number, who)"),
    "default of a renamed one": (
        alter(rename={"price": "cost"}), alter(default={"price": 7}),
        "item(id: int, who: str, cost: int = 7) key(id)"),
    "the same": (alter(add={"a": int}, default={"a": 1}), alter(add={"a": int}, default={"a": 1}),
                 "item(id: int, who: str, price: int, a: int = 1) key(id)"),
    "the same and more": (
        alter(add={"a": int}, default={"a": 1}, to="article"),
        alter(drop="who", add={"a": int}, default={"a": 1}),
        "article(id: int, price: int, a: int = 1) key(id)"),
}  # fmt: skip


@pytest.mark.parametrize("case", COMMUTE)
@pytest.mark.parametrize("turned", [False, True])
def test_what_commutes_is_merged(case: str, turned: bool) -> None:
    here, there, after = COMMUTE[case]
    ws, branch = altered_apart(*((there, here) if turned else (here, there)))
    ws.merge("b")
    name = after.partition("(")[0]
    assert told(ws.relations[name]) == told(after)
    assert ws["large"].fetchall() == [(2,)]
    assert ws.verify() == []
    branch.merge("main")
    assert table(branch, name) == table(ws, name)
    assert told(branch.relations[name]) == told(after)


def told(relation: object) -> tuple[list[str], str]:
    """The columns, in any order, and the key."""
    columns, _, rest = str(relation).partition("(")[2].partition(")")
    return sorted(columns.split(", ")), rest.strip(" >")


def table(ws: Any, name: str) -> list[list[tuple[str, Any]]]:
    """Rows by name, whatever the order of the columns."""
    columns = ws.relations[name].columns
    return sorted(sorted(zip(columns, row, strict=True)) for row in ws[name])


REFUSED: dict[str, tuple[Change, Change, str]] = {
    "name": (alter(to="a"), alter(to="b"), "both give the relation a name"),
    "column": (alter(add={"a": int}, default={"a": 1}), alter(add={"a": int}, default={"a": 2}),
               "both bring a column `a`"),
    "renamed to": (alter(rename={"who": "a"}), alter(add={"a": "int?"}), "both bring a column `a`"),
    "renamed": (alter(rename={"who": "a"}), alter(rename={"who": "b"}), "both rename the column"),
    "renamed to one": (alter(rename={"who": "a"}), alter(rename={"id": "a"}),
                       "both bring a column `a`"),
    "dropped and renamed": (alter(drop="who"), alter(rename={"who": "b"}), "`who` went"),
    "dropped and read": (alter(drop="who"), alter(add={"n": int}, compute={"n": "strlen(who)"}),
                         "`who` went"),
    "retyped and read": (alter(retype={"price": float}),
                         alter(add={"n": int}, compute={"n": "price"}), "has another type"),
    "key": (alter(key=None), alter(key=["id", "who"]), "both change the key"),
    "dropped and in the key": (alter(drop="who"), alter(key=["id", "who"]), "`who`"),
    "default": (alter(default={"price": 1}), alter(default={"price": 2}), "both change the column"),
    "relation dropped": (
        lambda ws: (ws.remove_rule(ws.rules[0]), ws.drop_relation("item")),
        alter(add={"a": "int?"}), "unknown relation"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("turned", [False, True])
def test_what_does_not_commute_is_refused(case: str, turned: bool) -> None:
    here, there, reason = REFUSED[case]
    ws, _ = altered_apart(*((there, here) if turned else (here, there)))
    before = ws.version
    with pytest.raises(MergeConflictError) as problem:
        ws.merge("b")
    assert reason in str(problem.value)
    assert "version" in str(problem.value)
    assert "item" in str(problem.value)
    assert ws.version == before
    assert ws.verify() == []


def test_a_relation_that_a_branch_declared_and_altered_comes(tmp_path: Path) -> None:
    with begun(tmp_path / "w.lftj") as ws:
        branch = ws.branch("b")
        branch.relation("new", {"a": int})
        branch.load("new", [(1,)])
        branch.alter("new", add={"b": int}, default={"b": 2}, to="newer")
        ws.alter("item", rename={"who": "name"})
        ws.merge("b")
        branch.load("newer", [{"a": 3}])
        branch.alter("newer", rename={"b": "c"})
        ws.merge("b")
        branch.merge("main")
        assert str(branch.relations["item"]) == str(ws.relations["item"])
    with lftj.connect(tmp_path / "w.lftj") as ws:
        assert sorted(ws["newer"].fetchall()) == [(1, 2), (3, 2)]
        assert ws.relations["newer"].columns == ("a", "c")
        assert ws.verify() == []


def test_a_program_of_a_branch_is_merged_beside_both_alterations() -> None:
    ws = begun()
    branch = ws.branch("b")
    branch.program(".decl shops(t: number) shops(t) :- shop(id=t).", name="p")
    branch.alter("shop", add={"n": int}, default={"n": 1})
    ws.alter("shop", rename={"town": "city"}, add={"m": int}, default={"m": 5})
    ws.merge("b")
    assert ws["shops"].fetchall() == [(1,)]
    assert sorted(ws["shop"].fetchall()) == [(1, "Rome", 5, 1)]
    change = list(ws.changes("shop", since=1, timeout=0))
    assert [each.kind for each in change].count("schema") == 2


def test_a_rule_that_a_replay_breaks_is_named() -> None:
    here = lftj.connect(keep="all")
    here.program(".decl o(id: number, price: number) key(id)\n.decl t(s: number)", name="decls")
    here.add_rules("t(sum(p)) :- o(_, p).")
    here.load("o", [(1, 5)])
    there = here.branch("there")
    there.load("o", [(2, 6)])
    with here.transaction() as tx:
        tx.remove_rule(here.rules[0])
        tx.alter("o", retype={"price": float})
        tx.alter("t", retype={"s": float})
        tx.add_rules("t(sum(p)) :- o(_, p).")
    with pytest.raises(MergeConflictError) as caught:
        here.merge("there")
    assert "expected int for column `s` of `t`" in caught.value.message
    assert caught.value.message.endswith("in  t(sum(p)) :- o(_, p).")


@pytest.mark.parametrize("rows", [[], [(1, 2)]])
@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize("changed", [True, False])
def test_a_relation_that_one_branch_declared_anew(
    rows: list[tuple[int, int]], here: bool, changed: bool
) -> None:
    ws = lftj.connect()
    ws.program(".decl a(x: number, y: number)\n.decl q(x: number)\nq(x) :- a(x, _).")
    ws.load("a", rows)
    there = ws.branch("there")
    one, other = (ws, there) if here else (there, ws)
    one.program(".decl a(x: number)\n.decl q(x: number)\nq(x) :- a(x).\na(8).", drop=True)
    if changed:
        other.load("a", [(5, 6)])
        with pytest.raises(MergeConflictError, match="one branch has dropped a"):
            ws.merge("there")
    else:
        ws.merge("there")
        assert (list(ws["a"]), list(ws["q"])) == ([(8,)], [(8,)])
    assert ws.verify() == []


def test_an_alteration_of_a_relation_that_the_other_branch_declared_anew() -> None:
    ws = lftj.connect()
    ws.program(".decl a(x: number, y: number)")
    there = ws.branch("there")
    ws.alter("a", rename={"y": "z"})
    there.program(".decl a(x: number)")
    with pytest.raises(MergeConflictError, match="`a` was dropped, and declared anew"):
        ws.merge("there")
