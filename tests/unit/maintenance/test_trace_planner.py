"""Choice between traces and delta queries for each rule."""

from __future__ import annotations

import random

import pytest

import lftj
from lftj.maintenance.trace import trace_planner
from tests.unit.maintenance.tracing import crowded, spans_and_events, work


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        (
            "p(x, 0) :- a(x, y, _), b(y, z).",
            [[(x, (7 * x + y) % 500, 0) for x in range(1000) for y in range(40)], 25_000],
        ),
        (
            "p(k, count()) :- a(k, t, u), b(s, _), t <= s, s < u.",
            [[(k, k // 3, k // 3 + 2) for k in range(6000)], 60_000],
        ),
    ],
)
def test_a_rule_that_is_older_than_its_data_is_traced_once_there_are_some(
    rule: str, rows: tuple[list[tuple[int, ...]], int]
):
    found = []
    for older in (True, False):
        workspace = lftj.connect()
        workspace.add_rules(
            ".decl a(x: number, y: number, z: number)  .decl b(y: number, z: number)  .decl p(x: "
            "number, n: number)"
        )
        if older:
            workspace.add_rules(rule)
        workspace.load("a", rows[0])
        workspace.load("b", [(i % 500 if i < 25_000 else i, i // 500) for i in range(rows[1])])
        if not older:
            workspace.add_rules(rule)
        upkeep = str(workspace.plan(workspace.rules[-1])).partition("kept up to date")[2]
        found.append((upkeep.split(";")[0], workspace["p"].fetchall()))
    assert found[0] == found[1]
    assert found[0][0].startswith(" by its trace")


def test_a_rule_of_data_that_were_replaced_goes_on_as_it_did():
    workspace = crowded(trace_budget=0)
    workspace._backend.trace_budget = 1 << 28
    with workspace.transaction() as tx:
        tx.delete_where("b")
        tx.insert("b", [(y, z) for y in range(40) for z in range(70, 120)])
    assert work(workspace)["outcome"] != "update"
    assert "delta queries" in str(workspace.plan(workspace.rules[-1]))


def test_a_trace_that_no_page_can_hold_is_not_kept(monkeypatch: pytest.MonkeyPatch):
    assert "by its trace" in str(crowded().plan(crowded().rules[-1]))
    monkeypatch.setattr(trace_planner, "PAGE_COLUMNS", 2)
    workspace = crowded()
    assert "delta queries" in str(workspace.plan(workspace.rules[-1]))


def test_without_a_budget_every_proof_is_counted():
    workspace = crowded(trace_budget=0)
    assert "delta queries" in str(workspace.plan(workspace.rules[-1]))
    assert work(workspace)["assignments"] == 60 * 40 * 50


def test_a_disjunction_of_constants_is_no_reason_for_a_trace():
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl sale(id: number, customer: number, part: number, price: number)
        .decl customer(id: number, nation: number)
        .decl part(id: number, kind: number)
        .decl earned(price: number, sales: number)
    """)
    workspace.load("sale", [(i, i * 7 % 501, i * 11 % 303, i % 97) for i in range(20_000)])
    workspace.load("customer", [(i, i % 25) for i in range(501)])
    workspace.load("part", [(i, i % 20) for i in range(303)])
    workspace.add_rules(
        "earned(p, count()) :- sale(_, c, k, p), customer(c, 3), part(k, m), (m = 3 ; m = 4)."
    )
    assert "by its trace" not in str(workspace.plan(workspace.rules[-1]))
    workspace.load("sale", [(-1, 1, 3, 100)])
    assert work(workspace)["outcome"] == "update"
    assert workspace.verify() == []


def test_no_trace_is_kept_with_which_most_changes_would_take_longer():
    """An index at the town of a shop would save steps, but one at its number, which goes with it,
    would name every sale.
    """
    workspace, by = lftj.connect(), random.Random(1)
    workspace.add_rules("""
        .decl sale(id: number, shop: number, thing: number, price: number)
        .decl shop(id: number, town: number)
        .decl thing(id: number, kind: number)
        .decl sold(id: number, town: number, kind: number)
    """)
    workspace.load(
        "sale", [(i, by.randrange(10), by.randrange(3001), i % 97) for i in range(100_000)]
    )
    workspace.load("shop", [(i, i % 5) for i in range(10)])
    workspace.load("thing", [(i, i % 20) for i in range(3001)])
    workspace.add_rules("sold(i, x, y) :- sale(i, s, t, _), shop(s, x), thing(t, y).")
    assert "by its trace" not in str(workspace.plan(workspace.rules[-1]))
    with workspace.transaction() as tx:
        tx.delete("shop", [(7, 2)])
        tx.insert("shop", [(7, 1)])
    assert work(workspace)["outcome"] == "update"
    assert work(workspace)["steps"] < 300_000
    assert workspace.verify() == []


def test_no_trace_is_kept_where_a_change_takes_part_in_as_many_proofs_anyway():
    """All that sales of a shop have in common is the shop: an index would name each of them by what
    it has beside.
    """
    workspace, by = lftj.connect(), random.Random(1)
    workspace.add_rules("""
        .decl sale(id: number, buyer: number, thing: number, shop: number, price: number)
        .decl shop(id: number, town: number)
        .decl here(id: number)
    """)
    workspace.load(
        "sale",
        [
            (i, by.randrange(10_000), by.randrange(1000), by.randrange(6), i % 97)
            for i in range(100_000)
        ],
    )
    workspace.load("shop", [(i, i % 3) for i in range(6)])
    workspace.add_rules("here(i) :- sale(i, b, k, s, p), shop(s, 1).")
    assert "by its trace" not in str(workspace.plan(workspace.rules[-1]))
    with workspace.transaction() as tx:
        tx.delete("shop", [(3, 0)])
        tx.insert("shop", [(3, 1)])
    assert work(workspace)["outcome"] == "update"
    assert workspace.profile(last=1)["steps"].max() < 40_000
    assert workspace.verify() == []


def wide_sales() -> lftj.Workspace:
    """Profit by town, from the rows of a wide relation by way of three others to one that has 25
    rows.
    """
    workspace, by = lftj.connect(), random.Random(1)
    workspace.add_rules("""
        .decl line(o: number, n: number, p: number, s: number, q: number, e: number, a: number,
        b: number, c: number, d: number)
        .decl order(o: number, day: number, a: number, b: number, c: number)
        .decl part(p: number, name: symbol, a: number, b: number, c: number)
        .decl offer(p: number, s: number, a: number, cost: number)
        .decl shop(s: number, k: number, a: number, b: number)
        .decl town(k: number, name: symbol, a: number)
        .decl profit(town: symbol, day: number, all: number)
    """)
    lines = [(i // 4, i % 4, by.randrange(1000)) for i in range(40_000)]
    workspace.load(
        "line",
        [
            (o, n, p, (p + n) % 100, i % 50, i, i % 7, i % 11, i, i)
            for i, (o, n, p) in enumerate(lines)
        ],
    )
    workspace.load("order", [(o, o % 400, o % 3, o % 5, o) for o in range(10_000)])
    workspace.load(
        "part", [(p, f"{by.choice(['red', 'green', 'blue'])}{p}", p, p, p) for p in range(1000)]
    )
    workspace.load("offer", [(p, (p + n) % 100, p, p % 90) for p in range(1000) for n in range(4)])
    workspace.load("shop", [(s, s % 25, s, s) for s in range(100)])
    workspace.load("town", [(k, f"town{k}", k) for k in range(25)])
    workspace.add_rules("""
        profit(t, day, sum(e - cost * q)) :-
            part(p, name, _, _, _), contains("green", name), line(o, _, p, s, q, e, _, _, _, _),
            offer(p, s, _, cost), shop(s, k, _, _), town(k, t, _), order(o, day, _, _, _).
    """)
    return workspace


def test_a_changed_row_of_a_long_body_is_where_its_query_begins():
    """A body of many variables has too many orders to look at; constants, by which to begin
    otherwise, may leave thousands of rows.
    """
    workspace = wide_sales()
    with workspace.transaction() as tx:
        tx.delete("order", [(7, 7, 1, 2, 7)])
        tx.insert("order", [(7, 8, 1, 2, 7)])
    assert workspace.profile(last=1)["steps"].max() < 300
    assert workspace.verify() == []


@pytest.mark.parametrize(
    "bounds", ["t - b >= 0, t - e < 0", "t - b >= 0, t < e", "b <= t, t - e < 0"]
)
def test_no_trace_is_kept_where_logging_would_search_without_bounds(bounds: str):
    workspace = spans_and_events()
    workspace.add_rules(
        f".decl since(k: number, i: number)\nsince(k, i) :- span(k, b, e), event(i, t), {bounds}."
    )
    assert "by its trace" not in str(workspace.plan(workspace.rules[-1]))
    assert work(workspace)["steps"] < 60 * 6000
    assert sorted(workspace["since"].fetchall()) == sorted(workspace["during"].fetchall())


def test_proofs_are_counted_where_a_trace_would_want_a_key_order_of_a_wide_relation():
    workspace = lftj.connect()
    wide = ", ".join(f"c{n}: number" for n in range(8))
    workspace.add_rules(f".decl wide({wide})  .decl kind(k: number, name: number)")
    workspace.load("wide", [(n, *[n * 7919 % 1009] * 6, n % 5) for n in range(20_000)])
    workspace.load("kind", [(k, k // 2) for k in range(5)])
    workspace.add_rules(
        ".decl p(name: number) p(n) :- wide(_, _, _, _, _, _, _, k), kind(k, n), n >= 1."
    )
    assert workspace["p"].fetchall() == [(1,), (2,)]
    assert "its trace" not in str(workspace.plan(workspace.rules[-1]))
    assert len(workspace.memory().df().query("relation == 'wide'")) == 1
    with workspace.transaction() as transaction:
        transaction.delete_where("wide", c7=4)
        transaction.delete("kind", [(2, 1)])
    assert workspace["p"].fetchall() == [(1,)]
    assert workspace.verify() == []
