"""Aggregates that are drawn into a join, and the rules that result."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa
import pytest

import lftj
from lftj.join.plan.cardinality import Statistics
from lftj.program.program import Program
from lftj.program.statistics_hints import NO_SIZE, Size
from lftj.syntax.parser import parse
from tests.unit.program.listing import list_rule

DECLARED = """
.decl e(x: number, y: number)
.decl w(x: number, y: number, d: number)
.decl t(x: number, y: number, f: float)
.decl k[x: number]: number
.decl v(x: number, n: number)
.decl z(x: number, n: float)
.decl p(x: number, y: number, n: number)
.decl q(x: number, y: number)
"""


DENSE = Size(100_000, (500.0,) * 3, (200.0,) * 3)
"""Rows of which each value has many in each column."""


def normal(rule: str, size: Size | None = DENSE) -> list[str]:
    program, _ = Program().add(parse(DECLARED + rule), lambda relation: size)
    return [list_rule(each) for each in program.rules]


PATHS = "v(x, n) :- e(x, _), n = count : { e(x, y), e(y, z), e(z, u) }."


BECOMES = {
    "paths, counted one relation after the other": (
        PATHS,
        [
            "rule1#count1(z, count()) :- e(z, u).",
            "rule1#sum1(y, sum(_2)) :- e(y, z), rule1#count1(z, _2).",
            "rule1#count2(x, sum(_2)) :- e(x, y), rule1#sum1(y, _2).",
            "v(x, n) :- rule1#count2(x, n).",
            "v(x, n) :- e(x, _1), !rule1#count2(x, _), n := 0.",
        ],
    ),
    "paths, counted by both ends": (
        "p(x, u, count()) :- e(x, y), e(y, z), e(z, u).",
        [
            "rule1#count1(x, z, count()) :- e(x, y), e(y, z).",
            "p(x, u, sum(_3)) :- e(z, u), rule1#count1(x, z, _3).",
        ],
    ),
    "a value beside a part, multiplied by the number of its rows": (
        "v(x, sum(d)) :- w(x, y, d), e(y, z), e(z, _).",
        [
            "rule1#count1(z, count()) :- e(z, _1).",
            "rule1#sum1(y, sum(_2)) :- e(y, z), rule1#count1(z, _2).",
            "v(x, sum(_4)) :- w(x, y, d), rule1#sum1(y, _3), _4 := d * _3.",
        ],
    ),
    "a greatest value with its tests": (
        "v(0, n) :- e(x, _), n = max d : { e(x, y), w(y, _, d), d > 3, !e(y, d) }.",
        [
            "rule1#max1(y, max(d)) :- w(y, _1, d), !e(y, d), d > 3.",
            "rule1#max2(x, max(_2)) :- e(x, y), rule1#max1(y, _2).",
            "v(_2, n) :- rule1#max2(x, n), _2 := 0.",
        ],
    ),
    "what nothing links": (
        "v(x, sum(a)) :- e(x, a), e(y, z), w(z, _, _).",
        [
            "rule1#count1(z, count()) :- e(y, z).",
            "rule1#sum1(sum(_3)) :- w(z, _1, _2), rule1#count1(z, _3).",
            "v(x, sum(_3)) :- e(x, a), rule1#sum1(_2), _3 := a * _2.",
        ],
    ),
    "what a constant asks for, found once": (
        "v(x, n) :- e(x, _), n = sum d : { e(3, y), w(y, _, d), e(x, _) }.",
        [
            "rule1#sum1(sum(d)) :- e(3, y), w(y, _1, d).",
            "rule1#sum2(x, sum(_2)) :- e(x, _1), rule1#sum1(_2).",
            "v(x, n) :- rule1#sum2(x, n).",
            "v(x, n) :- e(x, _1), !rule1#sum2(x, _), n := 0.",
        ],
    ),
    "the ends of paths": (
        "v(a, d) :- e(a, b), e(b, c), e(c, d).",
        [
            "rule1#part1(a, c) :- e(a, b), e(b, c).",
            "v(a, d) :- e(c, d), rule1#part1(a, c).",
        ],
    ),
    "halves that are alike, one relation": (
        "v(a, i) :- w(b, a, 1), e(b, c), e(c, d), e(f, d), e(g, f), w(g, i, 1).",
        [
            "rule1#part1(c, a) :- e(b, c), w(b, a, 1).",
            "rule1#part2(d, a) :- e(c, d), rule1#part1(c, a).",
            "v(a, i) :- rule1#part2(d, a), rule1#part2(d, i).",
        ],
    ),
    "tests, where all that they compare is at hand": (
        "v(a, f) :- e(a, b), e(b, c), e(c, d), e(d, f), c < 9, !e(b, d).",
        [
            "rule1#part1(b, d) :- e(b, c), e(c, d), !e(b, d), c < 9.",
            "rule1#part2(a, d) :- e(a, b), rule1#part1(b, d).",
            "v(a, f) :- e(d, f), rule1#part2(a, d).",
        ],
    ),
    "a triangle is one join, what hangs at it another": (
        "v(a, f) :- e(a, b), e(b, c), e(a, c), e(c, d), e(d, f).",
        [
            "rule1#part1(a, c) :- e(a, b), e(b, c), e(a, c).",
            "rule1#part2(d, a) :- e(c, d), rule1#part1(a, c).",
            "v(a, f) :- e(d, f), rule1#part2(d, a).",
        ],
    ),
    "what must not be": (
        "v(a, 1) :- e(a, _), !( e(a, b), e(b, c), e(c, d) ).",
        [
            "rule1#part1(c) :- e(c, d).",
            "rule1#part2(b) :- e(b, c), rule1#part1(c).",
            "rule1#not1(a) :- e(a, b), rule1#part2(b).",
            "v(a, _2) :- e(a, _1), !rule1#not1(a), _2 := 1.",
        ],
    ),
    "all but a rule's own rows": (
        "v(a, d) :- v(a, b), e(b, c), e(c, d).",
        [
            "rule1#part1(b, d) :- e(b, c), e(c, d).",
            "v(a, d) :- v(a, b), rule1#part1(b, d).",
        ],
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_becomes(name: str) -> None:
    rule, rules = BECOMES[name]
    assert normal(rule) == rules


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("v(x, sum(d)) :- w(x, _, d).", "one atom"),
        (
            "v(x, n) :- e(x, _), n = count : { e(x, y), e(y, z) }.",
            "the last variable of a count is not listed",
        ),
        ("v(x, sum(d)) :- e(x, y), w(y, x, d).", "two variables link"),
        ("v(x, 1) :- e(x, y), e(y, z), e(z, x).", "a triangle is no cheaper by paths"),
        (
            "v(x, 1) :- e(x, y), e(x, z), e(x, u), e(y, z), e(y, u), e(z, u).",
            "nor is a clique of four",
        ),
        ("v(x, u) :- e(x, y), e(y, z), e(z, u), x + y < z + u.", "arithmetic may fail"),
        ("v(x, y) :- v(x, z), v(z, u), v(u, y).", "the rule's own rows"),
        ("v(x, y) :- q(x, z), q(z, u), q(u, y). q(x, y) :- v(x, y).", "rows that depend on it"),
        ("q(x, y) :- v(x, y). v(x, y) :- q(x, z), q(z, u), q(u, y).", "in whichever order"),
        ("z(x, sum(f)) :- e(x, y), t(y, _, f).", "sums of floats are rounded once"),
        ("z(x, mean(d)) :- e(x, y), w(y, _, d).", "a mean of means is another one"),
        ("v(x, max(d)) :- e(x, y), w(y, _, d).", "the head may come to stand in a cycle"),
        ("v(x, n) :- e(x, _), n = sum d : { e(x, y), k[y] = d }.", "the link is a key"),
        (
            "v(x, n) :- e(x, _), n = sum d : { e(x, y), w(y, c, d), c / x > 1 }.",
            "a test reads both sides",
        ),
        (
            "v(x, n) :- e(x, _), n = sum d : { e(x, y), w(y, c, d), 9 / c > 1 }.",
            "the test may fail for rows without a partner",
        ),
    ],
)
def test_left_as_it_is(rule: str, why: str) -> None:
    assert normal(rule) == normal(rule, NO_SIZE), why


def test_a_rule_that_closes_a_cycle_makes_the_others_whole_again() -> None:
    one, other = "v(x, y) :- q(x, z), q(z, u), q(u, y).", "q(x, y) :- v(x, y)."
    program, _ = Program().add(parse(DECLARED + one), lambda relation: DENSE)
    assert len(program.rules) == 2
    program, _ = program.add(parse(other), lambda relation: DENSE)
    assert len(program.rules) == 2
    assert program.revised == {1}
    left = program.remove(2)
    assert len(left.rules) == 1


def test_neither_do_counts_of_what_nothing_links() -> None:
    assert normal("p(0, 0, count()) :- q(_, x), e(y, _), w(z, _, _).", None) == [
        "rule1#count1(count()) :- e(y, _1).",
        "rule1#count2(count()) :- w(z, _1, _2).",
        "p(_4, _5, sum(_6)) :- q(_0, x), rule1#count1(_2), rule1#count2(_3), _4 := 0, _5 := 0, "
        "_6 := _2 * _3.",
    ]


def test_long_bodies_do_not_wait_for_rows() -> None:
    hops = ", ".join(f"e(x{n}, x{n + 1})" for n in range(32))
    assert len(normal(f"v(x0, x32) :- {hops}.", None)) > 3
    assert len(normal("v(x, u) :- e(x, y), e(y, z), e(z, u).", None)) == 1


def test_where_nobody_knows_nothing_is_drawn_in() -> None:
    program, _ = Program().add(parse(DECLARED + PATHS))
    assert [list_rule(each) for each in program.rules] == normal(PATHS, NO_SIZE) != normal(PATHS)


def test_rows_tell_whether_a_link_repeats() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED)
    many = range(4_000)
    workspace.load("e", pa.table({"x": list(many), "y": [n % 40 for n in many]}))
    workspace.load("w", pa.table({"x": [n % 40 for n in many], "y": list(many), "d": list(many)}))

    def drawn(body: str) -> bool:
        handle = workspace.add_rule(f"v(x, n) :- e(x, _), n = max d : {{ {body} }}.")
        relations = set(workspace.profile(last=1)["relation"])
        workspace.remove_rule(handle)
        return "rule" in str(relations) and len(relations) > 2

    assert drawn("e(x, y), w(y, _, d)")
    assert not drawn("e(x, y), w(_, y, d)")
    assert not drawn("e(y, x), w(y, _, d)")


LOADED = {
    "e": pa.table({"x": [n % 60 for n in range(3_600)], "y": [n // 60 for n in range(3_600)]}),
    "w": pa.table({"x": [n % 60 for n in range(6_000)], **dict.fromkeys("yd", range(6_000))}),
}
GREATEST = "v(x, n) :- e(x, _), n = max d : { e(x, y), w(y, _, d) }."


def hidden_of(workspace: lftj.Workspace) -> list[str]:
    return [name for name in workspace._backend.state.database if name.startswith("rule")]


def test_a_rule_that_was_there_before_the_rows_is_drawn_in_when_they_are_loaded() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED)
    rule = workspace.add_rule(GREATEST)
    before = hidden_of(workspace)
    for name, rows in LOADED.items():
        workspace.load(name, rows)
    assert len(before) == 1
    assert len(hidden_of(workspace)) == 2
    assert set(before).isdisjoint(hidden_of(workspace))
    assert workspace["v"].fetchall() == [(x, 5_999) for x in range(60)]
    assert workspace.verify() == []
    workspace.remove_rule(rule)
    assert hidden_of(workspace) == []
    assert len(workspace["v"]) == 0


def test_a_rule_and_its_rows_may_come_together() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED)
    with workspace.transaction() as transaction:
        transaction.add_rule(GREATEST)
        for name, rows in LOADED.items():
            transaction.insert(name, rows)
    assert len(hidden_of(workspace)) == 2
    assert workspace["v"].fetchall() == [(x, 5_999) for x in range(60)]


def test_a_load_that_fails_leaves_the_rule_as_it_was() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + GREATEST)
    workspace.load("e", LOADED["e"])
    before = hidden_of(workspace)
    transaction = workspace.transaction()
    transaction.insert("w", LOADED["w"])
    transaction.insert("k", [(1, 1), (1, 2)])
    with pytest.raises(lftj.errors.KeyViolationError):
        transaction.commit()
    assert hidden_of(workspace) == before
    workspace.load("w", LOADED["w"])
    assert len(hidden_of(workspace)) == 2
    assert workspace.verify() == []


def test_rows_that_come_one_by_one_leave_rules_as_they_are() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + GREATEST)
    workspace.load("w", LOADED["w"])
    for row in LOADED["e"].to_pylist()[:120]:
        with workspace.transaction() as transaction:
            transaction.insert("e", [row])
    assert len(hidden_of(workspace)) == 1


def test_an_answer_that_fits_may_need_parts_that_do_not() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED)
    with workspace.transaction() as transaction:
        transaction.insert("e", [(0, 1), (0, 2)])
    with patch.object(Statistics, "size", return_value=DENSE):
        workspace.add_rule("v(x, n) :- e(x, _), n = sum d : { e(x, y), w(y, _, d) }.")
    with pytest.raises(lftj.errors.ValueRangeError), workspace.transaction() as transaction:
        transaction.insert("w", [(1, 0, 2**63 - 1), (1, 1, 1), (2, 0, -5)])
    assert workspace["v"].fetchall() == [(0, 0)]


def test_a_variable_that_stays_in_its_part_is_not_eliminated_again() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        """.decl a(x: number, y: number)
        .decl b(x: number, y: number?)
        .decl f(x: number, y: float?)
        .decl v(n: number, of: number)
        v(count(), count(x)) :- a(4, 0), a(_, x), b(y, z), m = count : { b(_, z) },
            k = count : { f(x, _) }, m > z."""
    )
    with workspace.transaction() as transaction:
        transaction.insert("a", [(4, 0), (1, 7)])
        transaction.insert("b", [(1, 0), (2, None)])
    assert workspace["v"].fetchall() == [(2, 2)]
    assert workspace.verify() == []
