"""Rules with one body and grouping: one evaluation of the body, one state of groups, right whoever
comes and goes.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.heads.ordered_rows import OrderedRows
from tests.unit.maintenance.sharing import RULES, Edge, declared, expected, groups_of, kept

EDGES: list[Edge] = [(x, y, 10 * x + y, f"t{(7 * x + y) % 5}") for x in range(4) for y in range(5)]
WEIGHTS = [(y, 3 * y % 4) for y in range(4)]


def loaded(*names: str) -> lftj.Workspace:
    workspace = lftj.connect()
    workspace.add_rules(declared(RULES))
    workspace.add_rules("\n".join(RULES[name][1] for name in names))
    with workspace.transaction() as transaction:
        transaction.insert("e", EDGES)
        transaction.insert("f", WEIGHTS)
    return workspace


def insert(workspace: lftj.Workspace, relation: str, rows: Any) -> None:
    with workspace.transaction() as transaction:
        transaction.insert(relation, rows)


def delete(workspace: lftj.Workspace, relation: str, rows: Any) -> None:
    with workspace.transaction() as transaction:
        transaction.delete(relation, rows)


def check(
    workspace: lftj.Workspace, names: Any, edges: Any = EDGES, weights: Any = WEIGHTS
) -> None:
    for name in names:
        assert sorted(workspace[name].fetchall()) == expected(name, edges, weights), name
    assert workspace.verify() == []


def test_many_rules_cost_the_steps_of_one_body() -> None:
    alone, together = loaded("lo"), loaded("lo", "hi", "size", "mean", "total")
    for workspace in (alone, together):
        with workspace.transaction() as transaction:
            transaction.delete("e", EDGES[7:8])
    one, many = (workspace.profile(last=1) for workspace in (alone, together))
    assert many.outcome.tolist() == ["update"]
    assert many.rule.tolist() == ["#1, #2, #3, #4, #5"]
    assert many.steps.sum() == one.steps.sum() > 0
    assert many.assignments.sum() == one.assignments.sum() == 1
    check(together, ("lo", "hi", "size", "mean", "total"), EDGES[:7] + EDGES[8:])


@pytest.mark.parametrize("names", [("coarse", "fine"), ("fine", "coarse")])
def test_a_head_that_groups_more_finely_tells_the_change_of_the_body(
    names: tuple[str, str],
) -> None:
    rules = {
        "coarse": ".decl coarse(n: number)\ncoarse(count()) :- e(x, y, v, _), f(y, w).\n",
        "fine": ".decl fine(v: number, n: number)\nfine(b, count()) :- f(q, _), e(_, q, b, _).\n",
    }
    workspaces = []
    for chosen in (names, names[:1], names[1:]):
        workspace = lftj.connect()
        workspace.add_rules(declared([]) + "".join(rules[name] for name in chosen))
        insert(workspace, "e", EDGES)
        insert(workspace, "f", WEIGHTS)
        delete(workspace, "e", EDGES[3:9])
        workspaces.append(workspace)
    both, one, other = (workspace.profile(last=1) for workspace in workspaces)
    assert (both.steps > 0).sum() == 1
    assert both.steps.sum() <= max(one.steps.sum(), other.steps.sum())
    assert set(both.outcome) == {"update"}
    assert workspaces[0].verify() == []


def test_that_nothing_changed_is_told_too() -> None:
    workspace = lftj.connect()
    views = (
        "coarse(count()) :- e(x, y, v, _), f(y, w).\nfine(v, count()) :- e(_, y, v, _), f(y, _).\n"
    )
    workspace.add_rules(
        declared([]) + ".decl coarse(n: number)\n.decl fine(v: number, n: number)\n" + views
    )
    insert(workspace, "e", EDGES)
    insert(workspace, "f", WEIGHTS)
    insert(workspace, "e", [(9, 77, 1, "t")])
    done = workspace.profile(last=1)
    assert (done.outcome.tolist(), done.surgeries.sum()) == (["update"] * 2, 1)


def test_two_heads_of_which_each_could_tell_the_other() -> None:
    workspace = lftj.connect()
    views = "by_x(x, max(v)) :- e(x, y, v, _), f(y, _).\nby_v(v, max(x)) :- e(x, y, v, _), f(y, _)."
    workspace.add_rules(
        declared([])
        + ".decl by_x(x: number, v: number)\n.decl by_v(v: number, x: number)\n"
        + views
    )
    insert(workspace, "e", EDGES)
    insert(workspace, "f", WEIGHTS)
    delete(workspace, "e", EDGES[3:9])
    assert len(groups_of(workspace)) == 2
    assert (workspace.profile(last=1).steps > 0).sum() == 1
    assert workspace.verify() == []


def test_a_full_evaluation_serves_all_rules() -> None:
    workspace = lftj.connect()
    workspace.add_rules(declared(RULES))
    workspace.load("e", EDGES)
    workspace.load("f", WEIGHTS)
    workspace.add_rules("\n".join(rule for _, rule, _ in RULES.values()))
    steps = workspace.profile(last=1).steps
    assert (
        steps > 0
    ).sum() == 2  # `far` has values of two atoms, which the others would be multiplied with
    check(workspace, RULES)


def test_ordered_rows_are_there_once_and_named_after_all_their_users() -> None:
    one, all_of_them = (
        loaded("lo", "comma"),
        loaded("lo", "hi", "keyed", "comma", "dash", "first", "last"),
    )
    assert [each.group.users for each in groups_of(one)] == ["rules #1, #2"]
    assert len(groups_of(all_of_them)) == 1
    rows = [what for what in kept(all_of_them) if "rows in order" in what]
    assert rows == [
        f"(head of rules #1, #2, #3, #4, #5, #6, #7: rows in order of ({types}))"
        for types in ("int, str", "str")
    ]

    def bytes_of(workspace: lftj.Workspace, type: str) -> int:
        return sum(
            row[3]
            for row in workspace.memory().fetchall()
            if row[1].endswith(f"rows in order of ({type}))")
        )

    assert bytes_of(one, "str") == bytes_of(all_of_them, "str") > 0


def test_plan_tells_with_whom_a_rule_shares() -> None:
    workspace = loaded("lo", "comma")
    shown = str(workspace.plan(workspace.rules[0]))
    assert "found once for the rules #1, #2, as group 1" in shown
    assert "keeps groups, rows in order of (int), rows in order of (str), order of texts" in shown
    assert "found once" not in str(loaded("lo").plan(loaded("lo").rules[0]))
    both = str(workspace.plan())
    assert both.count("leapfrog of e(") == shown.count("leapfrog of e(")
    assert "comma: reads group 1, shown with rule #1" in both


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("lo", "hi"),
        ("lo", "total"),
        ("lo", "mean"),
        ("comma", "last"),
        ("comma", "dash"),
        ("keyed", "lo"),
        ("keyed", "total"),
        ("total", "mean"),
    ],
)
def test_a_rule_that_comes_reads_what_is_kept(first: str, second: str) -> None:
    workspace = loaded(first, "size")
    (before,) = groups_of(workspace)
    workspace.add_rule(RULES[second][1])
    assert workspace.profile(last=1).steps.sum() == 0
    (after,) = groups_of(workspace)
    roots = [
        {state.rows.tree.root for state in head.aggregate.kept if isinstance(state, OrderedRows)}
        for head in (before, after)
    ]
    assert roots[0] <= roots[1]
    check(workspace, (first, "size", second))
    insert(workspace, "e", [(2, 2, -5, "zz")])
    check(workspace, (first, "size", second), [*EDGES, (2, 2, -5, "zz")])


def test_a_rule_that_asks_for_more_has_the_body_evaluated_once() -> None:
    workspace = loaded("size", "lo")
    with workspace.transaction() as transaction:
        transaction.add_rule(RULES["comma"][1])
        transaction.add_rule(RULES["last"][1])
        transaction.delete("e", EDGES[:1])
    assert (
        workspace.profile(last=1).steps > 0
    ).sum() <= 2  # the change of what was there, and the whole
    assert len(groups_of(workspace)) == 1
    check(workspace, ("size", "lo", "comma", "last"), EDGES[1:])


def test_a_rule_that_goes_takes_what_it_alone_needed() -> None:
    workspace = loaded("lo", "comma", "hi")
    workspace.remove_rule(workspace.rules[0])
    assert [each.group.users for each in groups_of(workspace)] == ["rules #2, #3"]
    check(workspace, ("comma", "hi"))
    workspace.remove_rule(next(rule for rule in workspace.rules if "concat" in str(rule)))
    assert kept(workspace) == [
        "(head of rule #3: groups)",
        "(head of rule #3: rows in order of (int))",
    ]
    insert(workspace, "e", [(2, 2, 500, "zz")])
    check(workspace, ("hi",), [*EDGES, (2, 2, 500, "zz")])


def test_another_rule_for_the_same_view_in_one_commit() -> None:
    workspace = loaded("lo", "hi")
    with workspace.transaction() as transaction:
        transaction.remove_rule(workspace.rules[0])
        transaction.add_rule("lo(x, max(v)) :- e(x, y, v, _), f(y, _).")
        transaction.insert("e", [(2, 2, 500, "zz")])
    assert workspace["lo"].fetchall() == workspace["hi"].fetchall()
    assert workspace.verify() == []
    assert [each.group.users for each in groups_of(workspace)] == ["rules #2, #3"]


def test_the_least_goes_again_and_again_until_the_group_is_gone_and_all_come_back() -> None:
    names = ("lo", "hi", "first", "last", "comma", "keyed", "size", "total")
    edges = [edge for edge in EDGES if edge[0] < 2]
    workspace = loaded(*names)
    delete(workspace, "e", [edge for edge in EDGES if edge not in edges])
    left = list(edges)
    for edge in sorted((edge for edge in edges if edge[0] == 1), key=lambda edge: edge[2]):
        delete(workspace, "e", [edge])
        left.remove(edge)
        check(workspace, names, left)
        assert set(workspace.profile(last=1).outcome) <= {"update"}
    for edge in sorted((edge for edge in edges if edge[0] == 1), key=lambda edge: -edge[2]):
        insert(workspace, "e", [edge])
        left.append(edge)
        check(workspace, names, left)
    delete(workspace, "f", WEIGHTS)
    assert all(len(workspace[name]) == 0 for name in names)
    insert(workspace, "f", WEIGHTS)
    check(workspace, names, left)


def test_an_error_of_one_head_leaves_all_as_they_were() -> None:
    workspace = loaded("lo", "total")
    with pytest.raises(lftj.ValueRangeError):
        insert(workspace, "e", [(1, 1, 2**62, "a"), (1, 2, 2**62, "b")])
    check(workspace, ("lo", "total"))
    insert(workspace, "e", [(1, 1, 2**62, "a")])
    check(workspace, ("lo", "total"), [*EDGES, (1, 1, 2**62, "a")])


edge = st.tuples(
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(-2, 2),
    st.sampled_from(["", "a", "b", "ab", "é"]),
)
weight = st.tuples(st.integers(0, 2), st.integers(0, 2))
step = st.tuples(
    st.sets(st.sampled_from(sorted(RULES)), max_size=3),
    st.sets(edge, max_size=4),
    st.sets(edge, max_size=4),
    st.sets(weight, max_size=2),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(step, min_size=1, max_size=7), st.sampled_from([0.0, 0.2, float("inf")]))
def test_rules_come_and_go_as_rows_do(steps: list[Any], elastic: float) -> None:
    """Each step toggles rules, inserts and deletes edges, and toggles weights, all in
    one commit.
    """
    workspace = lftj.connect(elastic=elastic)
    workspace.add_rules(
        declared(RULES) + ".decl whole(n: number)\nwhole(count()) :- e(_, y, _, _), f(y, _)."
    )
    handles: dict[str, Any] = {}
    edges: set[Edge] = set()
    weights: set[tuple[int, int]] = set()
    for toggled, wanted, unwanted, moved in steps:
        with workspace.transaction() as transaction:
            for name in sorted(toggled):
                if name in handles:
                    transaction.remove_rule(handles.pop(name))
                else:
                    handles[name] = transaction.add_rule(RULES[name][1])
            transaction.insert("e", sorted(wanted))
            transaction.delete("e", sorted(unwanted))
            transaction.insert("f", sorted(moved - weights))
            transaction.delete("f", sorted(moved & weights))
        edges, weights = (edges | wanted) - unwanted, weights ^ moved
        assert len(groups_of(workspace)) == 1 + ("far" in handles) + (not handles.keys() <= {"far"})
        check(workspace, handles, edges, weights)
