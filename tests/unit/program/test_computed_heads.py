"""Heads that compute something of aggregates: `v(g, sum(a) / count()) :- r(g, a)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

import lftj
from lftj.syntax import parse
from tests.distributed.inline import InlineExecutor

DECLARED = """
.decl r(g: number?, a: number?, b: number)
.decl s(g: number)
"""
ROWS = [(1, 1, 2), (1, 2, 3), (1, 3, 4), (1, 4, 4), (2, 5, 5), (2, None, 9), (3, None, 1)]
ROWS += [(None, 3, 3), (None, 4, 9)]
CASES = {
    "of several": (
        ".decl v(g: number?, x: number?, y: number)",
        "v(g, sum(a) / count(), max(b) - min(b)) :- r(g, a, b).",
        [(1, 2, 2), (2, 2, 4), (3, None, 0), (None, 3, 6)],
    ),
    "of a conditional": (
        ".decl v(g: number?, x: number?)",
        "v(g, if(count() > 3, sum(a), if(s(g), 1, 0))) :- r(g, a, _).",
        [(1, 10), (2, 1), (3, 0), (None, 0)],
    ),
    "of a conditional inside": (
        ".decl v(x: number)",
        "v(sum(if(b > 3, b, 0)) + count()) :- r(_, _, b).",
        [(40,)],
    ),
    "of what tells the group": (
        ".decl v(k: number?, x: number?)",
        "v(g % 2, sum(b) * (g % 2) + 1) :- r(g, _, b).",
        [(0, 1), (1, 15), (None, None)],
    ),
    "of texts": (
        ".decl v(t: symbol)",
        'v(cat("n", to_string(count()))) :- r(g, _, _), !s(g).',
        [("n7",)],
    ),
    "of floats": (
        ".decl v(g: number?, x: float)",
        "v(g, median(b) + mean(b) * 2.0) :- r(g, _, b), s(g).",
        [(2, 21.0)],
    ),
    "of a function": (
        ".decl v[b: number]: number",
        "v[b] = coalesce(sum(a), 0) + b :- r(_, a, b), b > 3.",
        [(4, 11), (5, 10), (9, 13)],
    ),
    "beside other rules": (
        ".decl v(g: number, x: number)",
        "v(g, count() - 1) :- r(g, _, _), !is_null(g).\nv(g, 7) :- s(g).",
        [(1, 3), (2, 1), (2, 7), (3, 0)],
    ),
    "with a constant and a body aggregate": (
        ".decl v(k: number, x: number)",
        "v(1, max(b) - (count : { s(_) })) :- r(_, _, b).",
        [(1, 8)],
    ),
}
FACTS: dict[str, list[tuple[Any, ...]]] = {"r": ROWS, "s": [(2,)]}
Case = tuple[str, str, list[tuple[Any, ...]]]


def _same(found: Any, expected: list[tuple[Any, ...]]) -> bool:
    rows = [tuple(row) for row in found]
    return len(rows) == len(expected) and set(rows) == set(expected)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("by", ["triejoin", "substitution", "sql-duckdb"])
def test_all_evaluators_have_its_rows(by: str, case: Case) -> None:
    declared, rules, expected = case
    found = lftj.evaluate(DECLARED + declared + "\n" + rules, FACTS, by=by)
    assert _same(found["v"].fetchall(), expected)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_views_are_followed_and_proved(tmp_path: Path, case: Case) -> None:
    declared, rules, expected = case
    program = DECLARED + declared + "\n" + rules
    for executor in (None, cast("Any", InlineExecutor(tmp_path, 3))):
        with lftj.connect(executor=executor) as workspace:
            workspace.add_rules(program)
            for row in ROWS:
                workspace.load("r", [row])
            workspace.load("s", [(2,), (1,)])
            with workspace.transaction() as tx:
                tx.delete("s", [(1,)])
                tx.insert("r", [(8, 8, 8)])
            with workspace.transaction() as tx:
                tx.delete("r", [(8, 8, 8)])
            assert _same(workspace["v"], expected)
            for row in expected if executor is None else []:
                proof = workspace.explain("v", row)
                lftj.check_proof(proof, FACTS)


def test_a_proof_tells_of_each_aggregate_once() -> None:
    with lftj.connect() as workspace:
        workspace.add_rules(
            ".decl r(g: number, a: number)\n.decl v(g: number, x: number)\n"
            "v(g, if(count() > 1, sum(a) / count(), 0)) :- r(g, a)."
        )
        workspace.load("r", [(1, 2), (1, 4)])
        shown = str(workspace.explain("v", (1, 3)))
        assert shown.count("count() = 2, over 2 assignments") == 1
        assert shown.count("sum(a) = 6, over 2 assignments") == 1
        missing = str(workspace.why_not("v", (1, 4)))
        assert "the value of the group" in missing
        assert "there is v(1, 3)" in missing


def test_python_says_the_same_as_text() -> None:
    with lftj.connect() as workspace:
        r = workspace.relation("r", {"g": int, "a": int})
        v = workspace.view("v", {"g": int, "x": int, "y": int})
        g, a = lftj.vars("g a")
        total = lftj.fn.sum(a)
        more = lftj.fn.if_(lftj.fn.count() > 1, total, 0)
        rule = v(g, total / lftj.fn.count(), more) <= r(g, a)
        workspace.add_rule(rule)
        text = "v(g, sum(a) / count(), if(count() > 1, sum(a), 0)) :- r(g, a)."
        assert [str(each) for each in workspace.rules] == [text]
        assert str(parse(text)) == text + "\n"
        workspace.load(r, [(1, 2), (1, 4), (2, 7)])
        assert workspace[v].fetchall() == [(1, 3, 6), (2, 7, 0)]


REFUSED = {
    "v(g, sum(a) / b) :- p(g, a, b).": ("E131", "`b` stands beside an aggregate"),
    "v(g, sum(a) + max(count())) :- p(g, a, _).": ("E131", "contains another aggregate"),
    "v(g, sum(a) + 1.5) :- p(g, a, _).": ("E130", "expected"),
    "v(g, sum(a) + 1) :- r(g, a, _), !is_null(g).": ("E134", "column `b` of `v` is int"),
    "v(g, sum(a) + 1) :- p(g, a, _), v(a, _).": ("E151", "the aggregates of its head"),
    "v(g, sum(a) + 1) :- p(g, a, _). v(g, sum(a)) :- p(g, a, _).": ("E163", "more than one rule"),
    "v(g, sum(a)) :- p(g, a, _). v(g, sum(a) + 1) :- p(g, a, _).": ("E163", "more than one rule"),
    "v(h, sum(a) + 1) :- p(_, a, _).": ("E140", "`h` in the head of `v`"),
}


@pytest.mark.parametrize("rules", REFUSED)
def test_what_is_no_value_of_a_group_is_refused(rules: str) -> None:
    declared = ".decl p(g: number, a: number, b: number)\n.decl v(a: number, b: number)\n"
    code, text = REFUSED[rules]
    with pytest.raises(lftj.ProgramErrors) as caught, lftj.connect() as workspace:
        workspace.add_rules(DECLARED + declared + rules)
    (error,) = caught.value.errors
    assert error.code == code
    assert text in error.message


def test_a_rule_that_is_gone_leaves_room_for_sums() -> None:
    with lftj.connect() as workspace:
        workspace.add_rules(".decl p(g: number, a: number)\n.decl v(g: number, x: number)")
        rule = workspace.add_rule("v(g, sum(a) + 1) :- p(g, a).")
        workspace.add_rule("v(g, g) :- p(g, _).")
        workspace.remove_rule(rule)
        workspace.add_rule("v(g, sum(a)) :- p(g, a).")
        workspace.load("p", [(1, 2)])
        assert workspace["v"].fetchall() == [(1, 3)]
