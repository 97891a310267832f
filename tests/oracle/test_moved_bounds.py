"""Windows over clocks, and limits: under histories of clocks and rows, compared with the naive
reference; and a move costs what lies between.
"""

from __future__ import annotations

import math
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lftj
from lftj.syntax.parser import parse
from lftj.tuning import Tuning
from lftj.tuning.aids import MOVED_BOUNDS
from tests.distributed.inline import InlineExecutor
from tests.oracle.test_order_bounds import Facts, committed, profiled
from tests.reference import evaluate

PROGRAM = """
    .decl now(t: number?)
    .decl since(t: number)
    .decl clock(z: symbol, t: number)
    .decl zone(c: number, z: symbol)
    .decl sale(c: number, a: number, d: number?)
    .decl shop(c: number)
    .decl today(d: date, note: number)
    .decl event(c: number, x: float, w: decimal(9,2), d: date)
    .decl level(x: float)
    .decl price(w: decimal(9,2))
    .decl total(c: number, n: number)
    .decl counted(c: number, n: number)
    .decl ends(c: number, least: number, most: number)
    .decl middle(c: number, m: float)
    .decl listed(c: number, a: number)
    .decl some(c: number)
    .decl joined(c: number, n: number)
    .decl zoned(z: symbol, n: number)
    .decl between(c: number, n: number)
    .decl ages(c: number, n: number)
    .decl all_of(c: number, n: number)
    .decl quiet(c: number)
    .decl dated(c: number, n: number)
    .decl above(c: number, x: float)
    .decl cheap(c: number, n: number)
    .decl pairs(c: number, e: number)
    .decl not_now(c: number, n: number)
    .decl late(c: number)
    total(c, sum(a)) :- now(t), sale(c, a, d), d <= t, d > t - 2.
    counted(c, count()) :- now(t), w = t - 2, sale(c, _, d), d > w, w >= 0.
    ends(c, min(a), max(a)) :- now(t), sale(c, a, d), t >= d, t - d < 3.
    middle(c, median(a)) :- now(t), sale(c, a, d), x = t - d, x >= 0, x < 2.
    listed(c, a) :- now(t), sale(c, a, d), d < t.
    some(c) :- now(t), sale(c, _, d), d <= t.
    joined(c, sum(a)) :- now(t), sale(c, a, d), shop(c), d <= t, d > t - 2, t > 0.
    zoned(z, count()) :- clock(z, t), zone(c, z), sale(c, _, d), d <= t, d > t - 2.
    between(c, count()) :- now(t), since(s), sale(c, _, d), d <= t, d > s.
    ages(c, sum(t)) :- now(t), sale(c, _, d), d <= t.
    all_of(c, n) :- shop(c), n = sum a : { now(t), sale(c, a, d), d <= t, d > t - 2 }.
    quiet(c) :- shop(c), !(now(t), sale(c, _, d), d <= t, d > t - 2).
    dated(c, count()) :- today(d, _), event(c, _, _, e), e <= d.
    above(c, max(x)) :- level(y), event(c, x, _, _), x > y.
    cheap(c, count()) :- price(p), event(c, _, w, _), w <= p + decimal("1.25").
    pairs(c, e) :- now(t), sale(c, _, d), sale(e, _, b), d < b, b <= t, d > t - 3.
    not_now(c, count()) :- now(t), sale(c, _, d), d != t.
    late(c) :- since(t), now(u), clock(_, v), sale(c, _, d), d > t, d > v, u > v.
"""
DECLARED = PROGRAM[: PROGRAM.index(".decl total")]
PARSED = parse(PROGRAM)
VIEWS = PROGRAM.count(".decl") - 10
DAY = date(2026, 1, 1)

SMALL = st.integers(-1, 4)
PERHAPS = st.one_of(st.none(), SMALL)
ZONES = st.sampled_from("ab")
ROWS = {
    "now": st.tuples(PERHAPS),
    "since": st.tuples(SMALL),
    "clock": st.tuples(ZONES, SMALL),
    "zone": st.tuples(SMALL, ZONES),
    "sale": st.tuples(SMALL, SMALL, PERHAPS),
    "shop": st.tuples(SMALL),
    "today": st.tuples(SMALL.map(lambda n: DAY + timedelta(n)), st.integers(0, 1)),
    "event": st.tuples(
        SMALL,
        st.sampled_from([0.0, 0.5, -math.inf, math.inf, 2.0]),
        st.sampled_from([Decimal("0.25"), Decimal(2), Decimal("-1.5")]),
        SMALL.map(lambda n: DAY + timedelta(n)),
    ),
    "level": st.tuples(st.sampled_from([0.0, 0.25, math.inf, -1.0])),
    "price": st.tuples(st.sampled_from([Decimal(0), Decimal("0.75"), Decimal(-2)])),
}
CLOCKS = ("now", "since", "clock", "today", "level", "price")


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[str, Any]]:
    """Rows that come or go, and clocks that move."""
    names = st.one_of(st.sampled_from(CLOCKS), st.sampled_from(sorted(ROWS)))
    return [(name, draw(ROWS[name])) for name in draw(st.lists(names, min_size=1, max_size=6))]


def moved(facts: Facts, change: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The change, in which each clock that comes takes the place of one that is there, if any."""
    found = list(change)
    for name, row in change:
        if name in CLOCKS and row not in facts[name] and facts[name]:
            found.append((name, min(facts[name], key=repr)))
    return found


def check(workspace: lftj.Workspace, facts: Facts) -> None:
    """All views are what the reference makes of the facts."""
    expected = evaluate(PARSED, facts)
    views = [name for name in expected if name not in ROWS]
    assert len(views) == VIEWS
    for name in views:
        assert Counter(workspace[name].fetchall()) == Counter(expected[name]), name


@given(st.booleans(), st.lists(changes(), min_size=1, max_size=8))
def test_histories(moving: bool, history: list[list[tuple[str, Any]]]) -> None:
    facts: Facts = {name: set() for name in ROWS}
    with lftj.connect() as workspace:
        workspace.add_rules(PROGRAM)
        for change in history:
            committed(workspace, facts, moved(facts, change) if moving else change)
            check(workspace, facts)
        assert workspace.verify() == []


def test_branches_and_reopenings_move_clocks_of_their_own(tmp_path: Path) -> None:
    facts: Facts = {name: set() for name in ROWS}
    facts |= {"now": {(1,)}, "since": {(0,)}, "clock": {("a", 1), ("b", 2)}, "level": {(0.0,)}}
    facts["sale"] = {(n % 4, n % 3, n % 7 - 1) for n in range(60)}
    facts |= {"shop": {(1,), (2,)}, "zone": {(n, "ab"[n % 2]) for n in range(4)}}
    with lftj.connect(tmp_path / "w") as workspace:
        workspace.add_rules(PROGRAM)
        for name, some in facts.items():
            workspace.load(name, sorted(some))
        check(workspace, facts)
    for clock in (2, 5, 0):
        with lftj.connect(tmp_path / "w") as workspace:
            committed(workspace, facts, moved(facts, [("now", (clock,))]))
            check(workspace, facts)
            other = {name: set(some) for name, some in facts.items()}
            branch = workspace.branch(f"at {clock}")
            change = [("now", (clock + 1,)), ("clock", ("a", clock)), ("sale", (7, 1, clock))]
            committed(branch, other, moved(other, change))
            check(branch, other)
            check(workspace, facts)


WINDOWS = {
    "sum": "v(c, sum(a)) :- now(t), sale(c, a, d), d <= t, d > t - 50.",
    "median": "v(c, median(a)) :- now(t), sale(c, a, d), d <= t, d > t - 50.",
    "most": "v(c, max(a)) :- now(t), sale(c, a, d), t >= d, t - 50 < d.",
    "since": "v(c, count()) :- now(t), sale(c, a, d), d <= t.",
    "shops": "v(c, sum(a)) :- now(t), sale(c, a, d), shop(c), d <= t, d > t - 50.",
    "zones": "v(c, sum(a)) :- clock(z, t), zone(c, z), sale(c, a, d), d <= t, d > t - 50.",
    "inside": "v(c, n) :- shop(c), n = sum a : { now(t), sale(c, a, d), d <= t, d > t - 50 }.",
}


@pytest.mark.parametrize("window", WINDOWS)
def test_a_move_costs_what_enters_and_leaves(window: str) -> None:
    """Of 20,000 sales some 500 are in the window, and ten come and go with each day; what is behind
    an extreme is brought into order when the first one goes.
    """
    sales, shops = 20_000, 300
    draw = np.random.default_rng(3)
    with lftj.connect() as workspace:
        workspace.add_rules(DECLARED)
        day = draw.integers(0, sales // 10, sales)
        columns = {"c": draw.integers(0, shops, sales), "a": draw.integers(0, 99, sales), "d": day}
        workspace.load("sale", pa.table(columns))
        workspace.load("shop", [(c,) for c in range(shops)])
        workspace.load("zone", [(c, "ab"[c % 2]) for c in range(shops)])
        workspace.load("now", [(1_000,)])
        workspace.load("clock", [("a", 1_000), ("b", 1_000)])
        type = "float" if window == "median" else "number"
        workspace.add_rules(f".decl v(c: number, n: {type})\n{WINDOWS[window]}")
        took: list[float] = []
        for old, new in ((1_000, 1_001), (1_001, 1_002), (1_002, 1_000)):
            with workspace.transaction() as tx:
                for name, row in (("now", ()), ("clock", ("a",))):
                    tx.delete(name, [(*row, old)])
                    tx.insert(name, [(*row, new)])
            name = "rule1#sum1" if window == "inside" else "v"
            took.append(profiled(workspace, "steps")[name])
        moved = int(((day > 1_000) & (day <= 1_002)).sum() + ((day > 950) & (day < 953)).sum())
        assert max(took[1:]) <= math.log2(sales) * moved
        assert workspace.verify() == []


def test_a_move_past_much_goes_the_shorter_way() -> None:
    """A limit moves past all prices, of which the items in the list are few."""
    steps: list[float] = []
    for without in ((), (MOVED_BOUNDS,)):
        with lftj.connect(tuning=Tuning(without=frozenset(without))) as workspace:
            workspace.add_rules("""
                .decl item(i: number, price: number)
                .decl listed(i: number)
                .decl limit(price: number)
                .decl dear(i: number)
                dear(i) :- listed(i), item(i, p), limit(q), p > q.
            """)
            workspace.load("item", [(i, i % 1_000) for i in range(20_000)])
            workspace.load("listed", [(i,) for i in range(990, 1_000)])
            workspace.load("limit", [(5,)])
            for old, new in ((5, 995), (995, 5)):
                with workspace.transaction() as tx:
                    tx.delete("limit", [(old,)])
                    tx.insert("limit", [(new,)])
                steps.append(profiled(workspace, "steps")["dear"])
            assert len(workspace["dear"]) == 10
    assert max(steps[:2]) <= 5_000 + max(steps[2:])


def test_parts_move_their_clocks_together(tmp_path: Path) -> None:
    rules = """
        .decl now(t: number)
        .decl clock(z: number, t: number)
        .decl sale(c: number, z: number, d: number)
        .decl sold(c: number, n: number)
        .decl zoned(z: number, n: number)
        .decl seen(c: number)
        sold(c, count()) :- now(t), sale(c, _, d), d <= t, d > t - 5.
        zoned(z, count()) :- clock(z, t), sale(_, z, d), d <= t, d > t - 5.
        seen(c) :- now(t), sale(c, _, d), d < t.
    """
    facts: Facts = {"now": {(4,)}, "clock": {(0, 3), (1, 9)}}
    facts["sale"] = {(n % 5, n % 2, n % 17) for n in range(80)}
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        workspace.add_rules(rules)
        for name, some in facts.items():
            workspace.load(name, sorted(some))
        for old, new in ((4, 5), (5, 12), (12, 3)):
            change = [
                ("now", (old,)),
                ("now", (new,)),
                ("clock", (0, old - 1)),
                ("clock", (0, new - 1)),
            ]
            committed(workspace, facts, [*change, ("sale", (new % 5, 0, new))])
            expected = lftj.evaluate(
                rules, {name: list(rows) for name, rows in facts.items()}, by="substitution"
            )
            for name in ("sold", "zoned", "seen"):
                assert sorted(workspace[name].fetchall()) == sorted(expected[name].fetchall()), name


def test_a_move_beyond_a_limit_leaves_all_as_it_was() -> None:
    with lftj.connect() as workspace:
        workspace.add_rules(DECLARED)
        workspace.add_rules(f".decl v(c: number, n: number)\n{WINDOWS['sum']}")
        workspace.load("sale", [(c, 1, 12) for c in range(1_000)])
        workspace.load("now", [(10,)])
        facts: Facts = {"now": {(10,)}}
        with workspace.limits(work=50), pytest.raises(lftj.LimitError, match="for `v`"):
            committed(workspace, facts, [("now", (10,)), ("now", (13,))])
        assert workspace["now"].fetchall() == [(10,)]
        assert len(workspace["v"]) == 0
        assert workspace.verify() == []


def test_a_row_of_a_window_is_explained_by_the_clock() -> None:
    with lftj.connect() as workspace:
        workspace.add_rules(PROGRAM)
        workspace.load("sale", [(1, 5, 1), (1, 7, 4), (1, 9, 9)])
        workspace.load("now", [(2,)])
        with workspace.transaction() as tx:
            tx.delete("now", [(2,)])
            tx.insert("now", [(4,)])
            why = str(tx.explain_change("total", (1, 7)))
        assert "now(4)" in why
        assert "sale(1, 7, 4)" in str(workspace.explain("total", (1, 7)))
        assert "sale(1, 9, 9)" not in str(workspace.explain("total", (1, 7)))


@pytest.mark.parametrize(
    "rule",
    [
        "v(c, count()) :- sale(c, a, _), a >= c.",
        "v(c, a) :- sale(c, a, d), a > c, d <= c.",
        "v(c, a) :- shop(c), sale(c, a, _), a >= c.",
    ],
)
def test_a_row_may_say_both_sides_of_a_comparison(rule: str) -> None:
    """Nothing lies between then: such rows are followed one by one."""
    program = f"""
        .decl sale(c: number, a: number, d: number?)
        .decl shop(c: number)
        .decl v(c: number, n: number)
        {rule}
    """
    history = [
        {"insert": {"shop": [(2,)], "sale": [(2, 5, 1), (0, 9, None)]}},
        {"insert": {"sale": [(2, -1, 1)]}, "delete": {"sale": [(2, 5, 1)]}},
        {"insert": {"sale": [(2, 7, 1)]}, "delete": {"sale": [(2, -1, 1)]}},
    ]
    assert lftj.compare(program, history) is None
