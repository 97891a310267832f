from __future__ import annotations

import datetime
import gc
import threading

import pytest

import lftj

GRAPH = """
.decl edge(src: number, dst: number)
.decl reach(src: number, dst: number)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
"""


@pytest.fixture
def ws() -> lftj.Workspace:
    return lftj.connect()


@pytest.fixture
def graph(ws) -> lftj.Workspace:
    ws.add_rules(GRAPH)
    ws.load("edge", [(1, 2), (2, 3)])
    return ws


def rows(ws, name) -> set[tuple[object, ...]]:
    return set(ws[name].fetchall())


# ── declarations ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_relation_is_declared_once_and_found_again(ws):
    acct = ws.relation("acct", {"id": int, "since": datetime.date, "owed": "decimal(10,2)"}, key="id")
    assert ws.relation("acct", {"id": int, "since": "date", "owed": "decimal(10,2)"}, key=["id"]).schema == acct.schema
    assert (acct.columns, acct.key) == (("id", "since", "owed"), ("id",))
    assert repr(acct) == "<Relation acct(id: int, since: date, owed: decimal(10,2))>"
    assert list(ws.relations) == ["acct"]
    assert "acct" in ws
    assert acct in ws
    assert "other" not in ws


def test_another_declaration_of_the_name_is_an_error(ws):
    ws.relation("p", {"x": int})
    with pytest.raises(lftj.DeclarationError, match="`p` is declared twice, differently"):
        ws.relation("p", {"x": float})
    with pytest.raises(lftj.DeclarationError, match="`p` is declared as a relation already"):
        ws.view("p", {"x": int})
    assert ws.relations["p"].types == (lftj.INT,)


def test_a_key_must_be_columns(ws):
    with pytest.raises(lftj.UnknownNameError, match="no column `idd`") as caught:
        ws.relation("acct", {"id": int, "c": str}, key="idd")
    assert caught.value.code == "E111"


@pytest.mark.parametrize("name", ["a#b", "1a", "", "reach'"])
def test_a_name_that_rules_could_not_write_is_refused(ws, name):
    with pytest.raises(lftj.LftjError):
        ws.relation(name, {"x": int})
    assert not ws.relations


def test_a_function_has_one_value_per_argument(ws):
    price = ws.function("price", {"item": str}, float)
    cheap = ws.view("cheap", {"item": str})
    x, y = lftj.vars("x y")
    ws.add_rule(cheap(x) <= (price[x] == y) & (y < 2.0))
    ws.load(price, [("tea", 1.5), ("cake", 3.0)])
    assert rows(ws, "cheap") == {("tea",)}
    with pytest.raises(lftj.KeyViolationError):
        ws.load(price, [("tea", 1.75)])
    assert ws[price].columns == ("item", "value")


def test_unknown_names_suggest_the_nearest(graph):
    with pytest.raises(lftj.UnknownNameError, match="did you mean `reach`") as caught:
        graph["raech"]
    assert caught.value.code == "E110"
    with pytest.raises(KeyError):
        graph.load("egde", [(1, 2)])
    with pytest.raises(lftj.UnknownNameError, match="expected a relation or its name, found 3"):
        graph[3]


def test_hidden_relations_are_nobodys_business(graph):
    with pytest.raises(lftj.UnknownNameError):
        graph["reach#base"]
    with pytest.raises(lftj.UnknownNameError):
        graph.load("reach#base", [(1, 1)])


# ── loading ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_load_says_how_many_rows_were_new(graph, tmp_path):
    assert graph.load("edge", [(2, 3), (3, 4), (3, 4)]) == 1
    assert graph.load("reach", [(8, 9), (1, 2)]) == 2  # rows of its own, derived or not
    path = tmp_path / "edge.csv"
    path.write_text("dst,src\n7,6\n")
    assert graph.load("edge", path) == 1
    assert (6, 7) in rows(graph, "reach")


def test_columns_and_nulls_are_passed_to_the_reader(ws):
    import pandas as pd

    ws.relation("p", {"x": int, "s": str})
    frame = pd.DataFrame({"number": [1, 2], "name": ["a", None]})
    assert ws.load("p", frame, columns={"x": "number", "s": "name"}, nulls="drop") == 1
    with pytest.raises(lftj.NullValueError, match="row 1"):
        ws.load("p", frame, columns={"x": "number", "s": "name"})
    assert rows(ws, "p") == {(1, "a")}


def test_a_relation_without_columns_is_true_or_false(ws):
    rainy = ws.relation("rainy", {})
    wet = ws.view("wet", {})
    ws.add_rule(wet() <= rainy())
    assert not ws["wet"]
    assert ws.load(rainy, [()]) == 1
    assert ws["wet"].fetchall() == [()]
    assert ws.query("wet()")
    with ws.transaction() as tx:
        tx.delete(rainy, [()])
    assert tx.changes("wet").fetchall() == [(-1, tx.version)]
    assert not ws.query("rainy()")


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_rule_comes_and_goes(graph):
    before = rows(graph, "reach")
    extra = graph.add_rule("reach(x, x) :- edge(x, _).")
    assert rows(graph, "reach") == before | {(1, 1), (2, 2)}
    graph.remove_rule(extra)
    assert rows(graph, "reach") == before
    assert [str(rule) for rule in graph.rules] == ["reach(x, y) :- edge(x, y).", "reach(x, z) :- reach(x, y), edge(y, z)."]
    with pytest.raises(lftj.UnknownNameError) as caught:
        graph.remove_rule(extra)
    assert caught.value.code == "E114"


def test_rows_of_its_own_stay_when_a_relation_loses_its_rules(graph):
    graph.load("reach", [(7, 8)])
    graph.remove_rule(graph.rules)
    assert rows(graph, "reach") == {(7, 8)}
    graph.load("reach", [(9, 9)])
    graph.add_rule("reach(x, y) :- edge(y, x).")
    assert rows(graph, "reach") == {(7, 8), (9, 9), (2, 1), (3, 2)}
    assert graph.verify() == []


def test_the_same_rule_twice_must_be_removed_twice(graph):
    first, second = (graph.add_rule("reach(x, x) :- edge(x, _).") for _ in range(2))
    assert first != second
    graph.remove_rule(first)
    assert (1, 1) in rows(graph, "reach")
    graph.remove_rule(second)
    assert (1, 1) not in rows(graph, "reach")


def test_add_rules_is_all_or_nothing(graph):
    with pytest.raises(lftj.ProgramErrors) as caught:
        graph.add_rules("extra(1).\n.decl fine(x: number)\nfine(x) :- edge(x, _).\nfine(q) :- edge(_, _).", file="more.dl")
    assert {error.code for error in caught.value.errors} == {"E110", "E140"}
    assert "more.dl:1:1" in str(caught.value)
    assert "fine" not in graph.relations
    assert len(graph.rules) == 2


def test_handles_follow_the_text_and_facts_come_last(ws):
    handles = ws.add_rules(GRAPH + "edge(1, 2). edge(5, 6).\n.decl odd(x: number)\nodd(7).\nodd(x) :- edge(x, _).")
    assert [str(handle) for handle in handles] == [
        "reach(x, y) :- edge(x, y).",
        "reach(x, z) :- reach(x, y), edge(y, z).",
        "odd(x) :- edge(x, _).",
        "2 facts of edge",
        "1 fact of odd",
    ]
    ws.remove_rule(handles[3:])
    assert rows(ws, "odd") == set()
    assert rows(ws, "edge") == set()


def test_a_fact_is_added_by_add_rule_too(graph):
    edge = graph.relations["edge"]
    handle = graph.add_rule(edge(3, 4).fact())
    assert (1, 4) in rows(graph, "reach")
    graph.remove_rule(handle)
    assert (1, 4) not in rows(graph, "reach")


@pytest.mark.parametrize("text", ["", "edge(1, 2). edge(2, 3).", ".decl q(x: number)"])
def test_add_rule_takes_one_rule(graph, text):
    with pytest.raises(lftj.ParseError, match="expected one rule"):
        graph.add_rule(text)


def test_input_directives_are_obeyed_when_asked_to(ws, tmp_path):
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    ws.add_rules(GRAPH + ".input edge\n.output reach\n")
    assert rows(ws, "reach") == set()
    other = lftj.connect()
    other.add_rules(GRAPH + ".input edge\n.output reach\n", facts=tmp_path)
    assert rows(other, "reach") == {(1, 2), (2, 3), (1, 3)}
    with pytest.raises(lftj.FileMissingError):
        other.add_rules(".decl more(x: number)\n.input more", facts=tmp_path)
    assert "more" not in other.relations


def test_an_aggregated_relation_has_no_rows_of_its_own(ws):
    ws.add_rules(".decl e(x: number)\n.decl n(c: number)")
    ws.load("n", [(3,)])
    with pytest.raises(lftj.DeclarationError, match="has an aggregate rule and cannot hold rows of its own") as caught:
        ws.add_rule("n(count()) :- e(_).")
    assert caught.value.code == "E163"
    assert (rows(ws, "n"), ws.rules) == ({(3,)}, [])
    with ws.transaction() as tx:
        tx.delete("n", [(3,)])
        tx.add_rule("n(count()) :- e(_).")
    ws.load("e", [(5,), (6,)])
    assert rows(ws, "n") == {(2,)}
    with pytest.raises(lftj.DeclarationError):
        ws.load("n", [(1,)])


def test_a_relation_whose_facts_are_gone_may_be_aggregated(ws):
    facts = ws.add_rules(".decl e(x: number)\n.decl n(c: number)\nn(3). e(1).")
    with pytest.raises(lftj.LftjError):
        ws.add_rule("n(count()) :- e(_).")
    ws.remove_rule(facts[0])
    ws.add_rule("n(count()) :- e(_).")
    assert rows(ws, "n") == {(1,)}
    with pytest.raises(lftj.ProgramErrors):
        ws.add_rules("n(4).")


def test_a_users_own_aggregate(ws):
    product = lftj.UserAggregate("product", 1, int, lambda a, b: a * b, argument_types=(lftj.INT,), result_type=lftj.INT)
    ws.add_aggregate(product)
    ws.add_aggregate(product)
    ws.add_rules(".decl e(g: number, x: number)\n.decl t(g: number, p: number)\nt(g, product(x)) :- e(g, x).")
    ws.load("e", [(1, 2), (1, 3), (2, 5)])
    assert rows(ws, "t") == {(1, 6), (2, 5)}
    with pytest.raises(lftj.DeclarationError, match="`product` is defined already"):
        ws.add_aggregate(lftj.UserAggregate("product", 0, int, max, argument_types=(lftj.INT,), result_type=lftj.INT))
    with pytest.raises(lftj.DeclarationError, match="no result_type"):
        ws.add_aggregate(lftj.UserAggregate("other", 0, int, max))


# ── questions ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_questions_in_text_and_python(graph):
    edge, reach = graph.relations["edge"], graph.relations["reach"]
    x, y = lftj.vars("x y")
    assert graph.query(reach(1, y)).fetchall() == [(2,), (3,)]
    assert graph.query("reach(1, y)").columns == ("y",)
    assert graph.query(reach(x, y) & ~edge(x, y)).fetchall() == [(1, 3)]
    assert graph.query("reach(y, x), !edge(y, x).").columns == ("y", "x")
    assert graph.query("n = count : { edge(_, _) }").fetchall() == [(2,)]
    assert graph.query("edge(x, _) ; edge(_, x)").fetchall() == [(1,), (2,), (3,)]
    assert graph.query("reach(x, y), z = x * 10 + y, z > 12").fetchall() == [(1, 3, 13), (2, 3, 23)]
    assert graph.query('edge(x, _), s = cat("n", to_string(x))').fetchall() == [(1, "n1"), (2, "n2")]


def test_a_question_without_variables_is_yes_or_no(graph):
    assert graph.query("reach(1, 3)")
    assert not graph.query("reach(3, 1)")
    assert graph.query("edge(_, _)").fetchall() == [()]


def test_bound_arguments_are_pushed_down(ws):
    ws.relation("big", {"x": int, "y": int})
    ws.load("big", [(i, i % 100) for i in range(50_000)])
    ws.query("big(x, 5)")  # builds the key order (y, x)
    with ws.limits(work=2_000):
        assert ws.query("big(40005, y)").fetchall() == [(5,)]
        assert len(ws.query("big(x, 5), x < 1000")) == 10
    with ws.limits(work=2_000), pytest.raises(lftj.LimitError):
        ws.query("big(x, y), x % 3 = y")


def test_questions_leave_nothing_behind(graph):
    version, memory = graph.version, graph.memory().fetchall()
    for _ in range(3):
        graph.query("reach(x, y), !edge(x, y), n = count : { edge(x, _) }")
    gc.collect()
    assert (graph.version, graph.memory().fetchall()) == (version, memory)
    assert len(graph.rules) == 2


@pytest.mark.parametrize(
    ("question", "code"),
    [("nowhere(x)", "E110"), ("edge(x)", "E120"), ("edge(x, y), z < x", "E142"), ("edge(x, ", "E100"), ("edge(1, 2). edge(x, y)", "E103")],
)
def test_questions_are_checked_like_rules(graph, question, code):
    with pytest.raises(lftj.LftjError) as caught:
        graph.query(question)
    assert {error.code for error in getattr(caught.value, "errors", [caught.value])} == {code}


def test_a_term_is_not_a_question(graph):
    with pytest.raises(lftj.ParseError, match="not a question"):
        graph.query(lftj.vars("x")[0] + 1)


# ── looking inside ────────────────────────────────────────────────────────────────────────────────────────────────────
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


def test_memory_lists_every_key_order(graph):
    report = {(name, order): (count, size) for name, order, count, size in graph.memory().fetchall()}
    assert report["edge", "src, dst"] == (2, 32)
    assert report["(pages)", ""][1] > 0
    graph.query("edge(x, 3)")
    assert ("edge", "dst, src") in {(row[0], row[1]) for row in graph.memory()}


def test_verify_finds_what_is_wrong(graph):
    assert graph.verify() == []
    engine = graph._engine
    bare = engine.state.database["reach"].renamed(engine.state.database["reach"].schema)
    wrong = bare.apply(lftj.storage.delta.Delta.deletion([column[:1] for column in bare.columns()]))
    engine.state = type(engine.state)(engine.state.program, engine.state.database.replace({"reach": wrong}))
    (found,) = graph.verify()
    assert found.relation == "reach"
    assert found.difference.fetchall() == [(1, 2, 1, graph.version)]


def test_subscribers_hear_exactly_the_difference(graph):
    heard = []
    with graph.subscribe("reach", lambda changes: heard.append(sorted(changes.fetchall())), snapshot=True):
        graph.load("edge", [(3, 4)])
        graph.load("edge", [(3, 4)])
        graph.relation("unrelated", {"x": int})
        graph.load("unrelated", [(1,)])
    graph.load("edge", [(4, 5)])
    assert heard == [[(1, 2, 1, 2), (1, 3, 1, 2), (2, 3, 1, 2)], [(1, 4, 1, 3), (2, 4, 1, 3), (3, 4, 1, 3)]]


def test_a_subscriber_may_commit(graph):
    log = graph.relation("log", {"x": int, "y": int})
    seen = []
    graph.subscribe("edge", lambda changes: graph.load(log, [row[:2] for row in changes]))
    graph.subscribe("log", lambda changes: seen.extend(changes.fetchall()))
    graph.load("edge", [(3, 4), (4, 5)])
    assert rows(graph, "log") == {(3, 4), (4, 5)}
    assert [row[:2] for row in seen] == [(3, 4), (4, 5)]


# ── limits and the end ────────────────────────────────────────────────────────────────────────────────────────────────
def test_limits_roll_back(graph):
    before = rows(graph, "reach")
    with graph.limits(seconds=-1.0), pytest.raises(lftj.LimitError, match="time limit"):
        graph.load("edge", [(i, i + 1) for i in range(10, 200)])
    with graph.limits(work=10), pytest.raises(lftj.LimitError, match="work limit of 10 steps") as caught:
        graph.load("edge", [(i, i + 1) for i in range(10, 200)])
    assert caught.value.code == "E330"
    with graph.limits(memory=1), pytest.raises(lftj.LimitError, match="memory limit"):
        graph.query("reach(x, y), reach(y, z)")
    assert rows(graph, "reach") == before
    graph.load("edge", [(10, 11)])
    assert (10, 11) in rows(graph, "reach")


def test_limits_nest_and_hold_for_one_thread(graph):
    with graph.limits(work=1):
        with graph.limits(work=10**9):
            assert graph.query("reach(x, y), reach(y, z)")
        found = []
        thread = threading.Thread(target=lambda: found.append(len(graph.query("reach(x, y), reach(y, z)"))))
        thread.start()
        thread.join()
        assert found == [1]
        with pytest.raises(lftj.LimitError):
            graph.query("reach(x, y), reach(y, z)")


def test_a_closed_workspace_says_so(graph):
    snapshot = graph.snapshot()
    with graph:
        pass
    graph.close()
    assert repr(graph) == "<Workspace, closed>"
    with pytest.raises(lftj.LftjError, match="the workspace is closed"):
        graph["reach"]
    assert len(snapshot["reach"]) == 3


def test_durable_workspaces_come_later(tmp_path):
    with pytest.raises(lftj.LftjError, match="durable workspaces come with a later version") as caught:
        lftj.connect(tmp_path / "bank.lftj")
    assert caught.value.code == "E340"
    assert "lftj.connect()" in str(caught.value)


def test_progress_is_told_what_is_evaluated():
    said = []
    ws = lftj.connect(progress=said.append)
    ws.add_rules(GRAPH + "edge(1, 2).")
    assert any("reach" in line for line in said)
