"""Least and greatest values beyond a bound: room for the rows alone, and changes that cost the
values they touch.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable

import pytest

import lftj

ROWS = 3_000
DAY = datetime.date(1968, 1, 1)
NOW = datetime.datetime(1968, 1, 1)
DECLARED = ".decl at(t: {0})  .decl event(s: {0})  .decl v(t: {0}, u: {0})"
NEXT = "v(t, u) :- at(t), u = min s : { event(s), s > t }."
LAST = "v(t, u) :- at(t), u = max s : { event(s), s < t }."
TYPES: dict[str, Callable[[int], object]] = {
    "int": lambda number: number - 1500,
    "float": lambda number: (number - 1500) / 4,
    "decimal(9,2)": lambda number: decimal.Decimal(number - 1500) / 4,
    "date": lambda number: DAY + datetime.timedelta(number),
    "timestamp": lambda number: NOW + datetime.timedelta(seconds=number),
}


def bounded(rule: str, type_: str = "int") -> lftj.Workspace:
    """Every even value asks for the next or the last odd multiple of five."""
    workspace = lftj.connect()
    workspace.add_rules(DECLARED.format(type_))
    made = TYPES[type_]
    workspace.load("at", [(made(n),) for n in range(0, ROWS, 2)])
    workspace.load("event", [(made(n),) for n in range(5, ROWS, 10)])
    workspace.add_rules(rule)
    return workspace


def steps(workspace: lftj.Workspace) -> int:
    """Kernel steps and look-ups of the last commit."""
    profile = workspace.profile(last=1)
    assert set(profile["outcome"]) == {"update"}
    return int(profile["steps"].sum() + profile["stabs"].sum())


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("rule", [NEXT, LAST], ids=["next", "last"])
def test_the_answers_of_every_type(rule: str, type_: str):
    workspace, made = bounded(rule, type_), TYPES[type_]
    events = range(5, ROWS, 10)
    beyond = {
        n: [e for e in events if (e > n if rule is NEXT else e < n)] for n in range(0, ROWS, 2)
    }
    best = min if rule is NEXT else max
    assert sorted(workspace["v"].fetchall()) == sorted(
        (made(n), made(best(found))) for n, found in beyond.items() if found
    )
    assert workspace.verify() == []


@pytest.mark.parametrize(
    "rule",
    [
        NEXT,
        LAST,
        "v(t, min(s)) :- at(t), event(s), s > t.",
        "v(t, u) :- at(t), u = min s : { event(s), s > t + 1 }.",
        "v(t, u) :- at(t), u = max s : { event(s), s <= t - 1 }.",
    ],
    ids=["next", "last", "head", "next but", "last but"],
)
def test_one_row_a_group_is_kept_and_changes_cost_what_they_touch(rule: str):
    workspace = bounded(rule)
    made = TYPES["int"]
    kept = workspace.memory().df()
    # 1500 groups × 300 events are 450,000 pairs, half of them in order; a group keeps one
    assert kept["rows"].max() <= 2 * ROWS
    assert "to the first proof" in str(workspace.plan(workspace.rules[-1]))
    workspace.load("event", [(made(1502),)])
    assert len(workspace["v"].fetchall()) > 1400
    assert steps(workspace) < 200
    with workspace.transaction() as tx:
        tx.delete("event", [(made(1502),)])
    assert steps(workspace) < 200
    workspace.load("at", [(made(1001),)])
    assert steps(workspace) < 100
    assert workspace.verify() == []


@pytest.mark.parametrize(
    "rule",
    [
        "v(i, t, u) :- at(i, t), u = min s : { event(i, s), s > t }.",
        "v(i, t, u) :- at(i, t), u = max s : { event(i, s), s <= t }.",
        "v(i, t, min(s)) :- at(i, t), event(i, s), s > t.",
        "v(i, t, u) :- at(i, t), u = min s : { log(i, s, 1), s > t }.",
    ],
    ids=["next", "last", "head", "constant"],
)
def test_items_of_which_one_has_most_rows_keep_no_more_than_rows(rule: str):
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl at(i: int, t: int)  .decl event(i: int, s: int)  .decl log(i: int, s: int, k: int)  "
        ".decl v(i: int, t: int, u: int)"
    )
    item = [
        max(0, n - ROWS // 2) for n in range(ROWS)
    ]  # 1,500 items, and half of the rows are of the first
    workspace.load("at", [(i, 2 * n) for n, i in enumerate(item)])
    workspace.load("event", [(i, 2 * n + 1) for n, i in enumerate(item)])
    workspace.load("log", [(i, 2 * n + 1, n % 2) for n, i in enumerate(item)])
    workspace.add_rules(rule)
    # the first item has 1,125,000 pairs in order
    assert workspace.memory().df()["rows"].max() <= 5 * ROWS
    with workspace.transaction() as tx:
        tx.insert("event", [(0, 500)])
        tx.insert("log", [(0, 500, 1)])
    assert steps(workspace) < 200
    assert workspace.verify() == []


@pytest.mark.parametrize("bound", ["s > t", "t <= s"])
def test_the_bound_need_not_be_in_the_group(bound: str):
    workspace = lftj.connect()
    workspace.add_rules(".decl at(i: int, t: int)  .decl event(s: int)  .decl v(i: int, u: int)")
    workspace.load("at", [(n // 2, 2 * n) for n in range(ROWS // 2)])
    workspace.load("event", [(n,) for n in range(5, ROWS, 10)])
    with workspace.limits(work=20_000):
        workspace.add_rules(f"v(i, min(s)) :- at(i, t), event(s), {bound}.")
    first = [2 * n for n in range(0, ROWS // 2, 2)]
    expected = [(i, t // 10 * 10 + (5 if t % 10 < 5 else 15)) for i, t in enumerate(first)]
    assert sorted(workspace["v"].fetchall()) == [each for each in expected if each[1] < ROWS]
    workspace.load("event", [(1502,)])
    assert steps(workspace) < 200
    assert workspace.verify() == []


@pytest.mark.parametrize("rule", [NEXT, LAST], ids=["next", "last"])
def test_questions_and_verification_look_at_no_more(rule: str):
    workspace = bounded(rule)
    # half of the 450,000 pairs of a time and an event are in order
    with workspace.limits(work=60_000):
        answer = workspace.query(rule.partition(":-")[2]).df()[["t", "u"]]
        assert workspace.verify() == []
    assert sorted(answer.itertuples(index=False, name=None)) == sorted(workspace["v"].fetchall())


def test_what_a_head_keeps_of_least_values_does_not_serve_greatest_ones():
    workspace = bounded("v(t, min(s)) :- at(t), event(s), s > t.")
    workspace.add_rules(".decl w(t: int, u: int)  w(t, max(s)) :- at(t), event(s), s > t.")
    made = TYPES["int"]
    assert dict(workspace["w"].fetchall())[made(0)] == made(ROWS - 5)
    assert dict(workspace["v"].fetchall())[made(0)] == made(5)
    workspace.load("event", [(made(ROWS),), (made(1),)])
    assert dict(workspace["w"].fetchall())[made(0)] == made(ROWS)
    assert dict(workspace["v"].fetchall())[made(0)] == made(1)
    assert workspace.verify() == []


def test_arithmetic_that_may_fail_is_looked_at_for_all_values():
    workspace = bounded("v(t, u) :- at(t), u = min s : { event(s), s > t, 100 / (s - 2495) != t }.")
    assert workspace["v"].fetchall()
    with pytest.raises(lftj.ValueRangeError):
        workspace.load("event", [(2495,)])
    assert workspace.verify() == []


def test_arithmetic_that_fails_for_a_group_fails_with_its_first_value():
    workspace = bounded("v(t, u) :- at(t), u = min s : { event(s), s > t + 9223372036854774000 }.")
    assert workspace["v"].fetchall() == []
    with pytest.raises(lftj.ValueRangeError):
        workspace.load("at", [(2_000,)])
    workspace.load("event", [(-(2**63) + 5,)])
    with workspace.transaction() as tx:
        tx.delete_where("event")
    workspace.load("at", [(2_000,)])
    with pytest.raises(lftj.ValueRangeError):
        workspace.load("event", [(3,)])
    assert workspace.verify() == []
