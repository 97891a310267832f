from __future__ import annotations

import gc

import pytest

import lftj


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
    asked = graph.query("reach(x, y), z = if(x > 1, 10 / (x - 1), 0), if(y > 2, 1, 2) = 1")
    assert (asked.columns, asked.fetchall()) == (("x", "y", "z"), [(1, 3, 0), (2, 3, 10)])
    assert graph.query(reach(x, y) & (lftj.fn.if_(x > 1, 1, 2) == 1)).columns == ("x", "y")
    assert graph.query('edge(x, _), s = cat("n", to_string(x))').fetchall() == [
        (1, "n1"),
        (2, "n2"),
    ]


def test_a_question_without_variables_is_yes_or_no(graph):
    assert graph.query("reach(1, 3)")
    assert not graph.query("reach(3, 1)")
    assert graph.query("edge(_, _)").fetchall() == [()]


def test_the_mark_of_a_question_may_be_written(graph):
    for text in ("? reach(1, y)", "?- reach(1, y).", " ?  reach(1, y)"):
        assert graph.query(text).fetchall() == [(2,), (3,)]
    assert graph.query("?- !edge(1, 3)")
    assert graph.query("? = x, edge(x, _)", 1).fetchall() == [(1,)]
    with pytest.raises(lftj.LftjError, match="<query>:1:3"):
        graph.query("? reech(1, y)")


def test_a_question_that_nothing_can_answer(graph):
    assert graph.query("edge(x, y), 1 > 2").fetchall() == []
    assert not graph.query("reach(1, 3), 1 > 2")


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
    [
        ("nowhere(x)", "E110"),
        ("edge(x)", "E120"),
        ("edge(x, y), z < x", "E142"),
        ("edge(x, ", "E100"),
        ("answer(y) :- edge(1, ", "E100"),
        ("edge(1, 2). edge(x, y)", "E103"),
        ("answer(y) :- edge(1, y).", "E103"),
    ],
)
def test_questions_are_checked_like_rules(graph, question, code):
    with pytest.raises(lftj.LftjError) as caught:
        graph.query(question)
    assert {error.code for error in getattr(caught.value, "errors", [caught.value])} == {code}


def test_a_term_is_not_a_question(graph):
    with pytest.raises(lftj.ParseError, match="not a question"):
        graph.query(lftj.vars("x")[0] + 1)


@pytest.mark.parametrize(
    ("question", "place", "line"),
    [
        ("edge(x, y),\nreach(x), x < 1", "<query>:2:1:", "   2 | reach(x), x < 1\n"),
        ("edge(x, y) :", "<query>:1:12:", "   1 | edge(x, y) :\n"),
        ('edge(x, y), y > "a".', "<query>:1:17:", '   1 | edge(x, y), y > "a"\n'),
        (
            "edge(x, y), x = 9223372036854775807 + y",
            "<query>:1:",
            "   1 | edge(x, y), x = 9223372036854775807 + y\n",
        ),
    ],
)
def test_errors_show_the_question_as_it_was_asked(graph, question, place, line):
    with pytest.raises((lftj.errors.ProgramErrors, lftj.errors.ValueRangeError)) as caught:
        graph.query(question)
    assert str(caught.value).startswith(place)
    assert line in str(caught.value)


def test_errors_of_expressions_show_the_question(graph):
    edge, missing, x, y = graph.relations["edge"], lftj.Predicate("missing"), *lftj.vars("x y")
    with pytest.raises(lftj.ProgramErrors) as caught:
        graph.query(missing(x))
    assert (
        caught.value.errors[0].message == "unknown relation `missing`, in the question  missing(x)"
    )
    with pytest.raises(lftj.ValueRangeError, match="division by zero with x = 1, in the question"):
        graph.query(edge(x, lftj._) & (y == 1 / (x - x)))


def test_arithmetic_that_fails_shows_the_text(graph):
    with pytest.raises(lftj.ValueRangeError) as caught:
        graph.query("edge(x, _),\n y = x / (x - x)")
    place = caught.value.span
    assert place is not None
    assert (place.file, place.line, place.column, place.end_line) == ("<query>", 1, 1, 2)


def test_a_question_that_is_asked_again_is_answered_by_what_is_there_now(graph):
    before = graph.snapshot()
    assert graph.query("edge(1, y)").fetchall() == [(2,)]
    graph.load("edge", [(1, 7)])
    assert graph.query("edge(1, y)").fetchall() == [(2,), (7,)]
    assert before.query("edge(1, y)").fetchall() == [(2,)]
    rule = graph.add_rule("edge(1, 9).")
    assert graph.query("edge(1, y)").fetchall() == [(2,), (7,), (9,)]
    graph.remove_rule(rule)
    assert graph.query("edge(1, y)").fetchall() == [(2,), (7,)]


def test_a_question_that_is_asked_again_of_other_relations_is_another(ws):
    with pytest.raises(lftj.ProgramErrors):
        ws.query("item(x)")
    ws.relation("item", {"x": int})
    ws.load("item", [(1,)])
    assert ws.query("item(x)").fetchall() == [(1,)]
    later = lftj.connect()
    later.relation("item", {"x": str})
    later.load("item", [("a",)])
    assert later.query("item(x)").fetchall() == [("a",)]


def test_a_question_that_is_asked_again_is_not_read_again(graph, monkeypatch):
    graph.query("reach(1, y)")
    monkeypatch.setattr("lftj.engine.questions.question.parse", None)
    assert graph.query("reach(1, y)").fetchall() == [(2,), (3,)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM r",
        "select x from r where x > 1",
        "SELECT count(*) FROM r;",
        "with a as (select 1) select * from a",
        "INSERT INTO r VALUES (1)",
        "DELETE FROM r WHERE x = 1",
        "CREATE TABLE r (x int)",
    ],
)
def test_sql_is_told_how_it_is_said_here(text: str):
    ws = lftj.connect()
    ws.relation("r", {"x": int})
    for take in (ws.query, ws.add_rules, ws.add_rule):
        with pytest.raises(
            lftj.LftjError,
            match=r"this reads like SQL: rows (are asked for by|come and go in Python)",
        ):
            take(text)


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("n(x) :- r(y), x = rank(y).", "1 + count : { r(g, u), u > x }"),
        ("n(rank(x)) :- r(x).", "1 + count : { r(g, u), u > x }"),
        ("n(row_number()) :- r(x).", "+ count : { r(g, v, x), v < y }"),
        ("n(Dense_Rank(x)) :- r(x).", "values(g, x) :- r(g, x, _)"),
        ("n(lag(x, 1)) :- r(x).", "last(y, u) : { r(u, y), u < t }"),
        ("n(lead(x)) :- r(x).", "first(y, u) : { r(u, y), u > t }"),
        ("n(cumsum(x)) :- r(x).", "sum y : { r(u, y), u <= t }"),
        ("n(top(10, x)) :- r(x).", "count : { r(g, u), u > x } < 10"),
        ("n(x) :- r(x) limit 10.", "count : { r(g, u), u > x } < 10"),
        ("n(sum(x)) over (x) :- r(x).", "sum b : { r(s, e, b), e <= d }"),
    ],
)
def test_windows_of_sql_are_told_how_they_are_said_here(rule: str, hint: str):
    ws = lftj.connect()
    ws.relation("r", {"x": int})
    with pytest.raises(lftj.ProgramErrors) as caught:
        ws.add_rules(f".decl n(x: number)\n{rule}")
    assert hint in (caught.value.errors[0].hint or "")
