"""Atoms of which a negated one leaves few rows: the rules that result, and what changes cost."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

import lftj
from lftj.join.plan.cardinality import Statistics
from lftj.program.program import Program
from lftj.program.statistics_hints import NO_SIZE, Size
from lftj.syntax.parser import parse
from tests.unit.program.listing import list_rule

DECLARED = """
.decl e(x: number, y: number)
.decl f(x: number, y: number)
.decl w(x: number, y: number, d: number)
.decl no(x: number)
.decl off(x: number, y: number)
.decl c(x: number) choice-domain x
.decl v(x: number)
.decl n(x: number, n: number)
"""
MANY = Size(100_000, (50.0, 90_000.0, 500.0), (2000.0, 1.0, 200.0))


def normal(rule: str, **sizes: Size | None) -> list[str]:
    """The rules that one becomes, where all relations but these have many rows."""
    found = {"no": Size(95_000, (95_000.0,), (1.0,)), **sizes}
    program, _ = Program().add(parse(DECLARED + rule), lambda name: found.get(name, MANY))
    return [list_rule(each) for each in program.rules]


BECOMES = {
    "both ends of a comparison": (
        "v(g) :- e(g, x), f(g, y), x < y, !no(x), !no(y).",
        [
            "rule1#part1(g, x) :- e(g, x), !no(x).",
            "rule1#part2(g, y) :- f(g, y), !no(y).",
            "v(g) :- rule1#part1(g, x), rule1#part2(g, y), x < y.",
        ],
    ),
    "what nothing else reads": (
        "v(g) :- e(g, x), f(g, y), !no(x), !no(y).",
        [
            "rule1#part1(g) :- e(g, x), !no(x).",
            "rule1#part2(g) :- f(g, y), !no(y).",
            "v(g) :- rule1#part1(g), rule1#part2(g).",
        ],
    ),
    "rows that are counted": (
        "n(g, count()) :- e(g, x), w(g, y, _), y < 9, !no(x), !no(y).",
        [
            "rule1#part1(g, x) :- e(g, x), !no(x).",
            "rule1#part2(g, y, _2) :- w(g, y, _2), !no(y).",
            "n(g, count()) :- rule1#part1(g, x), rule1#part2(g, y, _3), y < 9.",
        ],
    ),
    "columns of the negated atom that are not looked at": (
        "v(g) :- e(g, x), f(g, y), x < y, !off(_, x), !off(g, _).",
        [
            "rule1#part1(g, x) :- e(g, x), !off(_, x).",
            "v(g) :- rule1#part1(g, x), f(g, y), !off(g, _), x < y.",
        ],
    ),
    "equal atoms": (
        "v(g) :- e(g, x), e(g, y), x < y, !no(x), !no(y).",
        [
            "rule1#part1(g, x) :- e(g, x), !no(x).",
            "v(g) :- rule1#part1(g, x), rule1#part1(g, y), x < y.",
        ],
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_becomes(name: str) -> None:
    rule, expected = BECOMES[name]
    assert normal(rule) == expected


@pytest.mark.parametrize(
    ("rule", "sizes", "why"),
    [
        ("v(g) :- e(g, x), !no(x).", {}, "one atom: the change of its rows is that of the view"),
        ("v(x) :- e(g, x), f(g, y), x < y, !no(x).", {}, "each x is searched for"),
        ("v(g) :- e(g, x), f(g, y), x < y, !off(x, y).", {}, "no atom has both"),
        (
            "v(g) :- e(g, x), f(g, y), x < y, !no(x).",
            {"no": Size(50_000, (50_000.0,), (1.0,))},
            "half are left",
        ),
        (
            "v(g) :- e(g, x), f(g, y), x < y, !no(x).",
            {"e": Size(9_000, (50.0, 9_000.0), (180.0, 1.0))},
            "there are few in all",
        ),
        ("v(g) :- e(g, x), f(g, y), x < y, !no(x).", {"no": None}, "nothing is known"),
        ("v(g) :- e(g, x), f(g, y), x < y, !no(x).", {"no": NO_SIZE}, "nobody may ask"),
        ("v(g) :- c(x), e(g, x), f(g, y), x < y, !c(y).", {}, "it chooses"),
    ],
)
def test_left_as_it_is(rule: str, sizes: dict[str, Size | None], why: str) -> None:
    assert len(normal(rule, **sizes)) == 1, why


GROUPS, ROWS = 20, 30_000


def blocked(rule: str) -> lftj.Workspace:
    """A workspace in which all values are blocked that the rule looks for."""
    workspace = lftj.connect()
    with workspace.transaction() as tx:
        tx.add_rules("""
            .decl item(g: number, x: number)  .decl other(g: number, w: number)
            .decl blocked(x: number)  .decl v(g: number)
        """)
        tx.insert("item", [(i % GROUPS, i) for i in range(ROWS)])
        tx.insert("other", [(i % GROUPS, i) for i in range(ROWS)])
        tx.insert("blocked", [(i,) for i in range(ROWS)])
    workspace.add_rules(rule)
    return workspace


@pytest.mark.parametrize(
    "tests",
    ["!blocked(x), !blocked(w)", "x < w, !blocked(x), !blocked(w)", "w != x, !blocked(w)"],
)
def test_values_that_come_and_go_are_not_searched_for_among_the_blocked(tests: str) -> None:
    workspace = blocked(f"v(g) :- item(g, x), other(g, w), {tests}.")
    steps: list[int] = []
    for number in range(8):
        some = [(GROUPS * 7 * each + each % 3,) for each in range(40)]
        with workspace.transaction() as tx:
            (tx.insert if number % 2 else tx.delete)("blocked", some)
        steps.append(int(workspace.profile(last=1).steps.sum()))
        assert len(workspace["v"]) == (0 if number % 2 else 3)
    assert max(steps[2:]) < 1000
    assert workspace.verify() == []


def test_rows_that_are_loaded_later_are_told_few() -> None:
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl item(g: number, x: number)  .decl blocked(x: number)  .decl v(g: number)
        v(g) :- item(g, x), item(g, y), x < y, !blocked(x), !blocked(y).
    """)

    def hidden() -> list[str]:
        return [row[0] for row in workspace.memory().fetchall() if "#part" in str(row[0])]

    workspace.load("item", [(i % GROUPS, i) for i in range(ROWS)])
    assert hidden() == []
    workspace.load("blocked", [(i,) for i in range(ROWS)])
    assert len(hidden()) == 1
    with workspace.transaction() as tx:
        tx.delete("blocked", [(0,), (GROUPS,), (1,)])
    assert workspace["v"].fetchall() == [(0,)]
    assert workspace.verify() == []


def test_a_rule_that_closes_a_cycle_makes_others_whole_again() -> None:
    workspace = lftj.connect()
    workspace.add_rules(".decl e(x: number, y: number)  .decl no(x: number)  .decl v(x: number)")
    workspace.load("e", [(i % 9, i) for i in range(99)])
    workspace.load("no", [(i,) for i in range(90)])
    size = Size(100_000, (500.0,) * 2, (1.0,) * 2)
    with patch.object(Statistics, "size", return_value=size):
        workspace.add_rules("v(g) :- e(g, x), e(g, y), x < y, !no(x), !no(y).")
    before: Any = workspace["v"].fetchall()
    workspace.add_rules("e(x, y) :- v(x), y = x + 9.")
    assert workspace.verify() == []
    assert workspace["v"].fetchall() == before
