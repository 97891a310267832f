"""Random histories over rules that go through ranges of numbers: compared with the
naive reference.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, Transact, with_removals
from tests.strategies.schemas import Row, Spec
from tests.strategies.terms import Draw

STAY, SHUT = Spec("stay", ("int", "int")), Spec("shut", ("int",))
VIEWS = tuple(
    Spec(name, ("int",) * arity)
    for name, arity in (("night", 1), ("free", 2), ("week", 2), ("full", 1), ("until", 1))
)
LISTED = """
night(x) :- stay(a, b), x = range(a, b).
night(range(a, b, 2)) :- stay(a, b), !shut(a).
night(x + 1) :- x = range(0, 3).
free(a, x) :- stay(a, _), x = range(a - 1, a + 2), !night(x).
free(a, a) :- stay(a, range(-1, 2)).
free(x, y) :- x = range(0, n), y = range(x, n), n = count : { shut(_) }.
week(a, n) :- stay(a, b), n = count : { x = range(a, b), night(x) }.
week(a, n) :- shut(a), n = sum x * y : { x = range(a, 4), y = range(0, x) }.
week(x, x / 2) :- x = range(0, 9, 3), (shut(x) ; night(x), x != range(1, 4)).
full(a) :- stay(a, b), !( x = range(a, b), !night(x) ).
full(3) :- !( x = range(1, 3), night(x) ), 3 = range(0, 4).
until(a) :- shut(a).
until(x) :- until(a), stay(a, b), x = range(a, b, -1).
until(x) :- until(a), x = range(a, 3).
""".strip().splitlines()
INTEGERS = st.integers(-2, 4)


@st.composite
def changes(draw: Draw) -> Change:
    """Rows won or lost by a base relation, or by the rows of its own that `until` has."""
    name = draw(st.sampled_from(["stay", "stay", "stay", "shut", "until"]))
    rows: list[Row] = draw(
        st.lists(st.tuples(*[INTEGERS] * (2 if name == "stay" else 1)), min_size=1, max_size=4)
    )
    return Change(draw(st.sampled_from(["insert", "insert", "delete"])), name, tuple(rows))


@given(
    st.lists(st.sampled_from(LISTED), min_size=3, max_size=8, unique=True),
    st.lists(with_removals(changes()), max_size=6),
)
def test_oracle_ranges_follow_every_change(rules, history):
    pair = Pair([STAY, SHUT, *VIEWS])
    pair.step(Transact(tuple(AddRule(rule_of(text)) for text in rules)))
    for step in history:
        pair.step(step)
    assert pair.workspace.verify() == []
