"""Maintenance of recursive strata: the strategy taken, its cost limit, and the same answer from
each.
"""

from __future__ import annotations

from typing import Any

import pytest

import lftj
from lftj.maintenance.counting import stratum_change
from tests.retuning import constants, retuned
from tests.unit.recursion.following import (
    CLOSURE,
    EDGES,
    RING,
    change,
    steps,
    strategies,
    workspace,
)
from tests.unit.recursion.stratum import check, counted_at_once, rows_of, states

pytestmark = pytest.mark.usefixtures("unsearched")

KINDS = '.decl t(x: symbol, p: symbol, y: symbol)\nt(x, "is", z) :- t(x, "is", y), t(y, "sub", z).'


# ── deletions that cut a cycle: the classic wrong answer of counting ──────────────────────────────
def test_a_cycle_that_loses_its_way_in_does_not_keep_itself_alive():
    ring = workspace(
        EDGES + ".decl s(x: number)\n.decl r(x: number)\nr(x) :- s(x). r(y) :- r(x), e(x, y).",
        {"e": RING, "s": [(0,)]},
    )
    change(ring, {}, {"s": [(0,)]})
    assert ring["r"].fetchall() == []
    assert strategies(ring) == ["update"]
    assert check(ring) == 1


def test_cutting_a_ring_leaves_the_paths():
    ring = workspace(CLOSURE, {"e": RING}, elastic=100)
    change(ring, {}, {"e": [(39, 0)]})
    assert strategies(ring) == ["update"]
    assert set(ring["t"].fetchall()) == {(x, y) for x in range(40) for y in range(x + 1, 40)}
    assert check(ring) == 1


def test_two_relations_that_only_support_each_other_both_go():
    text = (
        EDGES
        + ".decl s(x: number)\n.decl a(x: number)\n.decl b(x: number)\na(x) :- s(x). a(y) :- b(x), "
        "e(x, y). b(y) :- a(x), e(x, y)."
    )
    pair = workspace(text, {"s": [(1,), (2,)], "e": [(1, 1), (2, 2)]})
    change(pair, {}, {"s": [(1,)]})
    assert pair["a"].fetchall() == pair["b"].fetchall() == [(2,)]
    assert strategies(pair) == ["update"]


def test_a_row_found_again_by_a_longer_way_moves_to_its_iteration():
    chain = workspace(CLOSURE, {"e": [(0, 1), (1, 2), (2, 3), (0, 3), (8, 9)]})
    (state,) = states(chain)
    assert rows_of(state)["t"][0, 3] == (0, 1)
    change(chain, {}, {"e": [(0, 3)]})
    (state,) = states(chain)
    assert rows_of(state)["t"][0, 3] == (2, 1)
    change(chain, {"e": [(0, 3), (0, 2)]}, {})
    assert check(chain) == 1


# ── strategies ────────────────────────────────────────────────────────────────────────────────────
def test_a_small_change_of_a_large_closure_costs_little():
    rows = [(i, i + 1) for block in range(50) for i in range(40 * block, 40 * block + 39)]
    closure = workspace(CLOSURE, {"e": rows})
    change(closure, {}, {"e": [(38, 39)]})
    assert strategies(closure) == ["update"]
    assert steps(closure) < 1000 < states(closure)[0].work / 100
    assert check(closure) == 1


def test_a_change_that_touches_nothing_recursive_does_no_work():
    both = workspace(
        CLOSURE + ".decl other(x: number)\n.decl view(x: number)\nview(x) :- other(x).", {"e": RING}
    )
    change(both, {"other": [(1,)]}, {})
    assert strategies(both) == []


def test_the_first_evaluation_and_large_changes_count_nothing():
    first = lftj.connect()
    first.add_rules(CLOSURE)
    change(
        first,
        {"e": [(i, i + 1) for block in range(400) for i in range(10 * block, 10 * block + 5)]},
        {},
    )
    assert strategies(first) == ["bootstrap"]
    assert states(first) == []
    change(first, {"e": [(5, 6)]}, {})
    assert (strategies(first), states(first)) == (["update"], [])
    with counted_at_once():
        change(first, {"e": [(6, 7)]}, {})
    assert (strategies(first), check(first)) == (["bootstrap"], 1)
    change(first, {"e": [(7, 8)]}, {})
    assert (strategies(first), check(first)) == (["update"], 1)


A_LITTLE = lftj.Tuning(elastic_steps=100_000, elastic_forecast=1_000_000)


def test_an_update_that_costs_too_much_is_given_up_without_a_trace():
    ring = workspace(CLOSURE, {"e": RING}, elastic=1000, tuning=A_LITTLE)
    ring._backend.fraction = 0.001
    change(ring, {}, {"e": [(39, 0)]})
    assert strategies(ring) == ["fallback"]
    assert set(ring["t"].fetchall()) == {(x, y) for x in range(40) for y in range(x + 1, 40)}
    assert ring.verify() == []
    change(ring, {"e": [(39, 0)]}, {})
    assert len(ring["t"].fetchall()) == 1600
    assert ring.verify() == []


def test_where_updates_keep_failing_they_are_tried_less_and_less():
    # what only adds is followed
    tuning = lftj.Tuning(elastic_steps=100_000, rows_least=2_000_000)
    ring = workspace(CLOSURE, {"e": RING}, elastic=1e-6, tuning=tuning)
    for _ in range(15):
        change(ring, {}, {"e": [(39, 0)]})
        change(ring, {"e": [(39, 0)]}, {})
    taken = strategies(ring, 30)
    assert 1 <= taken[:10].count("fallback") <= 4
    assert taken[10:].count("fallback") <= 2
    assert ring.verify() == []


def test_an_update_that_is_expected_to_cost_too_much_is_not_started():
    ring = workspace(CLOSURE, {"e": RING}, elastic=1000, tuning=lftj.Tuning(large_change=10))
    ring._backend.fraction = 0.2
    change(ring, {}, {"e": RING[::2]})
    assert strategies(ring) == ["forecast"]
    assert sorted(ring["t"].fetchall()) == sorted(RING[1::2])


def test_a_row_that_exists_in_no_version_fails_nothing():
    text = (
        ".decl d(x: number)\n.decl e(x: number)\n.decl t(x: number)\nt(x) :- e(x). t(x / y) :- "
        "t(x), d(y), x < 100.\n"
    )
    quotients = workspace(text, {"d": [(0,), (1,)], "e": [(100,)]})
    change(quotients, {"e": [(5,)]}, {"d": [(0,)]})
    assert sorted(quotients["t"].fetchall()) == [(5,), (100,)]
    with pytest.raises(lftj.ValueRangeError):
        change(quotients, {"d": [(0,)]}, {})
    assert sorted(quotients["t"].fetchall()) == [(5,), (100,)]
    assert check(quotients) == 1


@pytest.mark.parametrize("most", [1, 3])
def test_rows_with_too_many_proofs_to_count_are_found_without_counting(
    most: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lftj.maintenance.counting.derivation_count.MOST_PROOFS", most)
    ways = workspace(CLOSURE, {"e": [(0, y) for y in range(1, 4)] + [(y, 9) for y in range(1, 4)]})
    assert len(states(ways)) == (most == 3)
    change(ways, {"e": [(0, 4), (4, 9)]}, {})
    assert strategies(ways) == ["update" if most == 1 else "fallback"]
    assert len(ways["t"].fetchall()) == 9
    assert ways.verify() == []


# ── rules that come and go ────────────────────────────────────────────────────────────────────────
def test_a_rule_that_comes_and_goes_leaves_the_state_as_it_was():
    closure = workspace(CLOSURE, {"e": RING[:20]})
    (before,) = map(rows_of, states(closure))
    handle = closure.add_rules("t(y, x) :- t(x, y), x > 15.")[0]
    assert strategies(closure) == ["update"]
    assert check(closure) == 1
    assert (16, 3) not in closure["t"].fetchall()
    assert (20, 18) in closure["t"].fetchall()
    closure.remove_rule(handle)
    assert strategies(closure) == ["update"]
    (after,) = map(rows_of, states(closure))
    assert after == before


def test_a_rule_may_come_together_with_rows_and_another_go():
    closure = workspace(
        CLOSURE + ".decl f(x: number, y: number)\n", {"e": RING[:20], "f": [(3, 50)]}
    )
    handle = closure.add_rules("t(x, z) :- t(x, y), f(y, z).")[0]
    with closure.transaction() as transaction:
        transaction.remove_rule(handle)
        transaction.add_rules("t(x, z) :- f(x, y), t(y, z), !e(z, x).")
        transaction.insert("f", [(60, 3), (61, 60)])
        transaction.delete("e", [(10, 11)])
    assert strategies(closure) == ["update"]
    assert check(closure) == 1
    assert closure.verify() == []


def test_strata_that_merge_are_followed_by_their_rows():
    text = (
        CLOSURE
        + ".decl u(x: number, y: number)\nu(x, y) :- t(x, y). u(x, z) :- u(x, y), u(y, z), x < z.\n"
    )
    two = workspace(text, {"e": RING[:10]})
    assert check(two) == 2
    handle = two.add_rules("t(x, y) :- u(y, x), x > 8.")[0]
    assert (strategies(two), states(two)) == (["update"], [])
    with counted_at_once():
        change(two, {"e": [(20, 21)]}, {})
    change(two, {"e": [(21, 22)]}, {})
    assert (strategies(two), check(two)) == (["update"], 1)
    two.remove_rule(handle)
    with counted_at_once():
        change(two, {"e": [(22, 23)]}, {})
    assert check(two) == 2
    assert two.verify() == []


# ── values of all kinds ───────────────────────────────────────────────────────────────────────────
def test_strings_and_floats():
    text = """
    .decl likes(a: symbol, b: symbol, much: float)
    .decl fan(a: symbol, b: symbol)
    fan(a, b) :- likes(a, b, w), w > 0.5.
    fan(a, c) :- fan(a, b), fan(b, c), a != c.
    fan(a, "everyone") :- fan(a, b), fan(b, a).
    """
    rows = [
        ("ann", "bob", 0.75),
        ("bob", "cy", 1.5),
        ("cy", "ann", 2.0),
        ("cy", "dan", 0.25),
        ("dan", "é", 3.0),
    ]
    fans = workspace(text, {"likes": rows})
    for row in rows:
        change(fans, {}, {"likes": [row]})
        check(fans)
        change(fans, {"likes": [row]}, {})
        assert check(fans) == 1
    assert strategies(fans) == ["update"]
    assert fans.verify() == []


def test_a_long_chain_loses_and_wins_its_first_edge():
    depth = 20_000
    text = (
        EDGES
        + ".decl s(x: number)\n.decl a(x: number)\n.decl b(x: number)\na(x) :- s(x). b(y) :- a(x), "
        "e(x, y). a(y) :- b(x), e(x, y)."
    )
    chain = workspace(text, {"s": [(0,)], "e": [(i, i + 1) for i in range(depth)]}, elastic=1000)
    change(chain, {}, {"e": [(0, 1)]})
    assert (chain["a"].fetchall(), chain["b"].fetchall()) == ([(0,)], [])
    assert steps(chain) < 20 * depth
    change(chain, {"e": [(0, 1)]}, {})
    assert strategies(chain, 2) == ["update", "update"]
    assert len(chain["a"].fetchall()) == depth // 2 + 1
    assert check(chain) == 1


# ── before anything is counted ────────────────────────────────────────────────────────────────────
def dense(elastic: float) -> Any:
    """The closure of a graph in which everything is reached from everything, not counted yet."""
    found = lftj.connect(elastic=elastic)
    found.add_rules(CLOSURE)
    change(found, {"e": [(x, (x * 7 + y) % 300) for x in range(300) for y in range(1, 9)]}, {})
    return found


def test_no_state_is_built_for_a_change_that_touches_too_many_proofs():
    closure = dense(0.2)
    change(closure, {}, {"e": [(x, (x * 7 + 1) % 300) for x in range(60)]})
    assert (strategies(closure), states(closure)) == (["forecast"], [])
    with counted_at_once():
        change(closure, {}, {"e": [(100, (100 * 7 + 1) % 300)]})
    assert check(closure) == 1


def test_an_update_that_is_given_up_is_followed_by_an_evaluation_without_counts():
    closure = dense(0.2)
    without = steps(closure)
    with counted_at_once():
        change(closure, {}, {"e": [(100, (100 * 7 + 1) % 300)]})
        (state,) = states(closure)
        assert state.work > without
        change(closure, {}, {"e": [(101, (101 * 7 + 1) % 300)]})
    assert strategies(closure) == ["update"]
    never = {"elastic_steps": 10_000, "elastic_forecast": 1_000_000}
    with retuned(closure, **never), constants(stratum_change, _ELASTIC_RUNNING=0.001):
        change(closure, {}, {"e": [(x, (x * 7 + 1) % 300) for x in range(4)]})
    assert (strategies(closure), states(closure)) == (["fallback"], [])
    assert steps(closure) < 1.5 * without
    assert closure.verify() == []


def test_elastic_0_always_bootstraps_and_infinity_always_updates():
    never, always = dense(0.0), dense(float("inf"))
    for row in RING[:2]:
        for each in never, always:
            change(each, {}, {"e": [(row[0], (row[0] * 7 + y) % 300) for y in range(1, 9)]})
    assert (strategies(never, 2), states(never)) == (["bootstrap", "bootstrap"], [])
    assert (strategies(always), check(always)) == (["update"], 1)
    assert sorted(never["t"].fetchall()) == sorted(always["t"].fetchall())


def test_a_view_and_its_counted_state_share_their_pages():
    closure = dense(float("inf"))
    for rows in [(0, 1)], [(0, 2)], [(0, 299)]:
        change(closure, {"e": rows}, {})
        change(closure, {}, {"e": rows})
        (state,) = states(closure)
        view = closure._backend.state.database["t"]
        assert view.identity.root == state.relations["t"].identity.root
    sizes = {row[0] + row[1]: row[3] for row in closure.memory().fetchall()}
    assert 2 * sizes["t(iterations and proofs)"] == sizes["tx, y"] > 0, "a word for each row"


def test_constants_that_no_moved_row_has_are_not_asked_for():
    kinds = lftj.connect(elastic=float("inf"))
    kinds.add_rules(KINDS)
    change(
        kinds,
        {"t": [("a", "is", "b"), ("b", "sub", "c"), ("c", "sub", "d"), ("a", "has", "b")]},
        {},
    )
    change(kinds, {}, {"t": [("a", "has", "b")]})
    change(kinds, {"t": [("e", "has", "c")]}, {})
    quiet = steps(kinds)
    change(kinds, {"t": [("e", "is", "c")]}, {})
    assert quiet < steps(kinds)
    assert ("e", "is", "d") in kinds["t"].fetchall()
    assert check(kinds) == 1
