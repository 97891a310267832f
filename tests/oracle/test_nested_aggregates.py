"""Aggregates inside aggregates, under histories of rows: compared with the naive reference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, Transact
from tests.strategies.schemas import Spec

LISTED = """
v(x, c) :- r(x), c = count : { r(y), y < x, z = sum w : { r(w), w < y }, z > 0 }.
v(x, c) :- r(x), c = sum z : { e(x, y), z = count : { e(y, _) } }.
v(x, c) :- r(x), c = sum z : { e(x, y), z = count : { e(y, w), w > x } }.
v(x, c) :- r(x), c = max z : { r(y), z = min w : { e(y, w), w > x } }.
v(x, c) :- r(x), c = sum z+1 : {r(y), z = sum w : {e(y, w), w != x, q = count : {e(w, _)}, q < 2}}.
v(x, c) :- r(x), c = count : { r(y), 1 = count : { e(y, _) } }.
v(0, c) :- c = max z : { r(y), !e(y, y), (z = count : { e(y, _) } ; z = sum t : { e(t, y) }) }.
""".strip().splitlines()
NUMBERS = st.integers(0, 4)


def changes() -> st.SearchStrategy[Change]:
    """Rows won or lost by `e`, or by `r`."""
    rows = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6)
    kinds = st.sampled_from(["insert", "insert", "delete"])
    edges = st.builds(lambda kind, found: Change(kind, "e", tuple(found)), kinds, rows)
    return st.one_of(
        edges,
        st.builds(
            lambda kind, found: Change(kind, "r", tuple((x,) for x, _ in found)), kinds, rows
        ),
    )


@given(st.sampled_from(LISTED), st.lists(changes(), max_size=6))
def test_oracle_aggregates_inside_aggregates(text, history):
    pair = Pair([Spec("e", ("int", "int")), Spec("r", ("int",)), Spec("v", ("int", "int"))])
    pair.step(Transact((AddRule(rule_of(text)),)))
    for change in history:
        pair.step(Transact((change,)))
    assert pair.workspace.verify() == []
