"""Rules that read one relation: all rows looked at find what a search finds, and no key order is
made for it.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lftj
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import plan_rule, run_plan
from lftj.join.run.ladder import RowScan
from lftj.join.strategy import Exhausted
from lftj.scantree import Arena
from lftj.tuning import Tuning
from tests.unit.join.evaluating import surroundings, tallied
from tests.unit.join.random_rules import database, random_rows, random_rule

ROWS = 1000
DAY = datetime.date(2013, 9, 1)


def test_all_rows_looked_at_find_what_a_search_finds():
    compared = computed = 0
    for seed in range(6000):
        by = random.Random(seed)
        rule = random_rule(by)
        needed = tuple(by.sample(range(len(rule.variables)), by.randrange(len(rule.variables) + 1)))
        arena = Arena()
        data = database(random_rows(by), arena)
        context = surroundings(arena, Tuning(columns_start=0))
        scan = RowScan(BodyQuery(rule, needed, data, context), None)
        if not scan.applies() or isinstance(found := scan.run(), Exhausted):
            continue
        searched = run_plan(
            plan_rule(rule, data, context, needed=needed, count=True), data, context
        )
        assert found.rows is not None
        expected = tallied(*searched)
        if not needed:
            assert found.rows[1].sum() == expected[()], rule
        else:
            assert tallied(*found.rows) == expected, rule
        compared += bool(expected)
        computed += bool(expected and rule.assignments)
    assert compared > 20
    assert computed > 20


@pytest.fixture
def things() -> Any:
    """ROWS rows of wide things; nothing orders them but their number."""
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl thing(n: number, a: number, b: number, f: float, s: symbol, d: date, t: bool)"
    )
    rows = [
        (n, n % 7, n % 11, n / 8 - 3, "stuv"[n % 4], DAY + datetime.timedelta(n % 30), n % 3 == 0)
        for n in range(ROWS)
    ]
    workspace.load("thing", rows)
    return workspace


def asked_of(workspace: Any, rules: str) -> Sequence[Any]:
    workspace.add_rules(rules)
    return workspace._backend.state.program.rules


def orders(workspace: Any) -> int:
    return workspace.memory().df().query("relation == 'thing'").shape[0]


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        ("thing(n, _, _, f, _, _, _), f > -0.5", lambda n, a, b, f, s, d, t: f > -0.5),
        ("thing(n, _, _, f, _, _, _), -0.5 >= f", lambda n, a, b, f, s, d, t: f <= -0.5),
        ("thing(n, x, x, _, _, _, _)", lambda n, a, b, f, s, d, t: a == b),
        ("thing(n, a, b, _, _, _, _), a < b, a != 2", lambda n, a, b, f, s, d, t: a < b and a != 2),
        (
            'thing(n, 3, _, _, s, _, true), s != "t"',
            lambda n, a, b, f, s, d, t: a == 3 and s != "t" and t,
        ),
        ('thing(n, _, _, _, "absent", _, _)', lambda n, a, b, f, s, d, t: False),
        (
            'thing(n, _, _, _, _, d, _), d <= date("2013-09-03")',
            lambda n, a, b, f, s, d, t: d <= datetime.date(2013, 9, 3),
        ),
    ],
)
def test_rows_are_compared_by_their_codes_and_no_order_is_made(things: Any, body: str, holds: Any):
    expected = {row[0] for row in things["thing"].fetchall() if holds(*row)}
    rule = things.add_rules(
        f".decl p(n: number)\np(n) :- {body}.\n.decl c(k: number)\nc(count()) :- {body}."
    )[0]
    work = things.profile(last=1).set_index("relation")
    assert {row[0] for row in things["p"].fetchall()} == expected
    assert things["c"].fetchall() == [(len(expected),)][: bool(expected)]
    assert orders(things) == 1
    assert work.loc["p"].steps == work.loc["c"].steps == ROWS
    assert "looks at all rows of thing as they lie" in str(things.plan(rule))
    gone = [row for row in things["thing"].fetchall() if row[0] % 5 == 0]
    with things.transaction() as tx:
        tx.delete("thing", gone)
    assert {row[0] for row in things["p"].fetchall()} == {n for n in expected if n % 5}
    assert orders(things) == 1


@pytest.mark.parametrize(
    "body",
    [
        'thing(n, _, _, _, s, _, _), s < "t"',
        "thing(n, a, b, _, _, _, _), a + b > 3",
        "thing(n, a, _, _, _, _, _), !thing(a, _, _, _, _, _, _)",
    ],
)
def test_what_takes_more_than_codes_is_searched_for(things: Any, body: str):
    rule = things.add_rules(f".decl p(n: number)\np(n) :- {body}.")[0]
    assert "as they lie" not in str(things.plan(rule))
    assert things.verify() == []


def test_an_order_that_begins_with_what_is_bounded_is_searched(things: Any):
    rule = things.add_rules(".decl p(n: number)\np(n) :- thing(n, _, _, _, _, _, _), n >= 990.")[0]
    assert len(things["p"]) == 10
    assert things.profile(last=1).steps.sum() < ROWS / 10
    assert "as they lie" not in str(things.plan(rule))


@pytest.mark.parametrize(
    "body", ["n, a, _, _, _, _, _), a != 2", "_, n, _, _, _, _, _)", "_, n, b, _, _, _, _), b > n"]
)
def test_a_row_costs_the_same_in_relations_of_all_sizes(body: str):
    steps: list[float] = []
    for rows in (1000, 40_000, 300_000):  # one block, two, and many
        workspace = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
        workspace.add_rules(
            ".decl thing(n: number, a: number, b: number, c: number, d: number, e: number, f: "
            "number)"
        )
        number = np.arange(rows)
        workspace.load("thing", pa.table({"n": number, **dict.fromkeys("abcdef", number % 11)}))
        rule = workspace.add_rules(f".decl p(n: number)\np(n) :- thing({body}.")[0]
        assert "as they lie" in str(workspace.plan(rule))
        steps.append(workspace.profile(last=1).steps.sum() / rows)
        workspace.add_rules(
            ".decl s(a: number, n: number)\ns(a, sum(b)) :- thing(_, a, b, _, _, _, _)."
        )
        steps.append(workspace.profile(last=1).steps.sum() / rows)
        assert len(workspace.memory().df().query("relation == 'thing'")) == 1
    assert max(steps[::2]) < 1.5 * min(steps[::2])
    assert max(steps[1::2]) < 1.5 * min(steps[1::2])


@pytest.mark.parametrize("rows", [1, 4_000_000, 4_000_001, 10**10])
def test_no_number_of_rows_is_too_many_to_be_looked_at(things: Any, rows: int):
    (rule,) = asked_of(things, ".decl p(n: number)\np(n) :- thing(n, a, _, _, _, _, _), a != 2.")
    relations: Any = {"thing": SimpleNamespace(count=rows, orders=list)}
    context = surroundings(Arena())
    assert RowScan(BodyQuery(rule, (0,), relations, context), None).applies()


def test_a_question_with_an_equation_makes_an_order_which_the_next_one_finds(things: Any):
    assert len(things.query("thing(n, a, _, f, _, _, _), f > 2.0, a != 1")) > 0
    assert orders(things) == 1
    assert len(things.query("thing(n, 3, _, _, _, _, _)")) == len(range(3, ROWS, 7))
    assert orders(things) == 2
