"""Inner bodies, `!( … )` and aggregates, that were refused though they are stratified."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

import lftj

Inner = Callable[[int, int], bool]
E = [(0, 3), (3, 1), (1, 5), (5, 0), (2, 2)]
T = [0, 1, 3, 5]
H = [(1, 2), (4, 4), (5, 9)]


def closure(holds: Inner) -> set[tuple[int, int]]:
    """The pairs of `q` from which `p` follows, by repeated application."""
    q: set[tuple[int, int]] = set(E)
    while True:
        p = {(x, y) for x, y in q if x in T and y in T and holds(x, y)}
        more = q | {(x, z) for x, y in p for left, z in E if left == y}
        if more == q:
            return p
        q = more


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        ("!( x < z, z < y, t(z) )", lambda x, y: not any(x < z < y for z in T)),
        (
            "m = count : { h(z, w), w < y + 4, z >= x }, m > 0",
            lambda x, y: any(w < y + 4 and z >= x for z, w in H),
        ),
        (
            "!( h(z, _), z > x, !( h(v, w), v < y, w > x ) )",
            lambda x, y: not (x < 5 and not any(v < y and w > x for v, w in H)),
        ),
    ],
)
def test_what_binds_its_variables_is_not_taken_from_the_cycle(body: str, holds: Inner):
    # An atom of the cycle links x and y; without it the inner body is asked of all pairs, and reads
    # nothing that is not finished.
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: number, y: number) .decl h(x: number, y: number) .decl t(x: number)"
    )
    workspace.load("e", E)
    workspace.load("h", H)
    workspace.load("t", [(x,) for x in T])
    workspace.add_rules(
        ".decl p(x: number, y: number) .decl q(x: number, y: number)"
        f"p(x, y) :- q(x, y), t(x), t(y), {body}. q(x, y) :- e(x, y). q(x, z) :- p(x, y), e(y, z)."
    )
    assert set(workspace["p"].fetchall()) == closure(holds)
    assert not workspace.verify()


def test_an_inner_body_between_values_of_the_cycle_is_asked_for_them():
    program = """
        .decl s(x: number) .decl t(x: number) .decl q(x: number)
        q(x) :- s(x).
        q(y) :- q(x), t(y), y > x, !( t(z), z > x, z < y, !s(z) ).
    """
    facts = {"s": [(2,), (4,)], "t": [(1,), (3,), (4,), (6,), (9,)]}
    ours = lftj.evaluate(program, facts)
    expected = lftj.evaluate(program, facts, by="substitution")
    assert set(ours["q"].fetchall()) == set(expected["q"].fetchall()) == {
        (2,), (3,), (4,), (6,), (9,),
    }  # fmt: skip


def test_a_cycle_that_cannot_be_avoided_is_told_as_before():
    workspace = lftj.connect()
    with pytest.raises(lftj.LftjError) as caught:
        workspace.add_rules(
            ".decl q(x: number) .decl t(x: number) q(x) :- t(x). q(y) :- q(x), t(y), !( q(z), z > "
            "x, z < y )."
        )
    assert "E150" in str(caught.value)


def test_what_an_aggregate_gives_does_not_link_what_it_is_asked_of():
    # x and j have nothing in common but equations with m, which the inner body, asked of both, is
    # yet to give.
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl edge(x: number) .decl event(j: number) .decl tri(i: number, k: number)
        .decl p(x: number, j: number)
        p(x, j) :- edge(x), event(j), m = count : { tri(i, i), j != x }, w = m + j, w = -x.
    """)
    edges, events, loops = range(-5, 6), range(-3, 4), 2
    workspace.load("edge", [(x,) for x in edges])
    workspace.load("event", [(j,) for j in events])
    workspace.load("tri", [(1, 1), (2, 2), (2, 3)])
    assert set(workspace["p"].fetchall()) == {
        (x, j) for x in edges for j in events if (loops if j != x else 0) + j == -x
    }
    assert workspace.verify() == []


@pytest.mark.parametrize("window", ["", ", u < t + 40"])
def test_what_comes_next_is_not_asked_of_all_triples(window: str):
    # Without t < u in the inner body all pairs were asked about, and all that lies between each was
    # found: a third of a minute for 1,000.
    events = [((i * 7919) % 1999, "ab"[i % 2]) for i in range(240)]
    workspace = lftj.connect()
    workspace.add_rules(".decl at(t: number, k: symbol)  .decl next(t: number, u: number)")
    workspace.load("at", events)
    workspace.add_rules(
        f"next(t, u) :- at(t, k), at(u, k), t < u{window}, !( at(s, k), t < s, s < u )."
    )
    work = workspace.profile(last=1)
    assert int(work.steps.sum()) < 10 * len(events) ** 2 // 4

    def expected() -> set[tuple[int, int]]:
        rows = sorted(workspace["at"].fetchall())
        by_kind = [[t for t, kind in rows if kind == wanted] for wanted in "ab"]
        pairs = {pair for times in by_kind for pair in pairwise(times)}
        return {(t, u) for t, u in pairs if not window or u < t + 40}

    assert set(workspace["next"].fetchall()) == expected()
    for number in range(4):
        with workspace.transaction() as transaction:
            transaction.insert("at", [(1000 + number, "a")])
            transaction.delete("at", events[number::60])
        assert set(workspace["next"].fetchall()) == expected()
    assert not workspace.verify()


def test_comparisons_with_arithmetic_stay_where_they_were_written():
    # t + 100 has no value for the last t, which does not matter as long as the inner body rejects
    # it.
    workspace = lftj.connect()
    workspace.add_rules(".decl at(t: number)  .decl next(t: number, u: number)")
    last = 2**63 - 1
    workspace.load("at", [(last - 2,), (last - 1,), (last,), (5,), (7,)])
    workspace.add_rules(
        "next(t, u) :- at(t), at(u), u < t + 100, !( at(s), s > u, s < 10 ), !( at(s), t > s, s > "
        "u ), t < 10."
    )
    assert set(workspace["next"].fetchall()) == {(5, 7), (7, 7)}


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("c(1), x = sum y : { e(x, y) }", {0, 1}),
        ("x = sum y : { e(x, y) }, c(1)", {0, 1}),
        ("c(z), x + 1 = sum y : { e(x, y) }, z < 5", set()),
        ("c(x), s = sum y : { e(x, y) }, s = x", {0, 1}),
        ("c(1), x = count : { e(x, _) }", {0, 1, 2}),
        ("c(1), x * 1 = count : { e(x, y), y > 1 }", {0, 2}),
    ],
)
def test_an_aggregate_within_one_may_say_which_groups_are_empty(inner: str, expected: set[int]):
    # The outer x is what the sum over its own group comes to: zero, where there is no group.
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl p(x: number) .decl c(x: number) .decl v(x: number) .decl e(x: number, y: number)"
    )
    workspace.load("p", [(0,), (1,), (2,)])
    workspace.load("c", [(0,), (1,)])
    workspace.load("e", [(1, 1), (2, 5), (2, 3)])
    workspace.add_rules(f"v(x) :- p(x), n = count : {{ {inner} }}, n > 0.")
    assert {x for (x,) in workspace["v"].fetchall()} == expected
    assert not workspace.verify()
