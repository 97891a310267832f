"""Negations that say that a value is the least or the greatest, under histories of rows: compared
with the naive reference.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, Transact
from tests.strategies.schemas import Spec

LISTED = """
v(x, d) :- t(x, d, a), !( t(x, e, _), e < d ).
v(x, d) :- t(x, d, a), !( t(_, e, _), e > d ).
v(x, f) :- q(x, d), t(x, f, _), f <= d, !( t(x, g, _), g <= d, g > f ).
v(x, z) :- t(u, x, _), t(u, z, _), x < z, !( t(u, m, _), x < m, m < z ).
v(x, count()) :- t(x, d, a), a > 2, !( t(x, e, b), b > 2, e > d ).
v(x, sum(d)) :- t(x, d, a), (q(x, d) ; a > 1), !( t(x, e, _), e > d ).
v(x, a) :- t(x, d, a), q(x, d), !( t(x, e, _), q(x, e), e > d ).
v(x, z) :- t(u, x, _), t(u, z, _), x < z, !q(u, z), !( t(u, m, _), x < m, m < z, !q(u, m) ).
v(x, d) :- t(x, d, a), !q(_, d), !( t(x, e, _), e > d, !q(_, e) ).
v(x, d) :- t(x, d, a), !q(d, _), !( t(x, e, _), e > d, !q(_, e) ).
v(x, d) :- t(x, d, d), !( t(x, e, e), d < e ).
v(x, d) :- t(x, d, 3), !( t(x, e, 3), d < e ).
v(x, d) :- t(x, d, a), a != d, !( t(x, e, f), e > d, f != e ).
v(x, n) :- q(x, _), n = count : { t(x, d, a), !( t(x, e, _), e > d ) }.
v(x, d) :- q(x, d), !( t(x, a, b), !( t(x, e, _), e > a ), b > d ).
""".strip().splitlines()
NUMBERS = st.integers(0, 4)


def changes() -> st.SearchStrategy[Change]:
    """Rows won or lost by `t`, or by `q`."""
    rows = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=6)
    kinds = st.sampled_from(["insert", "insert", "delete"])
    wide = st.builds(lambda kind, found: Change(kind, "t", tuple(found)), kinds, rows)
    return st.one_of(
        wide,
        st.builds(
            lambda kind, found: Change(kind, "q", tuple(row[:2] for row in found)), kinds, rows
        ),
    )


@given(st.sampled_from(LISTED), st.lists(changes(), max_size=6))
def test_oracle_negations_that_are_extremes(text, history):
    pair = Pair(
        [Spec("t", ("int", "int", "int")), Spec("q", ("int", "int")), Spec("v", ("int", "int"))]
    )
    pair.step(Transact((AddRule(rule_of(text)),)))
    for change in history:
        pair.step(Transact((change,)))
    assert pair.workspace.verify() == []
