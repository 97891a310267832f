"""Random histories over rules whose atoms are linked by equations of what is computed from them,
beside the naive reference.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, Transact, with_removals
from tests.strategies.schemas import Row, Spec
from tests.strategies.terms import Draw

RULES = """
near(x, y) :- a(x, d), b(y, e), d / 3 = e / 3.
near(x, y) :- a(x, d), b(y, e), d / 3 = e / 3, d % 2 = e % 2, x != y.
near(x, z) :- a(x, d), b(y, e), a(z, f), d / 2 = e / 2, e / 3 = f / 3.
near(x, y) :- a(x, d), a(y, e), d % 3 = (e / 2) % 3, !b(x, e).
near(x, y) :- a(x, d), b(y, e), d / 3 = e / 3, (x < y ; d = e).
near(x, y) :- near(x, d), b(y, e), d / 2 = e % 2.
near(d, e) :- a(d, d), b(e, e), bnot(d) = bnot(e).
near(x, n) :- a(x, d), n = count : { b(y, e), d / 3 = e / 3 }.
near(x, n) :- a(x, _), n = max y : { a(_, d), b(y, e), d / 3 = e / 3, y < x }.
near(x, 0) :- a(x, d), !( b(_, e), a(_, f), e / 3 = f / 3, e < d ).
few(x, count()) :- a(x, d), b(_, e), d / 3 = e / 3.
few(x / 2, sum(e)) :- a(x, d), b(_, e), (x + 0) / 2 = e % 3, d != e.
least(x, min(e)) :- a(x, d), b(_, e), d % 2 = e % 2.
least(x, min(d)) :- least(y, d), a(y, f), b(x, e), f / 2 = e / 2.
""".strip().splitlines()
VALUES = st.sampled_from((-(2**63), -4, -1, 0, 1, 2, 5, 6, 2**63 - 1))


@st.composite
def changes(draw: Draw) -> Change:
    """Rows won or lost by a base relation."""
    rows: list[Row] = draw(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4))
    return Change(
        draw(st.sampled_from(["insert", "insert", "delete"])),
        draw(st.sampled_from("ab")),
        tuple(rows),
    )


@given(
    st.lists(
        st.sampled_from(RULES),
        min_size=1,
        max_size=5,
        unique_by=lambda text: text if "near" in text[:4] else text[:5],
    ),
    st.data(),
)
def test_oracle_computed_keys_follow_every_change(rules, data):
    pair = Pair([Spec(name, ("int", "int")) for name in ("a", "b", "near", "few", "least")])
    for rule in rules:
        pair.step(Transact((AddRule(rule_of(rule)),)))
    for step in data.draw(st.lists(with_removals(changes()), max_size=6)):
        pair.step(step)
    assert pair.workspace.verify() == []
