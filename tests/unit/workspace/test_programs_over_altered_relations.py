# SPDX-License-Identifier: Apache-2.0
"""Programs whose relations were altered: a clause that the program has had keeps its reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.errors import LftjError

LAND = ".decl l(x: symbol)\nl(x) :- customer(_, _, x).\n"
ID = ".decl z(x: number)\nz(x) :- customer(x, _, _).\n"
TIER = ".decl t(x: symbol)\nt(x) :- customer(tier=x).\n"
ALTERS: dict[str, Callable[[Any], object]] = {
    "as many columns": lambda ws: ws.alter(
        "customer", drop="name", add={"tier": str}, default={"tier": "basic"}
    ),
    "more columns": lambda ws: ws.alter("customer", add={"tier": str}, default={"tier": "basic"}),
    "another name": lambda ws: ws.alter(
        "customer", add={"tier": str}, default={"tier": "basic"}, to="client"
    ),
}


@pytest.fixture(params=["memory", "path"])
def opened(request: Any, tmp_path: Path) -> Any:
    """Opens the workspace, at a path again and again."""
    memory = lftj.connect()

    @contextmanager
    def opening() -> Iterator[lftj.Workspace]:
        if request.param == "memory":
            yield memory
        else:
            with lftj.connect(tmp_path / "w.lftj") as ws:
                yield ws

    with opening() as ws:
        ws.relation("customer", {"id": int, "name": str, "land": str})
        ws.load("customer", [(1, "ann", "FR")])
    return opening


TEXTS = [(LAND + ID, LAND), (LAND + ID, LAND + ID), (LAND, LAND + ".decl o(x: number)\no(1).\n")]


@pytest.mark.parametrize("alter", ALTERS)
@pytest.mark.parametrize(("before", "after"), TEXTS)
def test_a_clause_that_stays_keeps_its_reading(
    opened: Any, alter: str, before: str, after: str
) -> None:
    with opened() as ws:
        ws.program(before)
        ALTERS[alter](ws)
    with opened() as ws:
        ws.program(after)
        assert list(ws["l"]) == [("FR",)]
        ws.program(after + "\n// run again\n")
        assert list(ws["l"]) == [("FR",)]
        assert ws.verify() == []
        ws.program("")
        assert "l" not in ws.relations


def test_a_clause_that_comes_is_read_as_the_relation_is(opened: Any) -> None:
    with opened() as ws:
        ws.program(LAND)
        ALTERS["as many columns"](ws)
    with opened() as ws:
        ws.program(LAND + TIER)
        assert (list(ws["l"]), list(ws["t"])) == ([("FR",)], [("basic",)])
        ws.program(TIER + LAND.replace("x", "y") + ID)
        assert (list(ws["l"]), list(ws["t"])) == ([("FR",)], [("basic",)])
        ws.program(TIER + LAND.replace("_, _, x", "_, x, _"))
        assert list(ws["l"]) == [("FR",)]
        ws.program(TIER)
        ws.program(TIER + LAND)  # it went, and comes anew
        assert list(ws["l"]) == [("basic",)]


def test_what_no_program_has_is_checked(opened: Any) -> None:
    with opened() as ws:
        ws.program(LAND)
        ALTERS["more columns"](ws)
        with pytest.raises(LftjError):
            ws.program(LAND + ID)
        with pytest.raises(LftjError):
            ws.program(LAND, name="other")
        assert list(ws["l"]) == [("FR",)]


@pytest.mark.parametrize(
    "altered", [{"rename": {"v": "w"}}, {"add": {"d": int | None}}, {"key": None}]
)
@pytest.mark.parametrize("with_a_rule", [False, True])
def test_views_that_share_a_group_go_on_together(
    altered: dict[str, Any], with_a_rule: bool
) -> None:
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl a(k: number, g: symbol, v: number) key(k)
        .decl c(g: symbol, s: number)  .decl q(g: symbol, n: number)  .decl m(g: symbol, n: float)
        c(g, sum(v)) :- a(_, g, v).
        q(g, count()) :- a(_, g, v).
    """)
    workspace.load("a", [(1, "x", 7)])
    workspace.alter("a", **altered)
    rest = (None,) if "add" in altered else ()
    with workspace.transaction() as tx:
        tx.insert("a", [(2, "x", 5, *rest)])
        if with_a_rule:
            tx.add_rules(f"m(g, mean(v)) :- a(_, g, v{', _' if rest else ''}).")
    assert workspace["c"].fetchall() == [("x", 12)]
    assert workspace["q"].fetchall() == [("x", 2)]
    workspace.load("a", [(3, "y", 1, *rest)])
    assert workspace["q"].fetchall() == [("x", 2), ("y", 1)]
    assert not workspace.verify()


def test_views_that_share_a_group_after_a_cycle_that_went() -> None:
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl e(x: number, y: number)  .decl p(x: number, y: number)
        .decl c(x: number, n: number)  .decl q(x: number, n: number)
        p(x, y) :- e(x, y).
        c(x, max(y)) :- p(x, y), x < y.
        q(x, min(y)) :- p(x, y), x < y.
    """)
    back = workspace.add_rules("p(x, y) :- c(x, _), q(y, _).")[0]
    workspace.load("e", [(1, 2), (1, 3)])
    workspace.remove_rule(back)
    workspace.load("e", [(1, 4)])
    assert workspace["c"].fetchall() == [(1, 4)]
    assert workspace["q"].fetchall() == [(1, 2)]
    assert not workspace.verify()


@pytest.mark.parametrize(
    ("altered", "declared"),
    [
        ({"add": {"d": "str?"}}, "c: number, d: symbol?"),
        ({"add": {"d": "decimal(9, 2)?"}}, "c: number, d: decimal(9, 2)?"),
        ({"retype": {"c": "int?"}}, "c: number?"),
    ],
)
def test_a_text_may_declare_what_an_alteration_made(
    altered: dict[str, Any], declared: str, tmp_path: Path
) -> None:
    workspace = lftj.connect(tmp_path / "w")
    workspace.program(".decl o(k: number, c: number)")
    workspace.load("o", [(1, 2)])
    workspace.alter("o", **altered)
    workspace.program(f".decl o(k: number, {declared})  .decl v(k: number)  v(k) :- o(k=k).")
    workspace.close()
    with lftj.connect(tmp_path / "w") as again:
        again.add_rules(f".decl o(k: number, {declared})")
        assert again["v"].fetchall() == [(1,)]


def test_views_that_wait_are_followed_by_the_rules_of_the_last_alteration(opened: Any) -> None:
    with opened() as ws:
        ws.add_rules(
            """.decl n(c: number?) .decl f(a: number, b: float?) .decl b(a: number, b: number)
            .decl w(k: number) .decl v(k: number)
            w(a) :- b(a, _).
            v(count()) :- f(5, _), n(0)."""
        )
        ws.alter("f", rename={"b": "q"})
        ws.alter("b", rename={"b": "q"})
        ws.load("b", [(1, 1)])  # makes nodes for both views, and a state for one
        ws.alter("n", add={"m": str | None})
        ws.load("f", [(5, 1.0)])
        ws.load("n", [(0, None), (0, "a")])
        assert (ws["v"].fetchall(), ws.verify()) == ([(2,)], [])
    with opened() as ws:
        assert ws.verify() == []


def test_a_relation_that_has_the_old_name_is_read_by_it() -> None:
    ws = lftj.connect()
    text = ".decl a(x: number, y: number)\n.decl q(x: number)\nq(x) :- a(x, _).\n"
    ws.program(text)
    ws.load("a", [(1, 2)])
    with ws.transaction() as tx:
        tx.alter("a", to="b")
        tx.program(text + ".decl b(x: number, y: symbol)\na(7, 7).\n", drop=True)
    assert (list(ws["a"]), list(ws["b"]), list(ws["q"])) == ([(7, 7)], [], [(7,)])
    assert ws.verify() == []
    with pytest.raises(LftjError, match="unknown relation `a`"):
        ws.program(".decl q(x: number)\nq(x) :- a(x, _).\n", drop=True)
    ws.alter("a", to="c")
    with pytest.raises(LftjError, match="unknown relation `a`"):
        ws.program(".decl q(x: number)\nq(x) :- a(x, _).\n", drop=True)
