"""`min` and `max` read off key orders: the rows of brute force after every change, in work per
changed row, and without a state.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.maintenance.rules.extremes import extremes_of
from lftj.program.normal_form import NormalRule
from lftj.tuning import DEFAULT

OFFER = ".decl offer(item: symbol, shop: number, cost: number)\n"
VIEWS = """
.decl span(top: number, item: symbol, same: symbol, low: number)
span(max(c), x, x, min(c)) :- offer(x, _, c).
.decl all(low: number)
all(min(c)) :- offer(_, _, c).
.decl cheapest(shop: number, low: number)
cheapest(s, min(c)) :- offer(_, s, c).
.decl dear(shop: number, top: number)
dear(s, max(c)) :- offer(_, s, c).
"""
Row = tuple[str, int, int]
rows = st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(-3, 3))


def rules_of(workspace: Any, relation: str) -> list[NormalRule]:
    stratified = workspace._backend.state.program.stratified
    return [
        rule for stratum in stratified.strata for rule in stratum.rules if rule.relation == relation
    ]


def expected(offers: set[Row]) -> dict[str, list[tuple[Any, ...]]]:
    items, shops = sorted({x for x, _, _ in offers}), sorted({s for _, s, _ in offers})
    costs = {key: [c for x, s, c in offers if key in (x, s)] for key in (*items, *shops)}
    return {
        "span": sorted((max(costs[x]), x, x, min(costs[x])) for x in items),
        "all": [(min(c for _, _, c in offers),)] if offers else [],
        "cheapest": [(s, min(costs[s])) for s in shops],
        "dear": [(s, max(costs[s])) for s in shops],
    }


@pytest.mark.parametrize("rows_at_once", [DEFAULT.extremes_rows, 0])
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sets(rows, max_size=6), st.sets(rows, max_size=6)), max_size=6))
def test_after_every_commit_the_rows_are_those_of_brute_force(
    rows_at_once: int,
    steps: list[tuple[set[Row], set[Row]]],
) -> None:
    workspace = lftj.connect(tuning=lftj.Tuning(extremes_rows=rows_at_once))
    workspace.add_rules(OFFER + VIEWS)
    offers: set[Row] = set()
    for wanted, unwanted in steps:
        with workspace.transaction() as transaction:
            transaction.insert("offer", sorted(wanted))
            transaction.delete("offer", sorted(unwanted))
        before, offers = expected(offers), (offers | wanted) - unwanted
        for view, found in expected(offers).items():
            assert sorted(workspace[view].fetchall()) == found, view
            signed = [(*row, 1) for row in set(found) - set(before[view])] + [
                (*row, -1) for row in set(before[view]) - set(found)
            ]
            assert sorted(row[:-1] for row in transaction.changes(view).fetchall()) == sorted(
                signed
            ), view
    assert workspace.verify() == []


def test_nothing_is_kept_beside_a_key_order_that_both_rules_share() -> None:
    workspace = lftj.connect()
    workspace.add_rules(OFFER + VIEWS)
    workspace.load("offer", [(f"i{n % 7}", n % 10, n) for n in range(100)])
    kept = [row[:2] for row in workspace.memory().fetchall()]
    assert not [what for _, what in kept if what.startswith("(head")]
    assert kept.count(("offer", "shop, cost, item")) == 1


def test_the_key_order_of_many_rows_waits_until_an_extreme_is_deleted() -> None:
    workspace = lftj.connect(tuning=lftj.Tuning(extremes_rows=0))
    workspace.add_rules(
        ".decl offer(n: number, shop: number, cost: number)\n"
        ".decl dear(top: number, shop: number)\ndear(max(c), s) :- offer(_, s, c)."
    )
    workspace.load("offer", [(n, n % 10, n) for n in range(1000)])

    def orders() -> int:
        return [name for name, *_ in workspace.memory().fetchall()].count("offer")

    def dear() -> dict[int, int]:
        return {shop: top for top, shop in workspace["dear"].fetchall()}

    with workspace.transaction() as transaction:
        transaction.delete("offer", [(n, n % 10, n) for n in range(100)])
        transaction.insert("offer", [(0, 3, 5000), (0, 10, 7), (0, 4, 1)])
    assert (dear()[3], dear()[10], dear()[4], dear()[9]) == (5000, 7, 994, 999)
    assert orders() == 1
    with workspace.transaction() as transaction:
        transaction.delete("offer", [(0, 3, 5000), (0, 10, 7)])
    assert (dear()[3], 10 in dear(), orders()) == (993, False, 2)
    assert workspace.verify() == []


def test_a_commit_of_one_row_looks_at_its_group_alone() -> None:
    work = {}
    for size in (1_000, 20_000):
        workspace = lftj.connect()
        workspace.add_rules(
            OFFER + ".decl dear(shop: number, top: number)\ndear(s, max(c)) :- offer(_, s, c)."
        )
        workspace.load("offer", [("i", n % 10, n) for n in range(size)])
        with workspace.transaction() as transaction:
            transaction.delete("offer", [("i", (size - 1) % 10, size - 1)])
        assert (9, size - 11) in workspace["dear"].fetchall()
        assert workspace.profile(last=1)[
            ["outcome", "surgeries", "head_changes"]
        ].values.tolist() == [["update", 1, 2]]
        work[size] = transaction.work
    assert work[20_000] <= work[1_000] + 4


@pytest.mark.parametrize(
    "rule",
    [
        "r(x, min(c)) :- offer(x, _, c), c > 0.",
        "r(x, min(s)) :- offer(x, s, s).",
        "r(x, min(c)) :- offer(x, 1, c).",
        "r(x, min(c)) :- offer(x, s, c), offer(_, s, _).",
        "r(x, min(c)) :- offer(x, s, c), !offer(x, c, s).",
        "r(x, count()) :- offer(x, _, _).",
        "r(x, sum(c)) :- offer(x, _, c).",
    ],
)
def test_other_heads_keep_a_state(rule: str) -> None:
    workspace = lftj.connect()
    workspace.add_rules(f"{OFFER}.decl r(item: symbol, n: number)\n{rule}")
    assert all(extremes_of(each, DEFAULT) is None for each in rules_of(workspace, "r"))


def test_texts_stand_in_an_order_of_their_own() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        OFFER + ".decl first(shop: number, item: symbol)\nfirst(s, min(x)) :- offer(x, s, _)."
    )
    workspace.load("offer", [("z", 1, 1), ("a", 1, 1)])
    assert extremes_of(rules_of(workspace, "first")[0], DEFAULT) is None
    workspace.load("offer", [("B", 1, 1)])
    assert workspace["first"].fetchall() == [(1, "B")]


def test_of_rows_much_wider_than_what_is_read_no_key_order_is_made() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl sale(n: number, shop: number, item: number, day: number, price: number, till: "
        "number, tax: number)"
    )
    workspace.load(
        "sale",
        sales := [(n, n % 7, n % 11, n % 30, n * 37 % 101, n % 3, n % 2) for n in range(500)],
    )
    workspace.add_rules(
        """.decl dear(shop: number, price: number)
        dear(s, max(p)) :- sale(_, s, _, _, p, _, _).
        .decl shops(n: number, shop: number)
        shops(n, min(s)) :- sale(n, s, _, _, _, _, _)."""
    )
    kept = workspace.memory().df().query("relation == 'sale'")
    assert len(kept) == 1, (
        "dear keeps the prices of its shops itself, and sale begins as shops reads it"
    )
    left = [sale for sale in sales if sale[4] < 60]
    with workspace.transaction() as transaction:
        transaction.delete("sale", sorted(set(sales) - set(left)))
    assert sorted(workspace["dear"].fetchall()) == [
        (shop, max(s[4] for s in left if s[1] == shop)) for shop in range(7)
    ]
    assert workspace.verify() == []
    assert len(workspace.memory().df().query("relation == 'sale'")) == 1
    assert workspace.profile(last=1).steps.max() < len(sales) * 10
