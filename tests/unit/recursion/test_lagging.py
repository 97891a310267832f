"""The identity order of a counted relation lags behind over several updates: nothing that is read
tells, and it is brought forward once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.maintenance.counting import iterated_relation
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, Tree
from lftj.types import INT
from tests.retuning import constants
from tests.unit.recursion.following import CLOSURE, change, strategies, workspace
from tests.unit.recursion.stratum import check, states

BOTH_WAYS = CLOSURE.replace("t(x, y), e(y, z)", "t(x, y), t(y, z)")
BLOCKS = [(i, i + 1) for block in range(50) for i in range(20 * block, 20 * block + 19)]
edge = st.tuples(st.integers(0, 7), st.integers(0, 7))


def lags(target: Any) -> bool:
    (state,) = states(target)
    return state.relations["t"]._late is not None


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([CLOSURE, BOTH_WAYS]),
    st.sets(edge, min_size=6),
    st.lists(
        st.tuples(
            st.sets(edge, max_size=3),
            st.sets(edge, max_size=3),
            st.sampled_from(["go on", "look", "check"]),
        ),
        max_size=8,
    ),
)
@constants(iterated_relation, _LATE_SHARE=1, _LATE_ORDER=1 << 20)
def test_states_and_views_are_right_whenever_they_are_read(text, start, steps):
    target = workspace(text, {"e": sorted(start)}, elastic=float("inf"))
    edges, seen = set(start), []
    for wanted, unwanted, then in steps:
        change(target, {"e": sorted(wanted)}, {"e": sorted(unwanted - wanted)})
        edges = (edges - unwanted) | wanted
        seen.append((target.snapshot(), closure(edges)))
        if then == "look":
            assert set(target["t"].fetchall()) == closure(edges)
        elif then == "check":
            assert check(target) == len(states(target))
    for snapshot, expected in reversed(seen):
        assert set(snapshot["t"].fetchall()) == expected
    assert check(target) == len(states(target))


def closure(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    found = set(edges)
    while more := {(x, z) for x, y in found for y2, z in edges if y == y2} - found:
        found |= more
    return found


def test_changes_wait_from_one_update_to_the_next_and_are_applied_once(
    monkeypatch: pytest.MonkeyPatch,
):
    target = workspace(CLOSURE, {"e": BLOCKS})
    for i in range(3):
        change(target, {}, {"e": [(20 * i + 17, 20 * i + 18)]})
        assert (strategies(target), lags(target)) == (["update"], True)
    applied: list[Tree] = []
    apply = Tree.apply
    monkeypatch.setattr(
        Tree, "apply", lambda self, *rows: applied.append(self) or apply(self, *rows)
    )
    assert len(target["t"]) == 50 * 190 - 3 * 36
    assert not applied, "the number of rows is known"
    assert (5, 18) not in target["t"].fetchall()
    assert len(applied) == 1
    assert not lags(target), "the view and the state have the same tree"
    assert check(target) == 1


@pytest.mark.parametrize(
    ("limit", "value"), [("_LATE_ROWS", 10), ("_LATE_SHARE", 1000), ("_LATE_ORDER", 0)]
)
def test_many_changes_do_not_wait(limit: str, value: int):
    target = workspace(CLOSURE, {"e": BLOCKS})
    with constants(iterated_relation, **{limit: value}):
        change(target, {}, {"e": [(17, 18)]})
    assert (strategies(target), lags(target)) == (["update"], False)
    assert check(target) == 1


def test_many_changes_wait_on_when_few_follow_until_waiting_has_cost_as_much_as_applying():
    rows, zeros = [np.arange(10_000), np.arange(10_000)], np.zeros(10_000, np.int64)
    relation = IteratedRelation.of(
        RelationSchema("t", (("x", INT), ("y", INT))), Arena(), rows, zeros, zeros + 1
    )
    relation.tree((1, 0, 2))
    relation = relation.moved([np.empty(0, np.int64)] * 3, [column[:1000] for column in rows])
    waited = 0
    while relation._late is not None:
        assert relation.standings([column[:1] for column in rows])[0].tolist() == [False]
        waited += 1
        one = [column[1000 + waited : 1001 + waited] for column in rows]
        relation = relation.moved([np.empty(0, np.int64)] * 3, one)
    assert 5 < waited <= 10
    assert len(relation.identity) == 9000 - waited
