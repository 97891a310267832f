"""Random histories over rules that ask for the least or greatest value beyond a bound, traced and
not, beside the naive reference.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.sensitivity import EXACT, hull, projected
from tests.oracle.invariant import uncovered
from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, Transact, with_removals
from tests.strategies.schemas import Row, Spec
from tests.strategies.terms import Draw

VALUES = {
    "int": (2 - 2**63, -3, -1, 0, 1, 2, 2**63 - 3),
    "float": (-1e300, -1.5, -5e-324, 0.0, 0.25, 1.0, 1e300),
}
RULES = """
next(t, u) :- at(t, _), u = min s : { event(s, _), s > t }.
next(t, u) :- at(t, k), u = min s : { event(s, k), s >= t, !shut(s) }.
last(t, u) :- at(t, _), u = max s : { event(s, _), s < t }.
last(t, u) :- at(t, k), u = max s : { event(s, k), t >= s }.
last(t, u) :- at(t, k), u = max s : { event(s, k), s <= t, !shut(s), shut(t) }.
last(t, u) :- at(t, k), u = max s : { event(s, k), event(s, t), s < t, s < k }.
last(k, u) :- at(t, k), u = max s : { event(s, s), s < t, s != k }.
last(t, u) :- at(t, k), u = max s : { event(s, _), s < t - k }.
next(t, u) :- at(t, k), u = min s : { event(s, x), s > t + k, x >= s - 1 }.
next(t, u) :- at(t, k), u = min s : { event(s, _), s > t * k }.
last(t, t) :- at(t, k), 1 = count : { event(u, _), u = max s : { event(s, _), s < t } }.
least(t, min(s)) :- at(t, _), event(s, _), s > t.
least(k, min(s)) :- at(t, k), event(s, _), shut(s), s > t.
least(t, min(s)) :- at(t, k), event(k, s).
least(k, min(s)) :- at(t, k), event(s, _), s >= t, !shut(t).
least(k, min(s)) :- at(t, k), event(r, k), event(s, _), s > t, s >= r, s != k.
least(k, min(s)) :- at(t, k), event(s, x), x > t, s < t.
both(t, min(s), max(s)) :- at(t, _), event(s, _), s > t.
first(min(s)) :- event(s, k), at(k, _), s > k.
first(max(s)) :- event(s, k), at(t, _), s < t.
""".strip().splitlines()
OVERRIDES = [
    None,
    *(TraceOverride(lambda _, kind=kind: kind, True) for kind in (EXACT, hull(), projected(0))),
]


@st.composite
def changes(draw: Draw, type_: str) -> Change:
    """Rows won or lost by a base relation."""
    name = draw(st.sampled_from(["at", "event", "event", "event", "shut"]))
    rows: list[Row] = draw(
        st.lists(
            st.tuples(*[st.sampled_from(VALUES[type_])] * (1 if name == "shut" else 2)),
            min_size=1,
            max_size=4,
        )
    )
    return Change(draw(st.sampled_from(["insert", "insert", "delete"])), name, tuple(rows))


@pytest.mark.parametrize("type_", VALUES)
@pytest.mark.parametrize("override", OVERRIDES, ids=["automatic", "exact", "hull", "projected"])
@given(data=st.data())
@settings(max_examples=settings().max_examples)
def test_oracle_least_values_follow_every_change(
    type_: str, override: TraceOverride | None, data: st.DataObject
):
    workspace = lftj.connect()
    workspace._backend.trace_override = override
    specs = [Spec("at", (type_,) * 2), Spec("event", (type_,) * 2), Spec("shut", (type_,))]
    views = [("next", 2), ("last", 2), ("least", 2), ("both", 3), ("first", 1)]
    pair = Pair([*specs, *(Spec(name, (type_,) * arity) for name, arity in views)], workspace)
    # of rules with aggregates in their heads each relation has one
    rules = data.draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=5, unique_by=_relation))
    pair.step(Transact(tuple(AddRule(rule_of(text)) for text in rules)))
    for step in data.draw(st.lists(with_removals(changes(type_)), max_size=6)):
        pair.step(step)
        assert uncovered(workspace) == []
    assert workspace.verify() == []


def _relation(text: str) -> str:
    name = text.partition("(")[0]
    return text if name in ("next", "last") else name
