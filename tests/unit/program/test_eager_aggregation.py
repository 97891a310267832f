"""Aggregates that are drawn into a join, and the rules that result."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa
import pytest

import lftj
from lftj.join.plan.cardinality import Statistics
from lftj.program.program import Program
from lftj.syntax.parser import parse
from tests.unit.program.listing import list_rule

DECLARED = """
.decl e(x: number, y: number)
.decl w(x: number, y: number, d: number)
.decl t(x: number, y: number, f: float)
.decl k[x: number]: number
.decl v(x: number, n: number)
.decl z(x: number, n: float)
"""


def normal(rule: str, repeats: bool = True) -> list[str]:
    program, _ = Program().add(parse(DECLARED + rule), lambda relation, column: repeats)
    return [list_rule(each) for each in program.rules]


PATHS = "v(x, n) :- e(x, _), n = count : { e(x, y), e(y, z), e(z, u) }."


def test_paths_are_counted_one_relation_after_the_other() -> None:
    assert normal(PATHS) == [
        "rule1#count1(z, count()) :- e(z, u).",
        "rule1#sum1(y, sum(_2)) :- e(y, z), rule1#count1(z, _2).",
        "rule1#count2(x, sum(_2)) :- e(x, y), rule1#sum1(y, _2).",
        "v(x, n) :- e(x, _1), rule1#count2(x, n).",
        "v(x, n) :- e(x, _1), !rule1#count2(x, _), n := 0.",
    ]


def test_a_value_beside_the_branch_counts_as_often_as_the_branch_has_rows() -> None:
    assert normal("v(x, sum(d)) :- w(x, y, d), e(y, _).") == [
        "rule1#count1(y, count()) :- e(y, _1).",
        "v(x, sum(_4)) :- w(x, y, d), rule1#count1(y, _3), _4 := d * _3.",
    ]


def test_a_greatest_value_asks_only_whether_the_branch_has_any_and_takes_its_tests_along() -> None:
    assert normal("v(0, n) :- n = max d : { e(x, y), w(y, _, d), d > 3, !e(y, d) }.")[:2] == [
        "rule1#in1(y) :- e(x, y).",
        "rule1#max1(max(d)) :- w(y, _1, d), rule1#in1(y), !e(y, d), d > 3.",
    ]


def test_what_nothing_links_is_aggregated_once() -> None:
    assert normal("v(x, sum(a)) :- e(x, a), e(y, z), w(z, _, _).") == [
        "rule1#sum1(x, sum(a)) :- e(x, a).",
        "rule1#count1(z, count()) :- e(y, z).",
        "rule1#sum2(sum(_3)) :- w(z, _1, _2), rule1#count1(z, _3).",
        "v(x, sum(_3)) :- rule1#sum1(x, _1), rule1#sum2(_2), _3 := _1 * _2.",
    ]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("v(x, sum(d)) :- w(x, _, d).", "one atom"),
        (
            "v(x, n) :- e(x, _), n = count : { e(x, y), e(y, z) }.",
            "the last variable of a count is not listed",
        ),
        ("v(x, sum(d)) :- e(x, y), w(y, x, d).", "two variables link"),
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
        (
            "v(x, n) :- e(x, _), n = sum d : { e(3, y), w(y, _, d), e(x, _) }.",
            "the rest asks for few rows",
        ),
    ],
)
def test_left_as_it_is(rule: str, why: str) -> None:
    assert normal(rule) == normal(rule, repeats=False), why


def test_where_nobody_knows_nothing_is_drawn_in() -> None:
    program, _ = Program().add(parse(DECLARED + PATHS))
    assert (
        [list_rule(each) for each in program.rules] == normal(PATHS, repeats=False) != normal(PATHS)
    )


def test_rows_tell_whether_a_link_repeats() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED)
    workspace.load("e", pa.table({"x": list(range(400)), "y": [n % 40 for n in range(400)]}))
    workspace.load(
        "w", pa.table({"x": [n % 40 for n in range(400)], "y": list(range(400)), "d": [7] * 400})
    )

    def drawn(body: str) -> bool:
        handle = workspace.add_rule(f"v(0, n) :- n = max d : {{ {body} }}.")
        relations = set(workspace.profile(last=1)["relation"])
        workspace.remove_rule(handle)
        return "rule" in str(relations) and len(relations) > 2

    assert drawn("e(_, y), w(y, _, d)")
    assert not drawn("e(_, y), w(_, y, d)")
    assert not drawn("e(y, _), w(y, _, d)")


LOADED = {
    "e": pa.table({"x": [n % 20 for n in range(400)], "y": [n // 20 for n in range(400)]}),
    "w": pa.table({"x": [n % 40 for n in range(400)], "y": list(range(400)), "d": [7] * 400}),
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
    assert workspace["v"].fetchall() == [(x, 7) for x in range(20)]
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
    assert workspace["v"].fetchall() == [(x, 7) for x in range(20)]


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
    with patch.object(Statistics, "repeats", return_value=True):
        workspace.add_rule("v(x, n) :- e(x, _), n = sum d : { e(x, y), w(y, _, d) }.")
    with pytest.raises(lftj.errors.ValueRangeError), workspace.transaction() as transaction:
        transaction.insert("w", [(1, 0, 2**63 - 1), (1, 1, 1), (2, 0, -5)])
    assert workspace["v"].fetchall() == [(0, 0)]
