"""Rules that are kept up to date by their traces: what changes cost, what is kept, and what a budget does."""

from __future__ import annotations

import random

import pytest

import lftj

RULES = """
.decl a(x: number, y: number)
.decl b(y: number, z: number)
.decl p(x: number)
p(x) :- a(x, y), b(y, z).
"""


def crowded(**options: int) -> lftj.Workspace:
    """A view in which each row has many proofs: 60 x, 40 y each, 50 z each."""
    workspace = lftj.connect(**options)  # pyright: ignore[reportArgumentType]
    workspace.add_rules(RULES.replace("p(x) :- a(x, y), b(y, z).", ""))
    workspace.load("a", [(x, y) for x in range(60) for y in range(40)])
    workspace.load("b", [(y, z) for y in range(40) for z in range(50)])
    workspace.add_rules("p(x) :- a(x, y), b(y, z).")
    return workspace


def work(workspace: lftj.Workspace) -> dict[str, object]:
    """The only row of the last commit's profile."""
    (row,) = workspace.profile(last=1).to_dict("records")
    return row


def test_a_head_with_many_proofs_is_traced_and_searched_for_one():
    workspace = crowded()
    assert "to the first proof" in str(workspace.plan(workspace.rules[-1]))
    assert work(workspace)["assignments"] == 60
    assert work(workspace)["steps"] < 60 * 40


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ("p(x, 0) :- a(x, y, _), b(y, z).", [[(x, (7 * x + y) % 500, 0) for x in range(1000) for y in range(40)], 25_000]),
        ("p(k, count()) :- a(k, t, u), b(s, _), t <= s, s < u.", [[(k, k // 3, k // 3 + 2) for k in range(6000)], 60_000]),
    ],
)
def test_a_rule_that_is_older_than_its_data_is_traced_once_there_are_some(rule: str, rows: tuple[list[tuple[int, ...]], int]):
    found = []
    for older in (True, False):
        workspace = lftj.connect()
        workspace.add_rules(".decl a(x: number, y: number, z: number)  .decl b(y: number, z: number)  .decl p(x: number, n: number)")
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
    workspace._engine.trace_budget = 1 << 28
    with workspace.transaction() as tx:
        tx.delete_where("b")
        tx.insert("b", [(y, z) for y in range(40) for z in range(70, 120)])
    assert work(workspace)["strategy"] != "update"
    assert "delta queries" in str(workspace.plan(workspace.rules[-1]))


def test_without_a_budget_every_proof_is_counted():
    workspace = crowded(trace_budget=0)
    assert "delta queries" in str(workspace.plan(workspace.rules[-1]))
    assert work(workspace)["assignments"] == 60 * 40 * 50


def test_a_change_that_no_search_looked_at_evaluates_nothing():
    workspace = crowded()
    with workspace.transaction() as tx:
        tx.delete("b", [(30, z) for z in range(50)])
    row = work(workspace)
    assert (row["strategy"], row["regions"], row["assignments"], row["head_changes"]) == ("update", 0, 0, 0)
    assert row["stabs"] > 0


def test_a_row_that_leaves_others_with_all_that_is_joined_is_not_even_looked_up():
    workspace = crowded()
    with workspace.transaction() as tx:
        tx.delete("b", [(0, 0), (39, 49)])
        tx.insert("b", [(0, -1), (1, 50)])
    row = work(workspace)
    assert (row["strategy"], row["stabs"], row["regions"], row["head_changes"]) == ("update", 0, 0, 0)
    assert workspace.verify() == []


def test_losing_the_first_proof_finds_another_or_none():
    workspace = crowded()
    with workspace.transaction() as tx:
        tx.delete("b", [(0, z) for z in range(50)])
    assert work(workspace)["regions"] > 0
    assert len(workspace["p"].fetchall()) == 60
    with workspace.transaction() as tx:
        tx.delete("a", [(5, y) for y in range(40)])
    assert sorted(set(range(60)) - {x for (x,) in workspace["p"].fetchall()}) == [5]
    assert workspace.verify() == []


@pytest.mark.parametrize("seed", range(3))
def test_indices_that_outgrow_their_budget_become_coarser_and_answers_stay(seed):
    chooser = random.Random(seed)
    workspace = crowded(trace_budget=20_000)
    granularities = set()
    for _ in range(40):
        with workspace.transaction() as tx:
            for _ in range(30):
                tx.insert("a", [(chooser.randrange(2000), chooser.randrange(60))])
                tx.delete("b", [(chooser.randrange(10), chooser.randrange(50))])
                tx.insert("b", [(chooser.randrange(60), chooser.randrange(50))])
        indices = [row for row in workspace.memory() if row[1].startswith("(index")]
        granularities |= {row[1].rsplit(", ", 1)[1] for row in indices}
        assert sum(row[3] for row in indices) <= 20_000 or all("projected(0)" in row[1] for row in indices)
        assert workspace.verify() == []
    assert len(granularities) > 1, "nothing became coarser"
    assert "outgrew their budget" in str(workspace.plan(workspace.rules[-1]))


def test_a_first_trace_that_outgrows_the_budget_is_made_coarser():
    budget = 1 << 14
    workspace = lftj.connect(trace_budget=budget)
    workspace.add_rules(RULES.replace("p(x) :- a(x, y), b(y, z).", ""))
    # values meet nowhere, so every search goes on to the end, which averages do not tell
    workspace.load("a", [(x, 10 * y) for x in range(60) for y in range(40)])
    workspace.load("b", [(10 * y + 5, z) for y in range(40) for z in range(50)])
    workspace.add_rules("p(x) :- a(x, y), b(y, z).")
    kept = [row for row in workspace.memory() if row[1].startswith("(index")]
    assert kept
    assert sum(row[3] for row in kept) <= budget
    assert "outgrew their budget of 16,384 bytes" in str(workspace.plan(workspace.rules[-1]))
    workspace.add_rules(".decl q(x: number)\nq(x) :- a(x, y), b(y, z), y != 7.")
    with workspace.transaction() as tx:
        tx.insert("b", [(20, 0), (30, 0)])
    assert len(workspace["p"]) == len(workspace["q"]) == 60
    assert workspace.verify() == []


@pytest.mark.parametrize("head", ["both()", "both(1)", "both(c)"])
def test_whether_anything_holds_at_all_is_not_searched_for_anew(head: str):
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: number, y: number)  .decl f(x: number, y: number)  .decl both(" + "c: number" * (head != "both()") + ")"
    )
    size = 3000
    workspace.load("e", [(x, (x * 7 + i) % size) for x in range(size) for i in range(4)])
    workspace.load("f", [(x, (x * 7 + i) % size) for x in range(size) for i in range(4)])
    workspace.add_rules(f"{head} :- e(x, y), f(y, x), c = 1.")
    assert workspace["both"]
    with workspace.transaction() as tx:
        tx.insert("e", [(0, 2999)])
        tx.delete("f", [(1500, 1500 * 7 % size)])
    assert tx.work < 100
    assert not workspace.verify()


def spans_and_events() -> lftj.Workspace:
    """A view of which events lie in which spans, kept up to date by its trace."""
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl span(k: number, begin: number, end: number)
        .decl event(i: number, t: number)
        .decl during(k: number, i: number)
    """)
    workspace.load("span", [(k, 17 * k, 17 * k + 40) for k in range(6000)])
    workspace.load("event", [(i, i * 12_289 % 100_003) for i in range(60_000)])
    workspace.add_rules("during(k, i) :- span(k, b, e), event(i, t), b <= t, t < e.")
    assert "by its trace" in str(workspace.plan(workspace.rules[-1]))
    return workspace


def test_a_level_that_is_logged_is_searched_between_its_bounds():
    workspace = spans_and_events()
    assert work(workspace)["steps"] < 60 * 6000
    workspace.load("event", [(-1, 50_000)])
    assert workspace.query("during(k, -1)").fetchall() == [(2939,), (2940,), (2941,)]
    row = work(workspace)
    assert row["strategy"] == "update"
    assert row["regions"] <= 5
    assert row["steps"] < 100
    assert workspace.verify() == []


def test_more_look_ups_than_evaluating_anew_costs_are_not_begun():
    workspace = spans_and_events()
    with workspace.transaction() as tx:
        tx.delete_where("event", i=5)
        tx.insert("event", [(-i, i) for i in range(100)])
    assert work(workspace)["strategy"] == "update"
    with workspace.transaction() as tx:
        tx.delete("event", [(i, i * 12_289 % 100_003) for i in range(6000)])
    row = work(workspace)
    assert row["strategy"] == "forecast"
    assert row["stabs"] == 0
    assert workspace.verify() == []


@pytest.mark.parametrize(("before", "strategy"), [(0, "update"), (100, "forecast")])
def test_what_changes_took_tells_what_larger_ones_will_take(before: int, strategy: str):
    workspace = spans_and_events()
    events = [(i, i * 12_289 % 100_003) for i in range(before + 1200)]
    with workspace.transaction() as tx:
        tx.delete("event", events[:before])
    with workspace.transaction() as tx:
        tx.delete("event", events[before:])
    assert work(workspace)["strategy"] == strategy
    assert workspace.verify() == []


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
    workspace.add_rules("earned(p, count()) :- sale(_, c, k, p), customer(c, 3), part(k, m), (m = 3 ; m = 4).")
    assert "by its trace" not in str(workspace.plan(workspace.rules[-1]))
    workspace.load("sale", [(-1, 1, 3, 100)])
    assert work(workspace)["strategy"] == "update"
    assert workspace.verify() == []


def test_no_trace_is_kept_with_which_most_changes_would_take_longer():
    """An index at the town of a shop would save steps, but one at its number, which goes with it, would name every sale."""
    workspace, by = lftj.connect(), random.Random(1)
    workspace.add_rules("""
        .decl sale(id: number, shop: number, thing: number, price: number)
        .decl shop(id: number, town: number)
        .decl thing(id: number, kind: number)
        .decl sold(id: number, town: number, kind: number)
    """)
    workspace.load("sale", [(i, by.randrange(10), by.randrange(3001), i % 97) for i in range(100_000)])
    workspace.load("shop", [(i, i % 5) for i in range(10)])
    workspace.load("thing", [(i, i % 20) for i in range(3001)])
    workspace.add_rules("sold(i, x, y) :- sale(i, s, t, _), shop(s, x), thing(t, y).")
    assert "by its trace" not in str(workspace.plan(workspace.rules[-1]))
    with workspace.transaction() as tx:
        tx.delete("shop", [(7, 2)])
        tx.insert("shop", [(7, 1)])
    assert work(workspace)["strategy"] == "update"
    assert work(workspace)["steps"] < 300_000
    assert workspace.verify() == []


def test_no_trace_is_kept_where_a_change_takes_part_in_as_many_proofs_anyway():
    """All that sales of a shop have in common is the shop: an index would name each of them by what it has beside."""
    workspace, by = lftj.connect(), random.Random(1)
    workspace.add_rules("""
        .decl sale(id: number, buyer: number, thing: number, shop: number, price: number)
        .decl shop(id: number, town: number)
        .decl here(id: number)
    """)
    workspace.load("sale", [(i, by.randrange(10_000), by.randrange(1000), by.randrange(6), i % 97) for i in range(100_000)])
    workspace.load("shop", [(i, i % 3) for i in range(6)])
    workspace.add_rules("here(i) :- sale(i, b, k, s, p), shop(s, 1).")
    assert "by its trace" not in str(workspace.plan(workspace.rules[-1]))
    with workspace.transaction() as tx:
        tx.delete("shop", [(3, 0)])
        tx.insert("shop", [(3, 1)])
    assert work(workspace)["strategy"] == "update"
    assert workspace.profile(last=1)["steps"].max() < 40_000
    assert workspace.verify() == []


def wide_sales() -> lftj.Workspace:
    """Profit by town, from the rows of a wide relation by way of three others to one that has 25 rows."""
    workspace, by = lftj.connect(), random.Random(1)
    workspace.add_rules("""
        .decl line(o: number, n: number, p: number, s: number, q: number, e: number, a: number, b: number, c: number, d: number)
        .decl order(o: number, day: number, a: number, b: number, c: number)
        .decl part(p: number, name: symbol, a: number, b: number, c: number)
        .decl offer(p: number, s: number, a: number, cost: number)
        .decl shop(s: number, k: number, a: number, b: number)
        .decl town(k: number, name: symbol, a: number)
        .decl profit(town: symbol, day: number, all: number)
    """)
    lines = [(i // 4, i % 4, by.randrange(1000)) for i in range(40_000)]
    workspace.load("line", [(o, n, p, (p + n) % 100, i % 50, i, i % 7, i % 11, i, i) for i, (o, n, p) in enumerate(lines)])
    workspace.load("order", [(o, o % 400, o % 3, o % 5, o) for o in range(10_000)])
    workspace.load("part", [(p, f"{by.choice(['red', 'green', 'blue'])}{p}", p, p, p) for p in range(1000)])
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
    """A body of many variables has too many orders to look at; constants, by which to begin otherwise, may leave thousands of rows."""
    workspace = wide_sales()
    with workspace.transaction() as tx:
        tx.delete("order", [(7, 7, 1, 2, 7)])
        tx.insert("order", [(7, 8, 1, 2, 7)])
    assert workspace.profile(last=1)["steps"].max() < 300
    assert workspace.verify() == []


@pytest.mark.parametrize("bounds", ["t - b >= 0, t - e < 0", "t - b >= 0, t < e", "b <= t, t - e < 0"])
def test_no_trace_is_kept_where_logging_would_search_without_bounds(bounds: str):
    workspace = spans_and_events()
    workspace.add_rules(f".decl since(k: number, i: number)\nsince(k, i) :- span(k, b, e), event(i, t), {bounds}.")
    assert "by its trace" not in str(workspace.plan(workspace.rules[-1]))
    assert work(workspace)["steps"] < 60 * 6000
    assert sorted(workspace["since"].fetchall()) == sorted(workspace["during"].fetchall())


def test_a_new_value_before_all_others_meets_no_context_that_it_does_not_concern():
    """Who of a tree has cousins: every node looks for a child of its parent's siblings, of which the new parent −1 is none."""
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl par(c: number, p: number)
        .decl sib(a: number, b: number)
        .decl cousin(a: number)
        cousin(a) :- par(a, p), sib(p, q), par(b, q).
    """)
    with workspace.transaction() as transaction:
        transaction.insert("par", [(c, c // 3) for c in range(1, 20_000)])
        transaction.insert("sib", [(a, b) for a in range(1, 20_000) for b in range(a // 3 * 3, a // 3 * 3 + 3) if 0 < b != a])
    assert "by its trace" in str(workspace.plan(workspace.rules[-1]))
    for row in (30_000, -1), (30_001, -2):
        with workspace.transaction() as transaction:
            transaction.insert("par", [row])
        done = work(workspace)
        assert done["strategy"] == "update"
        assert int(str(done["steps"])) < 100
        assert int(str(done["regions"])) < 10
    assert workspace.verify() == []
