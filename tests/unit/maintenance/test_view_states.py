"""Notes beside the states of views agree with the states themselves; states of no use under new
rules are gone.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.maintenance.rules.view_states import ViewStates, rules_of
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.sensitivity import hull
from tests.unit.maintenance.sharing import RULES, declared, shared_heads

TEXTS = [rule for _, rule, _ in RULES.values()]


def check(workspace: Any) -> None:
    """The states know what one makes of them from nothing."""
    states: ViewStates = workspace._backend.state.heads
    anew = ViewStates.of(dict(states))
    heads = [
        (name, rule.head)
        for name, state in states.items()
        for rule in rules_of(state)
        if rule.head is not None
    ]
    for _, head in heads:
        assert states.sharing(head.shared.same_body) == anew.sharing(head.shared.same_body)
        assert states.sharing(head.shared.same_body)[head.shared.key] == {
            name for name, each in heads if each.shared.key == head.shared.key
        }
    traces = {
        id(rule.trace): rule.trace.bytes
        for state in states.values()
        for rule in rules_of(state)
        if rule.trace is not None
    }
    assert states.traced == anew.traced == sum(traces.values())


@given(
    st.lists(
        st.one_of(st.integers(0, len(TEXTS) - 1), st.tuples(st.integers(0, 3), st.integers(0, 3))),
        min_size=1,
        max_size=10,
    ),
    st.booleans(),
)
@settings(max_examples=20)
def test_what_is_noted_follows_every_change(
    steps: list[int | tuple[int, int]], traced: bool
) -> None:
    workspace = lftj.connect()
    workspace._backend.trace_override = TraceOverride(lambda _: hull()) if traced else None
    workspace.add_rules(declared(RULES))
    workspace.load("f", [(y, y) for y in range(4)])
    handles: dict[int, Any] = {}
    for step in steps:
        if isinstance(step, tuple):
            workspace.load("e", [(*step, 1, "t")])
        elif step in handles:
            workspace.remove_rule(handles.pop(step))
        else:
            handles[step] = workspace.add_rule(TEXTS[step])
        check(workspace)
    assert workspace.verify() == []


@pytest.mark.parametrize(
    "more", ["b(x, y) :- a(y, x).", "b(x, y) :- c(x, y).\nc(x, y) :- a(y, x)."]
)
def test_a_view_that_others_draw_into_a_cycle_begins_anew_when_it_is_out_of_it(more: str) -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        "".join(f".decl {name}(x: number, y: number)\n" for name in "abce")
        + "a(x, y) :- b(x, y).\na(x, y) :- e(x, y)."
    )
    workspace.load("e", [(1, 2), (2, 2)])
    rules = workspace.add_rules(more)
    assert set(workspace._backend.state.heads) == {"#stratum a b" + " c" * ("c(" in more)}
    workspace.load("e", [(3, 4)])
    workspace.remove_rule(rules)
    with workspace.transaction() as transaction:
        transaction.delete("e", [(1, 2), (3, 4)])
    assert workspace["a"].fetchall() == [(2, 2)]
    assert workspace.verify() == []


def test_a_shared_head_forgets_a_rule_that_becomes_part_of_a_cycle() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        declared([])
        + ".decl lo(x: number, v: number)\n.decl hi(x: number, v: number)\n.decl back(x: number, "
        "v: number)\n"
    )
    workspace.load("e", [(1, 2, 3, "t"), (1, 3, 5, "t")])
    workspace.add_rules(
        "lo(x, min(v)) :- e(x, y, v, _), f(y, _), x < 9.\nhi(x, max(v)) :- e(x, y, v, _), f(y, _), "
        "x < 9."
    )
    workspace.load("f", [(2, 2), (3, 3)])
    workspace.add_rules("lo(x, min(v)) :- back(x, v).\nback(x, min(v)) :- lo(x, v).")
    assert [
        member.rule.relation for head in shared_heads(workspace) for member in head.shared.members
    ] == ["hi"]
    check(workspace)
    workspace.load("e", [(1, 2, 1, "t"), (1, 2, 7, "t")])
    assert (workspace["lo"].fetchall(), workspace["hi"].fetchall()) == ([(1, 1)], [(1, 7)])
    assert workspace.verify() == []
