"""Random histories over rules whose bodies fall into parts that no variable links, beside the naive
reference.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, Transact, with_removals
from tests.strategies.schemas import Row, Spec
from tests.strategies.terms import Draw

RULES = """
one(x, 0) :- a(x, _), b(_, _), c(_, _), !c(_, 3).
one(x, y) :- a(x, _), b(y, _), c(z, z), a(z, _).
one(x, y) :- a(x, u), b(y, v), c(u, _), c(v, 2), c(_, _).
one(x, 1) :- a(x, _), b(u, v), c(w, _), v < w, c(_, u).
one(x, 2) :- a(x, _), b(u, v), u / v > 0, c(_, _).
one(x, 3) :- a(x, _), b(u, v), u / v > 0, c(w, z), w % z = 0, c(_, 1).
one(x / y, y) :- a(x, y), b(u, v), u / v > 0, c(_, _).
one(x, k) :- a(x, k), b(_, k), c(k, _), k = 2.
one(x, y) :- one(y, x), one(_, 5), b(_, _).
one(x, x) :- b(x, _), one(_, _), c(u, v), one(v, u).
one(x, 4) :- a(x, _), !( b(_, _), c(x, _), a(_, 2) ).
one(x, n) :- a(x, _), n = count : { b(_, _), c(_, x) }.
one(x, n) :- a(x, _), n = max u : { b(u, _), c(v, _), v < x }, c(_, 0).
one(x, 6) :- a(x, _), b(_, _), n = count : { c(x, _) }, n = 2.
one(x, 7) :- a(x, _), b(_, _), k = 1, k = l, m = l, (c(x, _), m = 1 ; m = 2).
one(5, 5) :- a(_, _), b(_, _), (c(_, 2) ; c(2, _)).
many(x, count()) :- a(x, _), b(_, _), c(_, _).
many(7, sum(y)) :- a(_, y), b(_, _), c(_, 1).
best(x, min(y)) :- a(x, y), b(_, _), c(_, u), b(u, _).
best(x, min(y)) :- best(z, y), a(z, x), b(_, _), best(2, _).
""".strip().splitlines()
VALUES = st.sampled_from((0, 1, 2, 3, 5))


@st.composite
def changes(draw: Draw) -> Change:
    """Rows won or lost by a base relation."""
    rows: list[Row] = draw(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4))
    return Change(
        draw(st.sampled_from(["insert", "insert", "delete"])),
        draw(st.sampled_from("abc")),
        tuple(rows),
    )


@given(
    st.lists(
        st.sampled_from(RULES),
        min_size=1,
        max_size=5,
        unique_by=lambda text: text if "one" in text[:3] else text[:4],
    ),
    st.data(),
)
def test_oracle_independent_parts_follow_every_change(rules, data):
    pair = Pair([Spec(name, ("int", "int")) for name in ("a", "b", "c", "one", "many", "best")])
    for rule in rules:
        pair.step(Transact((AddRule(rule_of(rule)),)))
    for step in data.draw(st.lists(with_removals(changes()), max_size=6)):
        pair.step(step)
    assert pair.workspace.verify() == []
