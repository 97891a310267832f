from __future__ import annotations

import warnings

import pytest

import lftj
from tests.unit.workspace.reading import GRAPH, rows


def test_a_rule_comes_and_goes(graph):
    before = rows(graph, "reach")
    extra = graph.add_rule("reach(x, x) :- edge(x, _).")
    assert rows(graph, "reach") == before | {(1, 1), (2, 2)}
    graph.remove_rule(extra)
    assert rows(graph, "reach") == before
    assert [str(rule) for rule in graph.rules] == [
        "reach(x, y) :- edge(x, y).",
        "reach(x, z) :- reach(x, y), edge(y, z).",
    ]
    with pytest.raises(lftj.UnknownNameError) as caught:
        graph.remove_rule(extra)
    assert caught.value.code == "E114"


@pytest.mark.parametrize("wrong", ["reach(x, y) :- edge(x, y).", 5, None])
def test_what_is_no_handle_is_named(graph, wrong):
    with pytest.raises(lftj.UnknownNameError) as caught:
        graph.remove_rule(wrong)
    assert caught.value.code == "E114"
    assert f"{wrong!r} is not the handle of a rule" in str(caught.value)
    assert len(graph.rules) == 2


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
        graph.add_rules(
            "extra(1).\n.decl fine(x: number)\nfine(x) :- edge(x, _).\nfine(q) :- edge(_, _).",
            file="more.dl",
        )
    assert {error.code for error in caught.value.errors} == {"E110", "E140"}
    assert "more.dl:1:1" in str(caught.value)
    assert "fine" not in graph.relations
    assert len(graph.rules) == 2


def test_handles_follow_the_text_and_facts_come_last(ws):
    handles = ws.add_rules(
        GRAPH + "edge(1, 2). edge(5, 6).\n.decl odd(x: number)\nodd(7).\nodd(x) :- edge(x, _)."
    )
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


def test_what_is_no_rule_is_shown(graph):
    edge, reach = graph.relations["edge"], graph.relations["reach"]
    x, y = lftj.vars("x y")
    joined_by_and = (reach(x, y) <= edge(x, y)) and edge(y, x)
    for wrong, shown in ((joined_by_and, "edge(y, x)"), (edge(1, 2), "edge(1, 2)"), (x, "x")):
        with pytest.raises(lftj.ParseError) as caught:
            graph.add_rule(wrong)
        assert caught.value.message == f"`{shown}` is no rule"
        assert (
            caught.value.hint
            == "write head <= body, with & and not `and` in the body; a fact is lftj.rule(head)"
        )


@pytest.mark.parametrize("wrong", [None, 3, b"edge(1, 2)."])
def test_rules_are_text(graph, wrong):
    with pytest.raises(lftj.ParseError, match="expected rule text"):
        graph.add_rules(wrong)
    with pytest.raises(lftj.LftjError):
        graph.add_rule(wrong)


def test_input_directives_are_obeyed_when_asked_to(ws, tmp_path):
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    ws.add_rules(GRAPH + ".input edge\n.output reach\n")
    assert rows(ws, "reach") == set()
    other = lftj.connect()
    other.add_rules(GRAPH + ".input edge\n.output reach\n", facts=tmp_path)
    assert rows(other, "reach") == {(1, 2), (2, 3), (1, 3)}
    with pytest.warns(RuntimeWarning, match=r"\.input edge: unknown parameter 'colour' is ignored"):
        lftj.connect().add_rules(GRAPH + ".input edge(colour=red)\n", facts=tmp_path)
    with pytest.raises(lftj.FileMissingError):
        other.add_rules(".decl more(x: number)\n.input more", facts=tmp_path)
    assert "more" not in other.relations


def test_an_aggregate_that_is_added_once_more_is_told_from_one_with_two_rules(ws):
    ws.relation("e", {"x": int})
    text = ".decl n(c: number)\nn(count()) :- e(_)."
    ws.add_rules(text)
    with pytest.raises(lftj.errors.ProgramErrors, match="has a rule already") as caught:
        ws.add_rules(text)
    assert "ws.rules lists" in str(caught.value)
    with ws.transaction() as tx:
        tx.remove_rule(ws.rules)
        tx.add_rules(text)
    ws.load("e", [(7,)])
    assert (len(ws.rules), rows(ws, "n")) == (1, {(1,)})


def test_an_aggregated_relation_has_no_rows_of_its_own(ws):
    ws.add_rules(".decl e(x: number)\n.decl n(c: number)")
    ws.load("n", [(3,)])
    with pytest.raises(
        lftj.DeclarationError, match="has an aggregate rule and cannot hold rows of its own"
    ) as caught:
        ws.add_rule("n(count()) :- e(_).")
    assert caught.value.code == "E163"
    assert "so that they add up with the others: n(c) :- own(c)." in str(caught.value.hint)
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
    product = lftj.UserAggregate(
        "times", 1, int, lambda a, b: a * b, argument_types=(lftj.INT,), result_type=lftj.INT
    )
    ws.add_aggregate(product)
    ws.add_aggregate(product)
    ws.add_rules(
        ".decl e(g: number, x: number)\n.decl t(g: number, p: number)\nt(g, times(x)) :- e(g, x)."
    )
    ws.load("e", [(1, 2), (1, 3), (2, 5)])
    assert rows(ws, "t") == {(1, 6), (2, 5)}
    with pytest.raises(lftj.DeclarationError, match="`times` is defined already"):
        ws.add_aggregate(
            lftj.UserAggregate(
                "times", 0, int, max, argument_types=(lftj.INT,), result_type=lftj.INT
            )
        )
    with pytest.raises(lftj.DeclarationError, match="no result_type"):
        ws.add_aggregate(lftj.UserAggregate("other", 0, int, max))


@pytest.mark.parametrize("inverse", [None, lambda a: -a])
@pytest.mark.parametrize("loaded", [False, True])
def test_an_aggregate_that_comes_later_shares_the_body_of_another(ws, inverse, loaded):
    def aggregate(name, combine, inverse=None):
        return lftj.UserAggregate(
            name, 0, int, combine, inverse, argument_types=(lftj.INT,), result_type=lftj.INT
        )

    ws.add_aggregate(aggregate("most", max))
    ws.add_rules(
        ".decl e(g: number, x: number)\n.decl a(g: number, v: number)\na(g, most(x)) :- e(g, x)."
    )
    if loaded:
        ws.load("e", [(1, 2), (1, 3), (2, 4)])
    ws.add_aggregate(aggregate("total", lambda a, b: a + b, inverse))
    later = ws.add_rules(".decl b(g: number, v: number)\nb(g, total(x)) :- e(g, x).")
    ws.load("e", [(1, 2), (1, 3), (2, 4)])
    assert (rows(ws, "a"), rows(ws, "b")) == ({(1, 3), (2, 4)}, {(1, 5), (2, 4)})
    with ws.transaction() as tx:
        tx.delete("e", [(1, 3), (2, 4)])
        tx.insert("e", [(1, 7)])
    assert (rows(ws, "a"), rows(ws, "b")) == ({(1, 7)}, {(1, 9)})
    assert ws.verify() == []
    ws.remove_rule(later)
    ws.load("e", [(3, 3)])
    assert (rows(ws, "a"), rows(ws, "b")) == ({(1, 7), (3, 3)}, set())


def test_python_types_stand_for_those_of_an_aggregate(ws):
    for types, result in (((int,), int), ((int,), "int"), (int, lftj.INT)):
        product = lftj.UserAggregate(
            f"product{len(ws.rules)}",
            1,
            int,
            lambda a, b: a * b,
            argument_types=types,
            result_type=result,
        )
        assert (product.argument_types, product.result_type) == ((lftj.INT,), lftj.INT)
        ws.add_aggregate(product)
        ws.add_rules(
            f".decl e(x: number)\n.decl t{len(ws.rules)}(p: number)\n"
            f"t{len(ws.rules)}({product.name}(x)) :- e(x)."
        )
    ws.load("e", [(2,), (3,)])
    assert rows(ws, "t0") == rows(ws, "t1") == rows(ws, "t2") == {(6,)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "a b"}, "'a b' cannot name an aggregate"),
        ({"name": "cat"}, "'cat' cannot name an aggregate"),
        ({"name": "choice"}, "'choice' cannot name an aggregate"),
        ({"combine": 5}, "`combine` of aggregate `p` cannot be called: 5"),
        ({"lift": None}, "`lift` of aggregate `p` cannot be called: None"),
        ({"finish": "x"}, "`finish` of aggregate `p` cannot be called: 'x'"),
        ({"result_type": list}, "list is not a column type"),
    ],
)
def test_aggregates_that_rules_could_not_use(ws, change, message):
    given = {
        "name": "p",
        "zero": 0,
        "lift": int,
        "combine": max,
        "argument_types": (int,),
        "result_type": int,
    } | change
    with pytest.raises(lftj.DeclarationError, match=message):
        ws.add_aggregate(lftj.UserAggregate(**given))


@pytest.mark.parametrize("wanted", ["reach(x, y) :- edge(x, y).", ["reach"], 1, None])
def test_what_is_no_handle_removes_nothing(graph, wanted):
    with pytest.raises(lftj.UnknownNameError, match=r"handle from add_rule"):
        graph.remove_rule(wanted)
    assert len(graph.rules) == 2


@pytest.mark.parametrize("wanted", ["reach(x, y) :- edge(x, y).", ["reach"], 1])
def test_what_is_no_handle_has_no_plan(graph, wanted):
    with pytest.raises(lftj.UnknownNameError, match=r"handle from add_rule"):
        graph.plan(wanted)


def test_handles_of_another_workspace_remove_nothing(graph):
    other = lftj.connect()
    other.add_rules(
        '.decl a(x: symbol)\n.decl edge(x: symbol, y: symbol)\na(x) :- edge(x, _).\nedge("p", "q").'
    )
    for act in (graph.remove_rule, graph.plan):
        with pytest.raises(
            lftj.UnknownNameError, match=r"no such rule: a\(x\) :- edge\(x, _\)\."
        ) as caught:
            act(other.rules[0])
        assert caught.value.code == "E114"
    assert other.rules[0] != graph.rules[0]
    assert len(graph.rules) == 2


def test_a_handle_of_a_transaction_that_was_rolled_back_is_nobodys(graph):
    tx = graph.transaction()
    gone = tx.add_rule("reach(x, x) :- edge(x, _).")
    tx.rollback()
    stays = graph.add_rule("reach(x, x) :- edge(_, x).")
    assert gone != stays
    with pytest.raises(lftj.UnknownNameError, match="removed or rolled back"):
        graph.remove_rule(gone)
    assert graph.rules[-1] == stays


def test_facts_are_removed_by_their_values(ws):
    facts = ws.add_rules('.decl a(x: symbol, n: number)\na("p", 1). a("q", 2).')[0]
    other = lftj.connect()
    other.add_rules('.decl a(x: symbol, n: number)\na("r", 1). a("q", 2). a("s", 2).')
    other.remove_rule(facts)
    assert rows(other, "a") == {("r", 1), ("s", 2)}
    with pytest.raises(lftj.UnknownNameError, match="unknown relation `a`"):
        lftj.connect().remove_rule(facts)


DOUBTED = """
.decl o(id: number, c: number, d: number)
.decl p(c: number, d: number)
.decl n(c: number, k: number)
.decl counted(c: number, k: number)
p(c, d) :- o(_, c, d).
"""


def test_rules_that_lose_rows_are_warned_of_when_they_are_added() -> None:
    ws = lftj.connect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ws.add_rules(DOUBTED)
        ws.remove_rule(ws.add_rule("n(c, max(d)) :- p(c, d)."))
        ws.add_rules("counted(c, count()) :- o(_, c, _).")
    with pytest.warns(RuntimeWarning, match="takes each `d` of a group once") as caught:
        handle = ws.add_rule("n(c, sum(d)) :- p(c, d).")
    assert caught[0].filename == __file__
    ws.remove_rule(handle)
    with pytest.warns(RuntimeWarning, match="keep `id` in `p`"):
        ws.program("n(c, k) :- o(_, c, _), k = sum d : { p(c, d) }.", name="totals")
    with pytest.warns(RuntimeWarning, match=r"count_distinct\(d\) counts the different ones"):
        ws.add_rules(".decl m(c: number, k: number) m(c, count()) :- o(_, c, d).")


BOUNDS = """
.decl sale(shop: symbol, day: number, amount: number?)
.decl best(shop: symbol, day: number)
"""
TWO_BEST = "count : { sale(s, _, b), b > a } < 2"


@pytest.mark.parametrize(
    ("body", "doubted"),
    [
        (f"sale(s, d, a), {TWO_BEST}", True),
        ("sale(s, x, a), d = 1 + count : { sale(s, _, b), a < b }, d <= x", True),
        (f"sale(s, _, _), (sale(s, d, a), {TWO_BEST} ; sale(s, d, 7))", True),
        (f"sale(s, d, a), !is_null(a), {TWO_BEST}", False),
        (f"sale(s, d, a), is_null(a), {TWO_BEST}", False),
        (f"sale(s, d, a), a > 3, {TWO_BEST}", False),
        (f"sale(s, d, a), sale(_, _, a), {TWO_BEST}", False),
        (f"sale(s, d, v), a = coalesce(v, 0), {TWO_BEST}", False),
        ("sale(s, d, a), count : { sale(s, _, b), b > coalesce(a, 0) } < 2", False),
        ("sale(s, d, _), count : { sale(s, e, _), e > d } < 2", False),
    ],
)
def test_counts_before_what_may_be_null_are_warned_of(body: str, doubted: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lftj.connect().add_rules(f"{BOUNDS} best(s, d) :- {body}.")
    found = [str(each.message) for each in caught]
    assert [("`a` may be NULL" in each, "!is_null(a)" in each) for each in found] == (
        [(True, True)] * doubted
    )


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("recursive", [True, False])
def test_a_rule_that_is_there_twice_stays_when_one_of_them_goes(
    first: bool, recursive: bool
) -> None:
    ws = lftj.connect()
    ws.add_rules(
        ".decl a(x: number, y: number)\n.decl b(x: number, y: number)\n"
        ".decl p(x: number, y: number)\np(x, y) :- a(x, y)."
    )
    if recursive:
        ws.add_rules("p(x, z) :- p(x, y), a(y, z).")
    once, again = (ws.add_rules("p(x, y) :- b(y, x).")[0] for _ in range(2))
    ws.load("a", [(1, 2)])
    ws.load("b", [(2, 4)])
    with ws.transaction() as tx:
        tx.remove_rule(once if first else again)
        tx.insert("b", [(3, 1)])
    assert {(1, 2), (4, 2), (1, 3)} <= set(ws["p"].fetchall())
    assert ws.verify() == []
    ws.remove_rule(again if first else once)
    assert ws["p"].fetchall() == [(1, 2)]
    assert ws.verify() == []


@pytest.mark.parametrize("twice", [False, True])
def test_a_recursive_rule_comes_again_while_rows_go(twice: bool) -> None:
    ws = lftj.connect()
    ws.add_rules(".decl e(x: number, y: number)")
    head = ".decl sg(x: number, y: number)\n"
    rules = "sg(x, y) :- e(p, x), e(p, y). sg(x, y) :- e(a, x), sg(a, b), e(b, y).\n"
    ws.program(head + rules * (2 if twice else 1), name="same generation")
    ws.load("e", [(8, 6)])
    with ws.transaction() as tx:
        if twice:
            tx.program(head + rules, name="same generation")
        else:
            tx.add_rules(rules)
        tx.delete("e", [(8, 6)])
        tx.insert("e", [(0, 4)])
    assert ws["sg"].fetchall() == [(4, 4)]
    assert ws.verify() == []
