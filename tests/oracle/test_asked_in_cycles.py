"""Aggregates and negations of finished relations that a cycle asks for values of its own, under
histories of rows: compared with the naive reference.
"""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, RemoveRule, Transact
from tests.strategies.schemas import Spec

LISTED = [
    """p(x, 0) :- r(x).
    p(y, s) :- p(x, k), e(x, y), s = sum z : { e(x, z), z > k }.""",
    """p(x, 0) :- r(x).
    p(y, n) :- p(x, k), e(x, y), n = count : { e(a, _), a + k < 5 }.""",
    """p(x, x) :- r(x).
    p(x, m) :- p(x, k), m = max z : { e(a, z), a < k }, m != x.""",
    """p(x, x) :- r(x).
    p(x, y) :- p(x, k), e(_, y), !( e(a, b), a < k, b > y ).""",
    """p(x, 0) :- r(x).
    q(x, n) :- p(x, k), n = count : { r(a), a > k }.
    p(y, n) :- q(x, n), e(x, y).""",
    """p(x, 0) :- r(x).
    p(y, n) :- p(x, k), e(x, y), n = count : { e(a, _), 1 < sum b : { e(a, b), b > k } }.""",
    """p(x, 1) :- r(x).
    p(y, n) :- p(x, k), e(x, y), n = sum z : { e(a, z), a > k }, z2 = min z : { r(z), z <= k },
        z2 < 3.
    q(x, 4 / k) :- r(x), !p(x, 2), p(x, k), k > 0.""",
    """p(x, n) :- q(x, k), n = count : { r(a), a > k }.
    q(x, n) :- r(x), n = 0.
    q(y, n) :- p(x, n), e(x, y).
    q(y, n) :- p(x, k), e(x, y), n = max a : { r(a), a * k < 4 }.""",
]
NUMBERS = st.integers(0, 4)


def changes() -> st.SearchStrategy[Change]:
    """Rows won or lost by `e`, by `r`, or by a relation of the cycle."""
    rows = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5)
    kinds = st.sampled_from(["insert", "insert", "delete"])
    wide = st.builds(
        lambda kind, name, found: Change(kind, name, tuple(found)),
        kinds,
        st.sampled_from(["e", "e", "p"]),
        rows,
    )
    narrow = st.builds(
        lambda kind, found: Change(kind, "r", tuple((x,) for x, _ in found)), kinds, rows
    )
    return st.one_of(wide, narrow)


@given(st.sampled_from(LISTED), st.lists(changes(), max_size=6), st.integers(0, 5))
@example(
    LISTED[6], [Change("insert", "r", ((0,), (1,))), Change("insert", "e", ((0, 1), (1, 2)))], 0
)
def test_oracle_aggregates_asked_for_by_cycles(text, history, later):
    specs = [Spec(name, ("int", "int")) for name in "epq"]
    pair = Pair([*specs, Spec("r", ("int",))])
    rules = [f"{rule.strip()}." for rule in text.split(".\n") if rule.strip()]
    for place, change in enumerate((*history, None)):
        if place == min(later, len(history)):
            pair.step(Transact(tuple(AddRule(rule_of(rule.rstrip(".") + ".")) for rule in rules)))
        if change is not None:
            pair.step(Transact((change,)))
    assert pair.workspace.verify() == []
    for _ in rules:
        pair.step(Transact((RemoveRule(0), Change("insert", "e", ((1, 3),)))))
    assert pair.workspace.verify() == []
