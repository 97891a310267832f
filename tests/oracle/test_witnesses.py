"""Witnesses of `min` and `max`, under histories of rows: compared with the naive reference, which
has a meaning of its own for them.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, Transact
from tests.strategies.schemas import Spec

LISTED = """
v(a, m) :- m = max y : { e(a, y) }.
v(a, m) :- min y : { e(a, y) } = m, a > 1.
v(a, b) :- m = max y : { e(a, y) }, e(m, b).
v(a, b) :- r(b), m = max y : { e(a, y), y < b }.
v(a, b) :- 1 < min y + z : { e(a, y), e(b, z), a > z }.
v(a, m) :- m = max y : { e(a, y) }, k = min z : { e(b, z), e(z, a) }, k <= m, b < 3.
v(a, m) :- m = max y : { e(a, y), !e(y, a), n = count : { e(y, _) }, n > 0 }.
v(a, m) :- ( m = max y : { e(a, y) } ; r(m), m = min y : { e(a, y), y > a } ).
v(a, m) :- m = max y : { e(a, y) }, n = count : { e(m, _) }, n < 2, !e(a, a).
v(a, a) :- 3 = max y : { e(a, y) }.
v(a, max y : { e(y, a) }) :- true.
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
def test_oracle_witnesses(text, history):
    pair = Pair([Spec("e", ("int", "int")), Spec("r", ("int",)), Spec("v", ("int", "int"))])
    pair.step(Transact((AddRule(rule_of(text)),)))
    for change in history:
        pair.step(Transact((change,)))
    assert pair.workspace.verify() == []
