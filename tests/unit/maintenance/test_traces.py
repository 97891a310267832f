"""Rules that are kept up to date by their traces: what changes cost, what is kept, and what a
budget does.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import lftj
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.sensitivity import hull
from tests.unit.maintenance.tracing import RULES, crowded, spans_and_events, work


def test_a_head_with_many_proofs_is_traced_and_searched_for_one():
    workspace = crowded()
    assert "to the first proof" in str(workspace.plan(workspace.rules[-1]))
    assert work(workspace)["assignments"] == 60
    assert work(workspace)["steps"] < 60 * 40


def test_a_change_that_no_search_looked_at_evaluates_nothing():
    workspace = crowded()
    with workspace.transaction() as tx:
        tx.delete("b", [(30, z) for z in range(50)])
    row = work(workspace)
    assert (row["outcome"], row["regions"], row["assignments"], row["head_changes"]) == (
        "update",
        0,
        0,
        0,
    )
    assert row["stabs"] > 0


def test_a_row_that_leaves_others_with_all_that_is_joined_is_not_even_looked_up():
    workspace = crowded()
    with workspace.transaction() as tx:
        tx.delete("b", [(0, 0), (39, 49)])
        tx.insert("b", [(0, -1), (1, 50)])
    row = work(workspace)
    assert (row["outcome"], row["stabs"], row["regions"], row["head_changes"]) == (
        "update",
        0,
        0,
        0,
    )
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
        assert sum(row[3] for row in indices) <= 20_000 or all(
            "projected(0)" in row[1] for row in indices
        )
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
        ".decl e(x: number, y: number)  .decl f(x: number, y: number)  .decl both("
        + "c: number" * (head != "both()")
        + ")"
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


def test_a_level_that_is_logged_is_searched_between_its_bounds():
    workspace = spans_and_events()
    assert work(workspace)["steps"] < 60 * 6000
    workspace.load("event", [(-1, 50_000)])
    assert workspace.query("during(k, -1)").fetchall() == [(2939,), (2940,), (2941,)]
    row = work(workspace)
    assert row["outcome"] == "update"
    assert row["regions"] <= 5
    assert row["steps"] < 100
    assert workspace.verify() == []


def test_more_look_ups_than_evaluating_anew_costs_are_not_begun():
    workspace = spans_and_events()
    with workspace.transaction() as tx:
        tx.delete_where("event", i=5)
        tx.insert("event", [(-i, i) for i in range(100)])
    assert work(workspace)["outcome"] == "update"
    with workspace.transaction() as tx:
        tx.delete("event", [(i, i * 12_289 % 100_003) for i in range(6000)])
    row = work(workspace)
    assert row["outcome"] == "forecast"
    assert row["stabs"] == 0
    assert workspace.verify() == []


@pytest.mark.parametrize(("before", "outcome"), [(0, "update"), (100, "forecast")])
def test_what_changes_took_tells_what_larger_ones_will_take(before: int, outcome: str):
    workspace = spans_and_events()
    events = [(i, i * 12_289 % 100_003) for i in range(before + 1200)]
    with workspace.transaction() as tx:
        tx.delete("event", events[:before])
    with workspace.transaction() as tx:
        tx.delete("event", events[before:])
    assert work(workspace)["outcome"] == outcome
    assert workspace.verify() == []


def test_a_new_value_before_all_others_meets_no_context_that_it_does_not_concern():
    """Nodes with cousins: every node looks for a child of its parent's siblings, of which the new
    parent −1 is none.
    """
    workspace: Any = lftj.connect()
    workspace._backend.trace_override = TraceOverride(lambda _: hull(), first_proof=True)
    workspace.add_rules("""
        .decl par(c: number, p: number)
        .decl kid(c: number, p: number)
        .decl sib(a: number, b: number)
        .decl cousin(a: number)
        cousin(a) :- par(a, p), sib(p, q), kid(b, q).
    """)
    with workspace.transaction() as transaction:
        for name in ("par", "kid"):
            transaction.insert(name, [(c, c // 3) for c in range(1, 20_000)])
        transaction.insert(
            "sib",
            [
                (a, b)
                for a in range(1, 20_000)
                for b in range(a // 3 * 3, a // 3 * 3 + 3)
                if 0 < b != a
            ],
        )
    assert "by its trace" in str(workspace.plan(workspace.rules[-1]))
    for row in (30_000, -1), (30_001, -2):
        with workspace.transaction() as transaction:
            transaction.insert("par", [row])
            transaction.insert("kid", [row])
        done = work(workspace)
        assert done["outcome"] == "update"
        assert int(str(done["steps"])) < 100
        assert int(str(done["regions"])) < 10
    assert workspace.verify() == []


def test_a_search_for_first_proofs_that_finds_none_is_given_up():
    """Each edge leads to a node that is shut: no path is a proof, and there are millions."""
    workspace = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
    workspace.add_rules(".decl e(x: int, y: int)  .decl shut(x: int, k: int)  .decl h(x: int)")
    edges = {(n, (7 * n + 13 * k) % 500) for n in range(500) for k in range(10)}
    workspace.load("e", sorted(edges))
    workspace.load("shut", [(n, n % 3) for n in range(500)])
    with workspace.limits(work=500_000):
        workspace.add_rules("h(x) :- e(x, y), e(y, z), e(z, w), e(w, v), !shut(v, _).")
        assert "delta queries" in str(workspace.plan(workspace.rules[-1]))
        with workspace.transaction() as tx:
            tx.delete("shut", [(0, 0)])
    assert set(workspace.profile(last=1)["outcome"]) == {"update"}
    assert len(workspace["h"]) > 100
    assert workspace.verify() == []


def test_indices_whose_updates_are_given_up_again_and_again_are_dropped():
    """Each search for an overlap looks at most spans, so each change touches most searches."""
    chosen = random.Random(3)
    starts = [chosen.randrange(6_000) for _ in range(600)]
    spans = [(n, start, start + chosen.randrange(1, 20)) for n, start in enumerate(starts)]
    workspace = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
    workspace.add_rules("""
        .decl span(n: int, a: int, b: int)  .decl meets(n: int)
        meets(x) :- span(x, a, b), span(y, c, d), x != y, c <= b, a <= d.
    """)
    workspace.load("span", spans)
    assert "by its trace" in str(workspace.plan(workspace.rules[-1]))
    outcomes: list[str] = []
    for number in range(4):
        with workspace.transaction() as tx:
            tx.delete("span", [spans[7 * number]])
        outcomes.append(str(work(workspace)["outcome"]))
    assert outcomes == ["fallback", "fallback", "update", "update"]
    assert work(workspace)["steps"] < 5_000
    assert "delta queries" in str(workspace.plan(workspace.rules[-1]))
    assert workspace.verify() == []


# ── joins that change their way ───────────────────────────────────────────────────────────────────
DEAD_END = """
.decl A(x: number)  .decl B(x: number, y: number)  .decl C(y: number, z: number)  .decl D(z: number)
.decl F(x: number, y: number, z: number)
F(x, y, z) :- A(x), B(x, y), C(y, z), D(z).
"""


def dead_end(rows: int) -> Any:
    """A workspace whose changes of C join half of B, of which A has none."""
    workspace = lftj.connect()
    with workspace.transaction() as tx:
        tx.add_rules(DEAD_END)
        tx.insert("A", [(2 * i,) for i in range(rows)])
        tx.insert("B", [(2 * i + 1, i % 7) for i in range(rows)])
        tx.insert("C", [(y, z) for y in range(7) for z in range(10)])
        tx.insert("D", [(z,) for z in range(12)])
    return workspace


def toggled(workspace: Any, times: int, relation: str = "C", row: Any = (0, 10)) -> list[int]:
    """Kernel steps of so many commits, in which a row comes and goes."""
    taken: list[int] = []
    for number in range(times):
        with workspace.transaction() as tx:
            (tx.delete if number % 2 else tx.insert)(relation, [row])
        taken.append(int(workspace.profile(last=1).steps.sum()))
    return taken


@pytest.mark.parametrize("rows", [1000, 16_000, 100_000])
def test_delta_queries_that_search_in_vain_make_room_for_a_trace(rows: int) -> None:
    workspace = dead_end(rows)
    assert toggled(workspace, 6)[2:] == [0, 0, 0, 0]
    assert toggled(workspace, 2, "A", (1,)) != [0, 0]
    assert workspace.verify() == []


def test_a_trace_that_is_dearer_than_delta_queries_were_goes() -> None:
    workspace = dead_end(2000)
    assert toggled(workspace, 4)[-1] == 0
    workspace.load("A", [(2 * i + 1,) for i in range(2000)])
    toggled(workspace, 8, "B", (8001, 3))
    toggled(workspace, 12)
    assert set(workspace.profile(last=1).strategy) == {"delta queries"}
    assert workspace.verify() == []


def sparse(share: int, without: frozenset[str] = frozenset()) -> Any:
    """A workspace in which each group has thousands of items and of others, and a few links between
    these. Values are blocked but for one in `share`.
    """
    tuning = lftj.Tuning(without=without)
    workspace = lftj.connect(executor=lftj.ThreadExecutor(threads=1), tuning=tuning)
    drawn, rows, groups = random.Random(1), 20_000, 10
    workspace.add_rules("""
        .decl item(g: int, x: int)  .decl other(g: int, w: int)  .decl link(x: int, w: int)
        .decl blocked(x: int, k: int)  .decl v(g: int)
    """)
    workspace.load("item", [(i % groups, i) for i in range(rows)])
    workspace.load("other", [(i % groups, i) for i in range(rows)])
    pairs = {(drawn.randrange(rows), drawn.randrange(rows)) for _ in range(4 * rows)}
    workspace.load("link", sorted(pairs))
    workspace.load("blocked", [(i, i // 1000) for i in range(rows) if i % share])
    return workspace


def test_first_proofs_that_are_rare_are_counted_after_a_few_evaluations() -> None:
    """An update for twenty rows by the trace is expected to cost too much, each time."""
    workspace = sparse(5000)
    workspace.add_rules(
        "v(g) :- item(g, x), other(g, w), link(x, w), !blocked(x, _), !blocked(w, _)."
    )
    steps: list[int] = []
    for number in range(8):
        with workspace.transaction() as tx:
            rows = [(i, i // 1000) for i in range(1, 20_000, 1000)]
            (tx.insert if number % 2 else tx.delete)("blocked", rows)
        steps.append(int(workspace.profile(last=1).steps.sum()))
    assert max(steps[4:]) < 5000
    assert workspace.verify() == []


@pytest.mark.parametrize("without", [frozenset[str](), frozenset({"trace"})], ids=["all", "no"])
def test_proofs_that_are_too_many_to_count_are_found_one_by_one(without: frozenset[str]) -> None:
    """The view is empty at first, so proofs seem to be rare; then each row has thousands."""
    workspace = sparse(1, without)
    workspace.add_rules(".decl free(g: int, w: int)  v(g) :- item(g, x), free(g, w), x != w.")
    rows = [(i % 3, i) for i in range(40)]
    steps: list[int] = []
    for number in range(6):
        with workspace.transaction() as tx:
            (tx.delete if number % 2 else tx.insert)("free", rows)
        steps.append(int(workspace.profile(last=1).steps.sum()))
    assert (max(steps[2:]) < 200) == (not without)
    assert (set(workspace.profile(last=1).strategy) == {"trace"}) == (not without)
    assert workspace.verify() == []
