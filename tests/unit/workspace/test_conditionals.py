# SPDX-License-Identifier: Apache-2.0
"""Rules with conditionals: what they give, and that many of them are one body."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

import lftj
from tests.unit.program.rules import normal

Cell = int | None

CASES: dict[str, Callable[[int, Cell, int], Cell]] = {
    "if(y > 3, 1, 0)": lambda x, y, w: int(y is not None and y > 3),
    "if(3 < y, y, x)": lambda x, y, w: y if y is not None and y > 3 else x,
    "if((y > 1 ; x = 2), 1, 0)": lambda x, y, w: int((y is not None and y > 1) or x == 2),
    "if((x > 1, y != 5), y, w)": lambda x, y, w: y if x > 1 and y not in (None, 5) else w,
    "if(!(x > 1, y = 5), 1, 0)": lambda x, y, w: int(not (x > 1 and y == 5)),
    "if(is_null(y), 0, y)": lambda x, y, w: 0 if y is None else y,
    "if(x > 1, y, 0)": lambda x, y, w: y if x > 1 else 0,
    "if(w != 0, x / w, 0)": lambda x, y, w: x // w if w else 0,
    "if((w != 0, 6 / w > 2), 1, 0)": lambda x, y, w: int(w != 0 and 6 // w > 2),
    "if(x = 1, 10, if(x = 2, 20, if(y = 2, 30, 40)))": lambda x, y, w: (
        10 if x == 1 else 20 if x == 2 else 30 if y == 2 else 40
    ),
    "if(if(x > 1, x, w) > 1, w + 1, y)": lambda x, y, w: w + 1 if (x if x > 1 else w) > 1 else y,
    "if(x > 1, 1, 2) + if(w > 1, 3, 4)": lambda x, y, w: (1 if x > 1 else 2) + (3 if w > 1 else 4),
}
ROWS = list(itertools.product((1, 2, 3), (None, 1, 2, 5), (0, 1, 3)))
DECLARED = ".decl r(x: number, y: number?, w: number) "


@pytest.mark.parametrize("term", CASES)
def test_a_conditional_is_an_expression(term: str):
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + ".decl v(x: number, y: number?, w: number, z: number?)")
    workspace.load("r", ROWS[::2])
    workspace.add_rules(f"v(x, y, w, {term}) :- r(x, y, w).")
    workspace.load("r", ROWS)
    assert set(workspace["v"]) == {(*row, CASES[term](*row)) for row in ROWS}
    with workspace.transaction() as tx:
        tx.delete("r", ROWS[1::3])
    assert set(workspace["v"]) == {
        (*row, CASES[term](*row)) for row in ROWS if row not in ROWS[1::3]
    }


def test_all_of_them_in_one_rule():
    workspace = lftj.connect()
    columns = ", ".join(f"z{number}: number?" for number in range(len(CASES)))
    workspace.add_rules(f"{DECLARED} .decl v(x: number, y: number?, w: number, {columns})")
    workspace.add_rules(f"v(x, y, w, {', '.join(CASES)}) :- r(x, y, w).")
    workspace.load("r", ROWS)
    assert set(workspace["v"]) == {(*row, *[f(*row) for f in CASES.values()]) for row in ROWS}


def test_a_null_that_an_equation_refuses_is_not_taken_from_the_other_branch():
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + ".decl v(x: number, w: number)")
    workspace.load("r", [(1, None, 1), (2, 7, 7), (3, 3, 2), (0, 9, 0), (0, 9, 4)])
    workspace.add_rules("v(x, w) :- r(x, y, w), w = if(x > 0, y, 0).")
    assert set(workspace["v"]) == {(2, 7), (0, 0)}


def test_a_branch_that_is_taken_fails():
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + ".decl v(x: number, z: number)")
    workspace.add_rules("v(x, if(x > 1, 6 / w, 0)) :- r(x, _, w).")
    workspace.load("r", [(1, 1, 0), (2, 1, 3)])
    with pytest.raises(lftj.LftjError, match="division by zero"):
        workspace.load("r", [(2, 1, 0)])
    assert set(workspace["v"]) == {(1, 0), (2, 2)}


def test_many_conditionals_are_one_rule():
    terms = " + ".join(f"if(x > {number}, y, {number})" for number in range(30))
    assert len(normal(f"h1({terms}) :- a(x, y).")) == 1


def test_many_branches_that_read_relations_are_as_many_relations():
    terms = " + ".join(f"if(e(x, {number}), y, {number})" for number in range(30))
    assert len(normal(f"h1({terms}) :- a(x, y).")) == 61


def test_left_joins_in_one_rule():
    workspace = lftj.connect()
    numbers = range(8)
    workspace.add_rules(".decl m(k: number) .decl o(k: number, n: number, v: number)")
    workspace.load("m", [(key,) for key in range(12)])
    rows = [(key, n, key * n) for key in range(12) for n in numbers if key % (n + 2) == 0]
    workspace.load("o", rows)
    columns = ", ".join(f"v{n}: number?" for n in numbers)
    values = ", ".join(f"v{n}" for n in numbers)
    body = ", ".join(f"(o(k, {n}, v{n}))?" for n in numbers)
    workspace.add_rules(f".decl v(k: number, {columns}) v(k, {values}) :- m(k), {body}.")

    def expected() -> set[tuple[int | None, ...]]:
        known = {(key, n): value for key, n, value in workspace["o"]}
        return {(key, *[known.get((key, n)) for n in numbers]) for (key,) in workspace["m"]}

    assert set(workspace["v"]) == expected()
    with workspace.transaction() as tx:
        tx.delete("o", rows[::3])
        tx.insert("o", [(1, 2, 5), (1, 7, 6)])
        tx.insert("m", [(40,)])
        tx.delete("m", [(3,)])
    assert set(workspace["v"]) == expected()
    assert "o(" in str(workspace.explain("v", next(row for row in workspace["v"] if row[0] == 1)))


def test_explanations_judge_branches_one_by_one():
    workspace = lftj.connect()
    numbers = range(10)
    columns = ", ".join(f"c{n}: number" for n in numbers)
    names = ", ".join(f"c{n}" for n in numbers)
    values = ", ".join(f"if(c{n} > {n}, 1, 0)" for n in numbers)
    workspace.add_rules(f".decl m({columns}) .decl v({columns}) v({values}) :- m({names}).")
    workspace.load("m", [(5,) * 10, (9,) * 10])
    row = (*[1] * 5, *[0] * 5)
    assert "!(5 > 9)" in str(workspace.explain("v", row))
    missing = workspace.why_not("v", (0, *[1] * 4, *[0] * 5))
    assert 0 < len(missing.attempts) <= 2
    assert set(workspace["v"]) == {row, (*[1] * 9, *[0] * 1)}
