"""The states of nodes are those of the graph that the program has; states of no use under new rules
are gone.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.sensitivity import hull
from lftj.views.graph import NO_VIEWS, together
from lftj.views.group_node import GroupState
from lftj.views.join_node import JoinState
from tests.unit.maintenance.sharing import RULES, declared, groups_of

TEXTS = [rule for _, rule, _ in RULES.values()]


def check(workspace: Any) -> None:
    """The states are those of the graph's nodes, and the graph is that of the program."""
    state = workspace._backend.state
    states, graph = state.view_states, state.view_states.graph
    order = state.program.stratified.order
    anew = NO_VIEWS.with_strata(
        [each for each in order.strata if each.relations[0] in graph.unions],
        state.program.stratified.relations,
        workspace._backend.tuning,
        together,
    )
    assert graph.unions.keys() == anew.unions.keys() == {*graph.unions} & {*order.place}
    assert graph.groups.keys() == anew.groups.keys()
    assert graph.bodies == anew.bodies
    assert {key: readers for key, (_, readers) in graph.joins.items()} == {
        key: readers for key, (_, readers) in anew.joins.items()
    }
    for key, group in graph.groups.items():
        assert {id(each.rule) for each in group.members} == {
            id(each.rule) for each in anew.groups[key].members
        }
        others = [graph.groups[each] for each in graph.bodies[group.body] - {key}]
        finer = [each for each in others if {*group.texts} <= {*each.texts}]
        finest = max(finer, key=lambda each: (len({*each.texts}), each.key), default=None)
        assert graph.finer.get(key) == (finest and finest.key)
    assert graph.finer.keys() <= graph.groups.keys()
    nodes = {*graph.unions, *graph.groups, *graph.joins}
    assert {key for key in states if not key.startswith("#stratum")} == nodes
    assert states.traced == sum(
        each.bytes if isinstance(each, JoinState) else each.join.bytes
        for each in states.values()
        if isinstance(each, JoinState | GroupState)
    )


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


@given(st.lists(st.sets(st.sampled_from("xyvw")), min_size=2, max_size=9))
@settings(max_examples=20)
def test_each_group_knows_the_finest_over_its_body(steps: list[set[str]]) -> None:
    workspace = lftj.connect()
    workspace.add_rules(declared([]))
    handles: dict[str, Any] = {}
    for step in steps:
        by = ", ".join(sorted(step))
        name = f"by{''.join(sorted(step))}"
        if name in handles:
            workspace.remove_rule(handles.pop(name))
        else:
            head = f"{name}({by}{', ' * bool(by)}sum(v))"
            workspace.relation(name, dict.fromkeys([*sorted(step), "n"], int))
            handles[name] = workspace.add_rule(f"{head} :- e(x, y, v, _), f(y, w).")
        check(workspace)


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
    assert set(workspace._backend.state.view_states) == {"#stratum a b" + " c" * ("c(" in more)}
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
        member.rule.relation for head in groups_of(workspace) for member in head.group.members
    ] == ["hi"]
    check(workspace)
    workspace.load("e", [(1, 2, 1, "t"), (1, 2, 7, "t")])
    assert (workspace["lo"].fetchall(), workspace["hi"].fetchall()) == ([(1, 1)], [(1, 7)])
    assert workspace.verify() == []
