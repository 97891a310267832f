"""Random histories over cycles through `min` and `max`: facts, rules that come and go, rollbacks,
snapshots; after each step views, changes and the counted states are compared.
"""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

import lftj
from lftj.syntax import tree
from lftj.syntax.parser import parse
from tests.oracle.pair import Pair
from tests.strategies.histories import (
    Action,
    AddRule,
    Change,
    RemoveRule,
    Step,
    TakeSnapshot,
    Transact,
)
from tests.strategies.schemas import Spec
from tests.strategies.terms import Draw
from tests.unit.recursion.stratum import check

SPECS = (
    Spec("edge", ("int", "int", "int")),
    Spec("own", ("int", "int")),
    Spec("near", ("int",)),
    Spec("best", ("int", "int")),
    Spec("most", ("int", "int")),
    Spec("n", ("int",)),
)
RULES = [
    clause
    for clause in parse("""
        best(x, min(d)) :- own(x, d).
        best(y, min(d + w)) :- best(x, d), edge(x, y, w).
        best(y, min(d)) :- near(y), best(x, d), edge(y, x, _).
        best(y, min(max(d, e))) :- best(x, d), edge(x, _, y), best(y, e).
        best(y, min(max(d - 2, 1))) :- best(x, d), edge(y, _, x).
        near(x) :- best(x, d), d < 4.
        near(x) :- edge(x, _, w), w > 3, !own(x, _).
        most(x, max(min(c, w))) :- most(y, c), edge(y, x, w).
        most(x, max(d)) :- own(x, d), near(x).
        most(x, max(10 - d)) :- best(x, d).
        n(count()) :- best(x, d), most(x, e), d != e.
    """).clauses
    if isinstance(clause, tree.Rule)
]
NUMBERS = st.integers(0, 5)


@st.composite
def histories(draw: Draw) -> list[Step]:
    """Transactions of up to three actions. Each rule is added at most once."""
    waiting = draw(st.permutations(RULES))
    steps: list[Step] = []
    for _ in range(draw(st.integers(3, 9))):
        actions: list[Action] = []
        for _ in range(draw(st.integers(1, 3))):
            kind = draw(
                st.sampled_from(
                    ["rule", "rule", "rule", "insert", "insert", "insert", "delete", "remove"]
                )
            )
            if kind == "rule" and waiting:
                actions.append(AddRule(waiting.pop()))
            elif kind == "remove":
                actions.append(RemoveRule(draw(st.integers(0, 9))))
            else:
                spec = draw(st.sampled_from(SPECS[:3]))
                rows = draw(
                    st.lists(
                        st.tuples(*[NUMBERS] * len(spec.types)),
                        min_size=1,
                        max_size=8 if kind == "insert" else 3,
                    )
                )
                actions.append(
                    Change("delete" if kind == "delete" else "insert", spec.name, tuple(rows))
                )
        rollback = (
            all(isinstance(action, Change) for action in actions) and draw(st.integers(0, 5)) == 0
        )
        steps.append(Transact(tuple(actions), rollback))
        if draw(st.integers(0, 5)) == 0:
            steps.append(TakeSnapshot())
    return steps


@given(histories(), st.sampled_from([0.2, math.inf]))
def test_oracle_cycles_through_min_and_max(steps: list[Step], elastic: float):
    pair = Pair(SPECS, lftj.connect(elastic=elastic))
    for step in steps:
        pair.step(step)
        check(pair.workspace)
    assert pair.workspace.verify() == []
