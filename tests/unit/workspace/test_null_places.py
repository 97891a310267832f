# SPDX-License-Identifier: Apache-2.0
"""Places where a column that may be NULL meets a constant, or a negated atom that asks for some of
its columns only.
"""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

import lftj

DAY = datetime.date(2020, 1, 2)


@pytest.mark.parametrize(
    ("type", "value", "written"),
    [
        ("symbol", "q", '"q"'),
        ("float", 2.5, "2.5"),
        ("date", DAY, 'date("2020-01-02")'),
        ("decimal(10,2)", Decimal("2.50"), 'decimal("2.50")'),
        ("bool", True, "true"),
        ("number", 5, "5"),
    ],
)
@pytest.mark.parametrize("mark", ["", "?"])
def test_a_constant_finds_the_rows_of_small_commits(
    type: str, value: object, written: str, mark: str
) -> None:
    """Views are found by the values that came, texts by what they say."""
    ws = lftj.connect()
    ws.add_rules(
        f".decl c(x: number, y: {type}{mark})\n"
        f".decl with(x: number)\nwith(x) :- c(x, {written}).\n"
        f".decl less(x: number)\nless(x) :- c(x, _), !c(x, {written}).\n"
        f".decl many(n: number)\nmany(count()) :- c(_, {written})."
    )
    ws.load("c", [(1, value)])
    with ws.transaction() as tx:
        tx.insert("c", [(6, value), *([(8, None)] if mark else [])])
    with ws.transaction() as tx:
        tx.insert("c", [(7, value)])
        tx.delete("c", [(1, value)])
    assert sorted(ws["with"].fetchall()) == [(6,), (7,)]
    assert ws["less"].fetchall() == ([(8,)] if mark else [])
    assert ws["many"].fetchall() == [(2,)]


@pytest.mark.parametrize("negated", ["b(y, _)", "e(y, _)", "a(y, _)", "a(_, y)", "w(_, y, _)"])
def test_a_negated_atom_asks_for_some_columns_only(negated: str) -> None:
    """`!e(y, _)` holds where y is NULL, and where no row has it."""
    program = f"""
        .decl a(c0: number?, c1: number?)
        .decl b(c0: number, c1: number?)
        .decl e(c0: number, c1: number)
        .decl w(c0: number?, c1: number, c2: symbol?)
        .decl v(x: number, y: number?)
        v(x, y) :- b(x, y), !{negated}.
        .decl n(n: number)
        n(count()) :- b(_, y), !{negated}.
    """
    history = [
        {"insert": {"b": [(1, None), (2, 2), (3, 4)], "e": [(2, 0)], "a": [(None, 2), (2, None)]}},
        {"insert": {"b": [(4, 4)], "w": [(None, 4, None)], "a": [(4, 4)]}},
        {"delete": {"a": [(2, None)], "e": [(2, 0)]}, "insert": {"w": [(1, 2, "x")]}},
        {"delete": {"w": [(None, 4, None)]}},
    ]
    assert lftj.compare(program, history) is None


EXTREMES = """
    .decl e(x: number, y: number, c: number?)
    .decl s(x: number, c: number?)
    .decl d(x: number, c: number?)
    d(x, {function}({value})) :- s(x, c).
    d(y, {function}({again})) :- {body}.
"""
NEVER = [("min", "a", "d(x, a), e(x, y, c)"), ("min", "a", "e(_, y, a)")]


@pytest.mark.parametrize(("function", "again", "body"), NEVER, ids=["cycle", "two rules"])
def test_the_least_of_what_may_be_null_is_of_one_rule(function: str, again: str, body: str) -> None:
    """NULL has the least code, so it would win where values come one by one."""
    text = EXTREMES.format(function=function, value="c", again=again, body=body)
    with pytest.raises(lftj.ProgramErrors, match="E134") as caught:
        lftj.connect().add_rules(text)
    assert "!is_null" in str(caught.value)


@pytest.mark.parametrize("body", ["d(x, a), e(x, y, c)", "e(_, y, a)"], ids=["cycle", "two rules"])
def test_the_greatest_of_what_may_be_null_is_of_several_rules(body: str) -> None:
    """NULL is below all values, and stays where a group has nothing else."""
    text = EXTREMES.format(function="max", value="c", again="a", body=body)
    history = [
        {"insert": {"s": [(1, None), (2, 3), (2, None)], "e": [(1, 3, None), (2, 3, 1)]}},
        {"insert": {"e": [(2, 1, 0), (3, 4, None)]}},
        {"delete": {"s": [(2, 3)]}},
        {"delete": {"e": [(2, 3, 1)]}, "insert": {"s": [(1, 7)]}},
    ]
    assert lftj.compare(text, history) is None


@pytest.mark.parametrize("question", ["u(a, NULL)", "u(a, e), e = NULL", "u(a, None)"])
def test_a_word_of_null_is_no_variable(question: str) -> None:
    """It would take any value, and in a comparison the values that are there."""
    ws = lftj.connect()
    ws.relation("u", {"a": int, "e": str | None})
    with pytest.raises(lftj.LftjError, match="is_null"):
        ws.query(question)
    with pytest.raises(lftj.NullValueError, match="is_null"):
        ws.query("u(a, ?)", None)
