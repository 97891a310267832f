"""Bound variables, and the errors for all others."""

from __future__ import annotations

import pytest

from lftj.program.checks.safety import unsafe_variables
from lftj.program.scope import rename_apart
from tests.unit.program.rules import rule

SAFE = [
    "h(x) :- a(x).",
    "h(y) :- a(x), y = x + 1.",
    "h(y) :- a(x), x + 1 = y.",
    "h(z) :- z = y + 1, y = x * 2, a(x).",
    "h(x) :- x = 3.",
    "h(y) :- a(x), y = x.",
    "h(x) :- a(x) ; b(x).",
    "h(x) :- a(y), (x = y ; b(x, y)).",
    "h(x) :- (a(y) ; b(y)), x = y.",
    "h(x) :- a(x), !b(x, _).",
    "h(x) :- a(x), !( b(y), y > x ).",
    "h(x) :- a(x), !( y = x + 1, b(y) ).",
    "h(n) :- n = count : { a(_) }.",
    "h(n) :- a(x), n = count : { b(y), y > x }.",
    "h(n) :- a(x), n = sum y + x : { b(y) }.",
    "h(m) :- n = count : { a(_) }, m = n + 1.",
    "h(x, sum(y)) :- a(x, y).",
    "h(x) :- a(x), x < count : { b(_) }.",
    "h(x) :- a(x), b(x + 1).",
    'h(cat(x, "a")) :- a(x).',
    'h(x) :- a(x), contains("a", cat(x, x)).',
    "h(y) :- a(x), (y = x ; y = count : { b(x) }).",
]

UNSAFE = [
    ("h(x) :- true.", "E140", "x", "head"),
    ("h(x, y) :- a(x).", "E140", "y", "head"),
    ("h(x + y) :- a(x).", "E140", "y", "head"),
    ("h(x, sum(y)) :- a(x).", "E140", "y", "head"),
    ("h(x) :- a(x) ; b(y).", "E140", "x", "head"),
    ("h(x) :- a(x), !b(y).", "E141", "y", "negation of `b`"),
    ("h(x) :- a(x), !b(x + y).", "E141", "y", "negation of `b`"),
    ("h(x) :- a(x), y < x.", "E142", "y", "comparison"),
    ("h(x) :- a(x), x = y + z, b(y).", "E142", "z", "comparison"),
    ("h(x) :- a(x), !( b(y), z > y ).", "E142", "z", "comparison"),
    ("h(x) :- a(x), b(x + y).", "E142", "y", "expression in `b`"),
    ("h(x) :- a(x), contains(y, x).", "E142", "y", "`contains`"),
    ("h(x) :- a(x), 3 < sum y : { b(_) }.", "E143", "y", "target of `sum`"),
    ("h(x) :- a(x), 3 < count : { b(y), z < y }.", "E142", "z", "comparison"),
    ("h(x) :- a(x), (b(x) ; y < x).", "E142", "y", "comparison"),
    ("h(x, count()) :- a(x), (b(x, y) ; y = y + 1).", "E142", "y", "comparison"),
    ("h(x) :- a(x), !( !b(y) ).", "E141", "y", "negation of `b`"),
]


@pytest.mark.parametrize("text", SAFE)
def test_is_safe(text: str):
    assert unsafe_variables(rename_apart(rule(text))) == []


@pytest.mark.parametrize(("text", "code", "name", "where"), UNSAFE)
def test_is_not_safe(text: str, code: str, name: str, where: str):
    (error,) = unsafe_variables(rename_apart(rule(text)))
    assert error.code == code
    assert f"variable `{name}`" in error.message
    assert where in error.message
    assert error.span is not None
    assert error.hint


def test_the_place_is_the_variable():
    (error,) = unsafe_variables(rule("h(x, y) :- a(x)."))
    assert error.span is not None
    assert (error.span.line, error.span.column, error.span.end_column) == (1, 6, 7)


def test_a_variable_is_reported_once_and_only_the_cause():
    errors = unsafe_variables(rule("h(x, n) :- n = m + 1, m = x + 1, n < 7, a(z)."))
    assert [error.message.split("`")[1] for error in errors] == ["x"]


def test_a_circle_of_equations_is_reported_as_a_whole():
    errors = unsafe_variables(rule("h(x) :- x = y + 1, y = x - 1."))
    assert sorted(error.message.split("`")[1] for error in errors) == ["x", "y"]


def test_several_variables_in_the_order_of_the_text():
    errors = unsafe_variables(rule("h(u) :- a(x), v < 3, !b(w)."))
    assert [error.code for error in errors] == ["E140", "E142", "E141"]
