"""The graph of views as plans, profiles and pages show it: each node once."""

from __future__ import annotations

from pathlib import Path

import lftj

PROGRAM = """
.decl e(a: number, b: number)
.decl best(a: number, b: number) choice-domain a
.decl t(a: number, b: number)
.decl n(a: number, c: number)
.decl m(a: number, c: number, d: number)
.decl both(a: number)
.decl also(a: number)
.decl long(a: number)
t(x, y) :- e(x, y).
t(x, z) :- t(x, y), e(y, z).
n(x, count()) :- t(x, _).
m(x, count(), max(y)) :- t(x, y).
both(x) :- n(x, c), c > 2, !e(x, x).
both(x) :- e(_, x), e(x, _).
also(y) :- e(_, y), e(y, _).
best(x, y) :- t(x, y).
long(strlen(to_string(x))) :- e(x, _).
"""


def _workspace(more: str = "") -> lftj.Workspace:
    ws = lftj.connect()
    ws.add_rules(PROGRAM + more)
    ws.load("e", [(i, i + 1) for i in range(6)])
    ws.load("both", [(99,)])
    return ws


def _nodes(ws: lftj.Workspace) -> dict[str, tuple[str, ...]]:
    """Kind, what is read, and rules of each node."""
    return {row[0]: (row[1], row[2], row[4]) for row in ws.plan().nodes().fetchall()}


def test_each_node_is_listed_once_after_what_it_reads() -> None:
    found = _nodes(_workspace())
    assert found["e"] == ("table", "", "")
    assert found["t"] == ("fixpoint", "e", "#1, #2")
    assert found["group 1"] == ("group", "t", "#3, #4")
    assert (found["n"], found["m"]) == (("union", "group 1", "#3"), ("union", "group 1", "#4"))
    assert found["both"] == ("union", "join 2, join 3, base rows of both", "#5, #6")
    assert found["join 3"] == ("join", "e", "#6, #7")
    assert found["also"] == ("union", "join 3", "#7")
    assert found["best"][0] == "choice"
    assert [name for name, about in found.items() if about[0] == "functor"]
    seen: set[str] = set()
    for name, (_, reads, _) in found.items():
        assert {*reads.split(", ")} - {""} <= seen
        seen.add(name)


def test_the_nodes_of_one_rule_are_those_behind_it() -> None:
    ws = _workspace()
    rows = ws.plan(ws.rules[3]).nodes().fetchall()
    assert [row[0] for row in rows] == ["t", "group 1", "m"]
    assert [row[4] for row in rows] == ["#1, #2", "#3, #4", "#4"]


def test_views_that_differ_in_a_constant_are_one_node() -> None:
    asked = "".join(
        f".decl v{i}(a: number, b: number) v{i}(x, y) :- e({i}, x), e(x, y).\n" for i in range(6)
    )
    found = _nodes(_workspace(asked))
    (family,) = [(name, *about) for name, about in found.items() if about[0] == "family"]
    assert family[2:] == ("e", ", ".join(f"#{number}" for number in range(10, 16)))
    assert all(found[f"v{i}"][1] == family[0] for i in range(6))


def test_counts_up_to_a_bound_have_a_node_of_their_own() -> None:
    ws = _workspace(
        ".decl rank(a: number, n: number) rank(x, n) :- e(x, y), n = count : { e(_, z), z > y }.\n"
    )
    rows = {row[0]: row for row in ws.plan().nodes().fetchall()}
    (bounds,) = [row for row in rows.values() if row[1] == "bounds"]
    assert (bounds[2], bounds[5]) == ("e, rule10#in1", "look-ups in key orders")
    assert rows["group 1"][5] == "delta queries"


def test_what_work_was_done_is_told_by_node() -> None:
    ws = _workspace()
    ws.load("e", [(6, 7)])
    (commit,) = ws.profile(last=1).to_dict()["commits"]
    nodes = [each["node"] for each in commit["rules"]]
    assert nodes.count("group 1") == 1
    row = next(each for each in commit["rules"] if each["node"] == "group 1")
    assert (row["relation"], row["rule"], row["rows"]) == ("n, m", "#3, #4", 7)
    assert {*nodes} <= {*_nodes(ws)}


def test_the_graph_is_drawn_with_shared_nodes(tmp_path: Path) -> None:
    ws = _workspace()
    graph = ws.plan().to_networkx()
    assert {("t", "group 1"), ("group 1", "n"), ("group 1", "m")} <= {*graph.edges}
    assert graph.nodes["group 1"]["rules"] == (3, 4)
    assert ws.plan().to_dot().count("group 1") == 1
    page = ws.report(tmp_path / "page.html").read_text()
    assert '<rect class="shared"' in page
    assert "group 1" in page
    assert "reads group 1, shown with rule #3" in page


def test_a_plan_is_shown_once_for_rules_that_share_it() -> None:
    ws = _workspace()
    text = str(ws.plan())
    assert text.count("found once for the rules #3, #4, as group 1") == 1
    assert "m: reads group 1, shown with rule #3" in text
    assert "also: reads join 3, shown with rule #6" in text
    bodies = ws.plan().to_dict()["bodies"]
    assert [body["relation"] for body in bodies].count("m") == 0
