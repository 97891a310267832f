"""Rows that lack a partner are left out of a first evaluation: nothing else changes, and wide
relations get no key order for it.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import lftj
from lftj.errors import ValueRangeError
from lftj.join.access import semijoin_reduction
from lftj.join.context import Context
from lftj.join.plan.plan import RulePlan
from lftj.join.run.evaluate import Relations, plan_once, plan_rule, run_plan
from lftj.scantree import Arena
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning import DEFAULT, Tuning
from tests.depth import enough
from tests.retuning import constants
from tests.unit.join.evaluating import surroundings, tallied
from tests.unit.join.random_rules import database, random_rows, random_rule

FACTS = 40_000


always = constants(
    semijoin_reduction,
    _SEMIJOIN_ROWS=1,
    _SEMIJOIN_SMALLER=1,
    _SEMIJOIN_PASSING=1.0,
    _SEMIJOIN_WORTH=1.0,
)
"""Every relation is reduced, whatever its size."""


def outcome(plan: RulePlan, data: Relations, context: Context) -> Counter[tuple[int, ...]] | str:
    try:
        found = tallied(*run_plan(plan, data, context))
        return (
            found if plan.count else Counter(dict.fromkeys(found, 1))
        )  # which may repeat in one order and not in another
    except ValueRangeError as failure:
        return failure.code


@always
def test_what_is_left_gives_the_same_rows_and_the_same_failures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of = semijoin_reduction.SemijoinReduction.of
    monkeypatch.setattr(
        semijoin_reduction.SemijoinReduction,
        "of",
        lambda rule, relations, cost, context: of(rule, relations, float("inf"), context),
    )
    fewer = failed = 0
    for seed in range(enough(4_000, 60_000)):
        by = random.Random(seed)
        rule, arena = random_rule(by), Arena()
        data = database(random_rows(by), arena)
        needed = tuple(by.sample(range(len(rule.variables)), by.randrange(len(rule.variables) + 1)))
        count, context = by.random() < 0.7, surroundings(arena, Tuning(narrow_columns=0))
        plan, reduced = plan_once(rule, data, context, needed=needed, count=count)
        if reduced is data:
            continue
        (name,) = (name for name in rule.reads if isinstance(reduced[name], TransientRelation))
        expected = outcome(
            plan_rule(rule, data, context, needed=needed, count=count), data, context
        )
        assert outcome(plan, reduced, context) == expected, rule
        fewer += bool(expected) and reduced[name].count < data[name].count
        failed += isinstance(expected, str)
    assert fewer > 100
    assert failed > 10


STAR = """
    .decl sale(n: number, shop: number, thing: number, day: number, price: number)
    .decl shop(shop: number, town: symbol)
    .decl thing(thing: number, kind: number)
    .decl kind(kind: number, name: symbol)
    .decl day(day: number, year: number)
"""


def star(tuning: Tuning = DEFAULT) -> Any:
    workspace = lftj.connect(executor=lftj.ThreadExecutor(1), tuning=tuning)
    workspace.add_rules(STAR)
    workspace.load("sale", [(n, n % 100, n * 7 % 1000, n % 365, n % 97) for n in range(FACTS)])
    workspace.load("shop", [(n, "ABCDE"[n % 5]) for n in range(100)])
    workspace.load("thing", [(n, n % 20) for n in range(1000)])
    workspace.load("kind", [(n, f"k{n % 10}") for n in range(20)])
    workspace.load("day", [(n, n // 100) for n in range(365)])
    return workspace


RULES = """
    .decl total(year: number, sum: number, n: number)
    total(y, sum(p), count()) :- sale(_, s, t, d, p), shop(s, "B"), thing(t, 2), day(d, y), p > 10.
    .decl sold(t: number, y: number)
    sold(t, y) :- sale(_, s, t, d, _), shop(s, "B"), thing(t, 2), day(d, y).
"""


def sold(kind: int) -> list[tuple[int, int, int]]:
    """Thing, year and price of what shops in B sold of a kind."""
    found = [(n * 7 % 1000, n % 365 // 100, n % 97) for n in range(FACTS) if "ABCDE"[n % 5] == "B"]
    return [row for row in found if row[0] % 20 == kind]


def test_a_star_is_read_once_and_no_key_order_of_its_facts_is_made() -> None:
    workspace = star()
    added = workspace.add_rules(RULES)
    work = workspace.profile(last=1).set_index("relation")["steps"]
    dear = [(year, price) for _, year, price in sold(2) if price > 10]
    total = [
        (year, sum(price for y, price in dear if y == year), sum(y == year for y, _ in dear))
        for year in range(4)
    ]
    assert workspace["total"].fetchall() == total
    assert set(workspace["sold"].fetchall()) == {(thing, year) for thing, year, _ in sold(2)}
    assert work.max() < 2 * FACTS
    assert workspace.memory().df().query("relation == 'sale'").shape[0] == 1
    assert "from nothing only rows of sale that match thing, shop are read, about 4.7 %" in str(
        workspace.plan(added[1])
    )
    assert workspace.verify() == []
    workspace.load("sale", [(FACTS, 1, 2, 0, 50)])
    assert workspace["total"].fetchall()[0] == (0, total[0][1] + 50, total[0][2] + 1)
    assert workspace.profile(last=1)["steps"].sum() < 100


def test_a_larger_relation_that_is_narrow_does_not_keep_a_wide_one_from_being_reduced() -> None:
    workspace = star()
    guests = [(n, g) for n in range(FACTS) for g in (n % 7, n % 5 + 7)]
    workspace.relation("seen", {"n": int, "g": int})
    workspace.load("seen", guests)
    (rule,) = workspace.add_rules("""
        .decl met(g: number, h: number, n: number)
        met(g, h, count()) :- seen(n, g), seen(n, h), g < h, sale(n, _, _, _, p), p < 5.
    """)
    assert "from nothing only rows of sale that match the comparisons are read" in str(
        workspace.plan(rule)
    )
    prices = dict(workspace.query("sale(n, s, t, d, p)").df()[["n", "p"]].itertuples(index=False))
    expected = Counter((n % 7, n % 5 + 7) for n, price in prices.items() if price < 5)
    assert workspace["met"].fetchall() == sorted((*pair, count) for pair, count in expected.items())
    with workspace.transaction() as tx:
        tx.delete("seen", guests[:100])
    assert workspace.verify() == []


def test_small_relations_are_restricted_by_smaller_ones_first() -> None:
    rows = (
        star()
        .query('sale(n, s, t, d, p), shop(s, "B"), thing(t, k), kind(k, "k2"), day(d, y)')
        .df()
    )
    assert sorted(zip(rows["t"], rows["y"], rows["p"], strict=True)) == sorted(sold(2) + sold(12))


def test_rows_that_mostly_match_are_joined_as_they_are() -> None:
    workspace = star()
    (rule,) = workspace.add_rules(
        ".decl by(y: number, n: number)\nby(y, count()) :- sale(_, _, _, d, _), day(d, y)."
    )
    assert "only rows of sale" not in str(workspace.plan(rule))
    assert [row[1] for row in workspace["by"].fetchall()] == [
        sum(n % 365 // 100 == year for n in range(FACTS)) for year in range(4)
    ]


@pytest.mark.parametrize(("rows", "narrow"), [(FACTS + 1, 3), (1 << 15, 5)])
def test_facts_that_are_too_few_or_narrow_are_joined_as_they_are(
    rows: int, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semijoin_reduction, "_SEMIJOIN_ROWS", rows)
    workspace = star(Tuning(narrow_columns=narrow))
    rule = workspace.add_rules(RULES)[1]
    assert "only rows of sale" not in str(workspace.plan(rule))
    assert set(workspace["sold"].fetchall()) == {(thing, year) for thing, year, _ in sold(2)}


def test_rows_that_match_count_towards_the_memory_limit_and_tested_columns_take_none() -> None:
    workspace = star()
    used = workspace._backend.arena.bytes_in_use + workspace._backend.dictionary.bytes_in_use
    with (
        workspace.limits(memory=used + FACTS),
        pytest.raises(lftj.LimitError, match="memory limit"),
    ):
        workspace.add_rules(RULES)
    with workspace.limits(memory=used + 8 * 2 * FACTS):
        workspace.add_rules(RULES)
    assert len(workspace["total"]) == 4


def test_a_plan_of_what_is_traced_tells_of_no_rows_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "lftj.sensitivity.estimate.CLEARLY", float("inf")
    )  # delta queries are priced in the order of the whole
    monkeypatch.setattr(
        "lftj.maintenance.trace.trace_planner._sooner_counted", lambda *given: False
    )
    workspace = star()
    body = 'sale(_, s, t, d, _), shop(s, "B"), thing(t, k), kind(k, "k2"), day(d, y)'
    (rule,) = workspace.add_rules(f".decl sold(k: number)\nsold(k) :- {body}.")
    assert "by its trace" in str(workspace.plan(rule))
    assert "only rows of sale" not in str(workspace.plan(rule))


def test_a_star_is_followed_by_delta_queries_whatever_changes() -> None:
    """A day that came was looked for at each sale that any shop had made, or all of it evaluated
    anew.
    """
    workspace = star()
    body = 'sale(_, s, t, d, _), shop(s, "B"), thing(t, k), kind(k, "k2"), day(d, y)'
    (rule,) = workspace.add_rules(f".decl sold(t: number, y: number)\nsold(t, y) :- {body}.")
    assert "by delta queries" in str(workspace.plan(rule))
    days = sorted(workspace["day"].fetchall())
    for change in ("delete", "insert", "delete", "insert"):
        with workspace.transaction() as tx:
            getattr(tx, change)("day", [days[40]])
    assert workspace.profile(last=1)["outcome"].tolist() == ["update"]
    assert workspace.profile(last=1)["steps"].sum() < 1000
    assert workspace.verify() == []


def test_values_far_apart_are_no_reason_for_a_table() -> None:
    workspace = star()
    workspace.add_rules(
        ".decl big(day: number)\n.decl some(n: number)\nsome(n) :- sale(n, _, _, d, _), big(d)."
    )
    workspace.load("big", [(3,), (1 << 40,)])
    workspace.remove_rule(workspace.rules)
    (rule,) = workspace.add_rules("some(n) :- sale(n, _, _, d, _), big(d).")
    assert "only rows of sale" not in str(workspace.plan(rule))
    assert len(workspace["some"]) == len([n for n in range(FACTS) if n % 365 == 3])


ASKED = """
    .decl q{n}(o: number, day: number, sum: number)
    q{n}(o, d, sum(p * (100 - r))) :- person(c, "{segment}"), ordered(o, c, d), d < {day},
        line(o, _, p, r, s), s > {day}.
"""


def test_a_question_whose_index_is_there_reads_the_rows_as_they_lie_all_the_same() -> None:
    """The key has a key order, so that nothing is to be built: a search of it waits for memory at
    each step, in the time of which several rows are tested.
    """
    by = random.Random(3)
    workspace = lftj.connect(executor=lftj.ThreadExecutor(1))
    workspace.relation("person", {"c": int, "segment": str}, key="c")
    workspace.relation("ordered", {"o": int, "c": int, "day": int}, key="o")
    prices = {"price": int, "off": int, "shipped": int}
    workspace.relation("line", {"o": int, "number": int} | prices, key=("o", "number"))
    days = [by.randrange(2400) for _ in range(25_000)]
    lines = [
        (o, number, by.randrange(1, 1000), by.randrange(11), days[o] + by.randrange(1, 122))
        for o in range(25_000)
        for number in range(4)
    ]
    workspace.load("person", [(c, "ABCDE"[c % 5]) for c in range(2_500)])
    workspace.load("ordered", [(o, by.randrange(2_500), day) for o, day in enumerate(days)])
    workspace.load("line", lines)
    for n, segment in enumerate("ABC"):
        workspace.add_rules(ASKED.format(n=n, segment=segment, day=1000 + n))
        assert workspace.profile(last=1)["steps"].sum() < 1.5 * len(lines)
    assert workspace.verify() == []
