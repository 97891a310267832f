"""`min` and `max` read off key orders, or told from the results before: the rows of brute force
after every change, in work per changed row, and without a state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.program.normal_form import NormalRule
from lftj.tuning import DEFAULT
from lftj.views.extremes import extremes_of

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
KEPT = """
.decl costs(shop: number, top: number, n: number, sum: number, low: number, next: number)
costs(s, max(c), count(), sum(c), min(c), max(c + 1)) :- offer(_, s, c).
.decl positive(low: float, shop: number)
positive(min(to_float(c)), s) :- offer(_, s, c), c > 0.
.decl whole(top: number, n: number)
whole(max(c), count()) :- offer(_, _, c).
.decl by_keys(dear: number, cheap: number, first: number, top: number)
by_keys(arg_max(s, c), arg_min(s, c), first(c, s), max(c)) :- offer(_, s, c).
"""
"""Views whose heads keep a state."""
LATER = """
.decl later(shop: number, low: number, words: symbol)
later(s, min(c), concat(x, ",", x)) :- offer(x, s, c).
"""
"""A view that asks for more of the groups of `costs`."""
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
        "costs": [
            (s, max(costs[s]), len(costs[s]), sum(costs[s]), min(costs[s]), max(costs[s]) + 1)
            for s in shops
        ],
        "positive": sorted(
            (float(min(found)), s) for s in shops if (found := [c for c in costs[s] if c > 0])
        ),
        "whole": [(max(c for _, _, c in offers), len(offers))] if offers else [],
        "by_keys": [_by_keys({row[1:] for row in offers})] if offers else [],
    }


def _by_keys(pairs: set[tuple[int, int]]) -> tuple[int, ...]:
    """The shops of the greatest and least cost, ends by shop where costs are equal; the least cost
    of the first shop.
    """
    turned = {(c, s) for s, c in pairs}
    return max(turned)[1], min(turned)[1], min(pairs)[1], max(turned)[0]


@pytest.mark.parametrize("rows_at_once", [DEFAULT.extremes_rows, 0])
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sets(rows, max_size=6), st.sets(rows, max_size=6)), max_size=6),
    st.sets(st.integers(0, 6)),
)
def test_after_every_commit_the_rows_are_those_of_brute_force(
    rows_at_once: int,
    steps: list[tuple[set[Row], set[Row]]],
    prepared: set[int],
) -> None:
    workspace = lftj.connect(tuning=lftj.Tuning(extremes_rows=rows_at_once))
    workspace.add_rules(OFFER + VIEWS + KEPT)
    offers: set[Row] = set()
    for number, (wanted, unwanted) in enumerate(steps):
        if number in prepared and number > 2:
            workspace.prepare()
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


def _in_order(workspace: Any) -> list[str]:
    """The heads that keep rows in order."""
    return [name for name, what, *_ in workspace.memory().fetchall() if "rows in order" in what]


def _costs(workspace: Any) -> dict[int, tuple[int, ...]]:
    return {shop: tuple(rest) for shop, *rest in workspace["costs"].fetchall()}


def _with_costs(**options: Any) -> Any:
    workspace = lftj.connect(tuning=lftj.Tuning(extremes_rows=100), **options)
    workspace.add_rules(OFFER)
    workspace.load("offer", [(f"i{n}", n % 10, n) for n in range(1000)])
    workspace.add_rules(KEPT)
    return workspace


def test_rows_behind_extremes_are_put_in_order_when_one_is_erased() -> None:
    workspace = _with_costs()
    with workspace.transaction() as transaction:
        transaction.delete("offer", [("i500", 0, 500), ("i995", 5, 995)])
        transaction.insert("offer", [("new", 5, 2000), ("new", 10, 7), ("new", 4, -1)])
    assert _costs(workspace)[0] == (990, 99, 49500 - 500, 0, 991)
    assert _costs(workspace)[5][0] == 2000  # what goes and comes as good needs no order
    assert (_costs(workspace)[10], _costs(workspace)[4][3]) == ((7, 1, 7, 7, 8), -1)
    assert not _in_order(workspace)
    with workspace.transaction() as transaction:
        transaction.delete("offer", [("new", 5, 2000), ("new", 10, 7)])
    assert (_costs(workspace)[5][0], 10 in _costs(workspace)) == (985, False)
    assert len(transaction.changes("costs")) == 3  # one group has other values, one is gone
    assert _in_order(workspace)
    with workspace.transaction() as transaction:
        transaction.delete("offer", [("i985", 5, 985)])
    assert _costs(workspace)[5][0] == 975
    assert workspace.profile(last=1)["outcome"].unique().tolist() == ["update"]
    assert workspace.verify() == []


def test_preparing_puts_them_in_order() -> None:
    workspace = _with_costs()
    assert not _in_order(workspace)
    workspace.prepare()
    assert len(_in_order(workspace)) == 3
    with workspace.transaction() as transaction:
        transaction.delete("offer", [("i999", 9, 999)])
    assert _costs(workspace)[9][0] == 989
    assert transaction.work < 100  # of what was prepared, nothing is evaluated
    assert workspace.verify() == []


def test_a_rule_that_asks_for_more_joins_groups_without_order() -> None:
    workspace = _with_costs()
    (less,) = workspace.add_rules(
        ".decl less(shop: number, low: number) less(s, min(c)) :- offer(_, s, c), c >= 0, s >= 0."
    )
    workspace.add_rules(LATER)
    assert (3, 3) in [row[:2] for row in workspace["later"].fetchall()]
    with workspace.transaction() as transaction:
        transaction.delete("offer", [("i3", 3, 3), ("i993", 3, 993)])
    assert (3, 13) in [row[:2] for row in workspace["later"].fetchall()]
    assert _costs(workspace)[3][::3] == (983, 13)
    workspace.remove_rule(less)
    assert workspace.verify() == []


def test_extremes_without_order_are_stored(tmp_path: Path) -> None:
    with _with_costs(path=tmp_path / "w") as workspace:
        assert not _in_order(workspace)
    with lftj.connect(tmp_path / "w") as workspace:
        assert not _in_order(workspace)
        with workspace.transaction() as transaction:
            transaction.delete("offer", [("i999", 9, 999)])
        assert _costs(workspace)[9][0] == 989
        assert _in_order(workspace)
    with lftj.connect(tmp_path / "w") as workspace:
        assert _in_order(workspace)
        with workspace.transaction() as transaction:
            transaction.delete("offer", [("i989", 9, 989)])
        assert _costs(workspace)[9][0] == 979
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
        "r(x, min(c)) :- offer(x, s, c), offer(_, _, s).",
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
