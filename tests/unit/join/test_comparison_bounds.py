"""Estimated selectivity of comparisons, and searches between two ends of a range, which begin where
the range is known.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import lftj
from lftj.join.plan.comparison_bounds import ComparisonShares
from lftj.program.normal_form import Apply, Filter, NormalRule, Ref, RuleVariable, Value
from lftj.types import INT, STR

X, T, U = Ref(0), Ref(1), Ref(2)
LATER = Apply("+", (X, Value(9, INT)), INT)


def shares(*filters: Filter, of=INT) -> ComparisonShares:
    return ComparisonShares(
        NormalRule(
            1, "r", (), tuple(RuleVariable(name, of) for name in "xtu"), (), (), (), filters, None
        )
    )


def test_one_comparison_keeps_half_and_bounds_what_is_looked_at():
    assert shares(Filter("<", X, T)).of(0b001, 1) == (0.5, 0.5)
    assert shares(Filter("<", X, T)).of(0b000, 1) == (1.0, 1.0)  # x is not known yet
    assert shares(Filter("!=", X, T)).of(0b001, 1) == (0.5, 1.0)
    assert shares(Filter("<", X, T), of=STR).of(0b001, 1) == (0.5, 1.0)  # texts ascend by code


def test_the_two_ends_of_a_range_keep_little():
    window = shares(Filter("<", X, T), Filter("<", T, LATER))
    assert window.of(0b001, 1) == pytest.approx((0.05, 0.05))
    assert window.of(0b010, 0) == pytest.approx((0.05, 0.05))
    assert shares(Filter("<", X, T), Filter("<", T, U)).of(0b101, 1) == (
        0.25,
        0.25,
    )  # x and u may be far apart
    assert shares(Filter("<", X, T), Filter("<=", X, T)).of(0b001, 1) == (0.25, 0.25)
    assert window.looks_at(1) == 0b011


def test_of_values_known_those_are_kept_that_pass():
    of_x, of_t = range(0, 100, 25), range(50, 150, 25)

    def kept(condition: Filter, *, together: bool = False) -> float:
        rule = NormalRule(
            1,
            "r",
            (),
            tuple(RuleVariable(name, INT) for name in "xtu"),
            (),
            (),
            (),
            (condition,),
            None,
        )
        known = {0: {0: of_x}, 1: {0 if together else 1: of_t}}
        return ComparisonShares(rule, lambda variable: known.get(variable, {})).of(0b001, 1).kept

    assert kept(Filter("<", X, T)) == 13 / 16
    assert kept(Filter("<=", X, T)) == 15 / 16
    assert kept(Filter(">", X, T)) == 1 / 16
    assert kept(Filter("<", T, Value(100, INT))) == 0.5
    assert kept(Filter(">=", Value(100, INT), T)) == 0.75
    assert kept(Filter(">", T, Value(400, INT))) == 0.002  # others may be greater
    assert kept(Filter("<", X, U)) == 1.0  # u comes later
    assert kept(Filter("!=", X, T)) == 0.5
    assert kept(Filter("<", X, T), together=True) == 0.5  # x may follow t
    assert kept(Filter("<", T, LATER)) == 0.5


def test_a_window_over_rows_costs_its_rows_alone():
    # The search went through all rows of the relation first, by their second column, which many
    # rows share or so it seemed.
    workspace = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
    workspace.add_rules("""
    .decl amount(i: number, a: float)  .decl from(x: number)  .decl total(x: number, n: float)
    total(x, n) :- from(x), n = sum a : { amount(i, a), i > x, i < x + 50 }.
    """)
    rows = [(i, ((i * 7919) % 10007) / 16) for i in range(10_000)]
    workspace.load("amount", rows)
    workspace.load("from", [(1200 * i,) for i in range(8)])
    with workspace.transaction() as transaction:
        transaction.insert("from", [(77,)])
        transaction.delete("from", [(1200,)])
    work = workspace.profile(last=1)
    assert set(work.outcome) == {"update"}
    assert int(work.steps.sum()) < 1000
    expected = {
        (x, float(sum(a for _, a in rows[x + 1 : x + 50])))
        for x in (0, 77, *(1200 * i for i in range(2, 8)))
    }
    assert set(workspace["total"].fetchall()) == expected


# ── NULL, the least value ─────────────────────────────────────────────────────────────────────────
NULL_BODIES = (
    "j(x, z) :- a(x, y), b(y, z).",
    "j(x, count()) :- a(x, y), b(y, _).",
    "j(count(), count()) :- a(x, y), b(y, z), a(x, w), b(w, z).",
    "j(x, z) :- a(x, y), b(y, z), a(z, y).",
)


def _joined(rule: str, optional: str, rows: dict[str, Any]):
    ws = lftj.connect(tuning=lftj.Tuning(columns_start=10**12))  # no rows are looked up
    ws.add_rules(
        f".decl a(x: number, y: number{optional})\n.decl b(y: number{optional}, z: number)"
    )
    for name, some in rows.items():
        ws.load(name, some)
    ws.add_rules(f".decl j(x: number, y: number)\n{rule}")
    return ws


@pytest.mark.parametrize("rule", NULL_BODIES)
def test_a_test_for_null_costs_nothing_where_reading_begins_behind_it(rule: str):
    draw = random.Random(7)
    a = list({(draw.randrange(60), draw.randrange(200)) for _ in range(2000)})
    b = list({(draw.randrange(200), draw.randrange(60)) for _ in range(2000)})
    plain = _joined(rule, "", {"a": a, "b": b})
    gaps = {"a": [*a, *((x, None) for x in range(40))], "b": [*b, *((None, z) for z in range(50))]}
    steps = int(plain.profile(last=1).steps.sum())
    for rows in ({"a": a, "b": b}, gaps):
        optional = _joined(rule, "?", rows)
        assert set(optional["j"].fetchall()) == set(plain["j"].fetchall())
        assert int(optional.profile(last=1).steps.sum()) <= 1.02 * steps + 10
    with optional.transaction() as tx:
        tx.delete("a", gaps["a"][:1000] + gaps["a"][-20:])
        tx.insert("b", [(None, 58), (3, 77)])
    assert optional.verify() == []
    with optional.transaction() as tx:
        tx.delete("b", [*b, (3, 77)])
    assert optional["j"].fetchall() == []
