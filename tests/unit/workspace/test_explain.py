from __future__ import annotations

import pytest

import lftj
from tests.unit.workspace.reading import rows


def test_plan_shows_the_variable_order(graph):
    plan = graph.plan(graph.rules[1])
    assert "variable order" in str(plan)
    assert "leapfrog of reach(src, dst), edge(src, dst)" in repr(plan)
    frame = plan.df()
    assert list(frame["variable"]) == ["x", "y", "z"]
    assert list(frame["level"]) == [0, 1, 2]
    other = graph.add_rule("reach(x, y) :- edge(y, x), !edge(x, y), x < 9.")
    assert "absent from edge" in str(graph.plan(other))
    graph.remove_rule(other)
    with pytest.raises(lftj.UnknownNameError, match="no such rule"):
        graph.plan(other)


def test_plan_shows_the_rewrites_that_changed_a_rule(graph):
    rule = graph.add_rule("reach(x, y) :- edge(x, y), (x < 3 ; edge(y, x)).")
    report = graph.plan(rule, passes=True)
    assert [each.name for each in report.passes] == ["disjunctions"]
    (step,) = report.passes
    assert f"  after disjunctions: {step.reason}\n" in str(report)
    assert step.rules == (
        "reach(x, y) :- edge(x, y), x < 3.",
        "reach(x, y) :- edge(x, y), edge(y, x).",
    )
    assert all(f"    {rule}" in str(report) for rule in step.rules)
    assert graph.plan(rule).passes == ()
    assert graph.plan(graph.rules[0], passes=True).passes == ()


def test_plan_says_how_a_head_is_kept_whose_rule_is_like_the_one_it_shares(graph):
    graph.add_rules(".decl two(n: number)\ntwo(count()) :- edge(x, y), edge(y, z).")
    text = str(graph.plan(graph.rules[-1]))
    assert "keeps groups" in text
    assert "kept up to date by delta queries" in text


def test_memory_lists_every_key_order(graph):
    report = {
        (name, order): (count, size) for name, order, count, size in graph.memory().fetchall()
    }
    assert report["edge", "src, dst"] == (2, 32)
    assert report["(pages)", ""][1] > 0
    graph.query("edge(x, 3)")
    assert ("edge", "dst, src") in {(row[0], row[1]) for row in graph.memory()}


def test_pages_of_versions_that_nobody_holds_are_used_again(graph):
    def commit(i):
        with graph.transaction() as tx:
            tx.insert("edge", [(100 + i % 2, j) for j in range(200)])
            tx.delete_where("edge", src=100 + (i + 1) % 2)

    for i in range(4):
        commit(i)
    arena = graph._backend.arena
    before = arena.bytes_in_use
    for i in range(40):
        commit(i)
    assert arena.bytes_in_use <= before * 1.5


def test_verify_finds_what_is_wrong(graph):
    assert graph.verify() == []
    engine = graph._backend
    bare = engine.state.database["reach"].renamed(engine.state.database["reach"].schema)
    wrong = bare.apply(lftj.storage.delta.Delta.deletion([column[:1] for column in bare.columns()]))
    engine.state = type(engine.state)(
        engine.state.program, engine.state.database.replace({"reach": wrong})
    )
    (found,) = graph.verify()
    assert found.relation == "reach"
    assert found.difference.fetchall() == [(1, 2, 1, graph.version)]


def test_subscribers_hear_exactly_the_difference(graph):
    heard = []
    with graph.subscribe(
        "reach", lambda changes: heard.append(sorted(changes.fetchall())), snapshot=True
    ):
        graph.load("edge", [(3, 4)])
        graph.load("edge", [(3, 4)])
        graph.relation("unrelated", {"x": int})
        graph.load("unrelated", [(1,)])
    graph.load("edge", [(4, 5)])
    assert heard == [
        [(1, 2, 1, 2), (1, 3, 1, 2), (2, 3, 1, 2)],
        [(1, 4, 1, 3), (2, 4, 1, 3), (3, 4, 1, 3)],
    ]


def test_a_subscriber_may_commit(graph):
    log = graph.relation("log", {"x": int, "y": int})
    seen = []
    graph.subscribe("edge", lambda changes: graph.load(log, [row[:2] for row in changes]))
    graph.subscribe("log", lambda changes: seen.extend(changes.fetchall()))
    graph.load("edge", [(3, 4), (4, 5)])
    assert rows(graph, "log") == {(3, 4), (4, 5)}
    assert [row[:2] for row in seen] == [(3, 4), (4, 5)]


def test_variables_that_begin_with_an_underscore_are_the_users_own() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: number, y: number)  .decl f(x: number, y: number)  .decl h(x: number)\n"
        "h(x) :- e(x, _), (f(x, _t), _t > 3 ; f(_t, x), _t < 2)."
    )
    workspace.load("e", [(1, 2), (4, 4)])
    workspace.load("f", [(1, 5), (0, 4)])
    for row, used in (((1,), "f(1, 5)"), ((4,), "f(0, 4)")):
        assert used in str(workspace.explain("h", row))
