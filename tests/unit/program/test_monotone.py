"""Permitted uses of a least or greatest value in a cycle."""

from __future__ import annotations

import pytest

from lftj.program.monotone import Lattice, lattices
from tests.unit.program.rules import problems, program

SEED = "h2(x, min(y)) :- a(x, y). "

ALLOWED = [
    "h2(x, min(d)) :- h2(y, d), a(y, x).",
    "h2(x, min(d + y)) :- h2(y, d), a(y, x).",
    "h2(x, min(y + d - x)) :- h2(y, d), a(y, x).",
    "h2(x, min(3 * d)) :- h2(y, d), a(y, x).",
    "h2(x, min(d / 2)) :- h2(y, d), a(y, x).",
    "h2(x, min(-1 * (0 - d))) :- h2(y, d), a(y, x).",
    "h2(x, min(-(-d))) :- h2(y, d), a(y, x).",
    "h2(x, min(max(d, min(y, d + 1)))) :- h2(y, d), a(y, x).",
    "h2(x, min(d + e)) :- h2(y, d), h2(x, e), a(y, x).",
    "h2(x, min(e)) :- h2(y, d), a(y, x), e = d + 1, e < y, x >= d, !b(y).",
    "h2(x, min(y)) :- h2(y, _), a(y, x).",
    "h2(x, min(y)) :- h1(y), a(y, x). h1(y) :- h2(y, d), d < 3.",
    "h2(x, min(d)) :- hf(y, v), a(y, x), h2(x, d). hf(x, max(w)) :- h2(x, d), hf(y, w), a(x, y).",
    "h2(x, min(d)) :- hf(x, v), v > 1.0, h2(x, d). hf(x, max(1.0 - to_float(d))) :- h2(x, d).",
    "h2(x, min(d)) :- h2(y, d), a(y, x) ; a(x, d), h2(x, _).",
]

REFUSED = {
    "h2(x, min(-d)) :- h2(y, d), a(y, x).": "the `min` of `h2`, turned round on the way",
    "h2(x, min(y - d)) :- h2(y, d), a(y, x).": "the `min` of `h2`, turned round on the way",
    "h2(x, min(d * -2)) :- h2(y, d), a(y, x).": "the `min` of `h2`, turned round on the way",
    "h2(x, min(d * y)) :- h2(y, d), a(y, x).": "an argument of `*`",
    "h2(x, min(d * d)) :- h2(y, d), a(y, x).": "an argument of `*`",
    "h2(x, min(d / 0)) :- h2(y, d), a(y, x).": "an argument of `/`",
    "h2(x, min(y / d)) :- h2(y, d), a(y, x).": "an argument of `/`",
    "h2(x, min(d - d)) :- h2(y, d), a(y, x).": "an argument of `-`",
    "h2(x, min(d band 1)) :- h2(y, d), a(y, x).": "an argument of `band`",
    "h2(x, min(y)) :- h2(y, d), a(y, x), d % 2 < 1.": "an argument of `%`",
    "h2(x, min(d)) :- h2(y, d), a(y, x), d > 3.": "a comparison by `>`",
    "h2(x, min(d)) :- h2(y, d), a(y, x), 3 < d + 1.": "a comparison by `<`",
    "h2(x, min(d)) :- h2(y, d), a(y, x), h2(x, e), d < e.": "a comparison by `<`",
    "h2(x, min(d)) :- h2(y, d), a(y, x), d != y.": "a comparison by `!=`",
    "h2(x, min(d)) :- h2(y, d), a(y, x), d = y + 1.": "an equation with another value",
    "h2(x, min(x)) :- h2(y, d), a(y, x), e = d + 1, b(e).": "an equation with another value",
    "h2(x, min(d)) :- h2(y, d), a(d, x).": "a join with another column",
    "h2(x, min(x)) :- h2(x, x).": "a join with another column",
    "h2(x, min(x)) :- h2(x, 3).": "an equation with a constant",
    "h2(x, min(d)) :- h2(x, d), !b(d).": "a negation",
    "h2(d, min(d)) :- h2(x, d).": "column 1 of `h2`",
    "h2(d + 1, min(d)) :- h2(x, d).": "column 1 of `h2`",
    "h2(x, min(y)) :- h1(y), a(y, x). h1(d) :- h2(y, d).": "column 1 of `h1`",
    "h2(x, min(1)) :- hf(x, _). hf(x, max(to_float(d))) :- h2(x, d).": "the `max` of `hf`, before",
    "h2(x, min(1)) :- hf(x, v), v < 1.0. hf(x, max(-to_float(d))) :- h2(x, "
    "d).": "a comparison by `<`",
}


@pytest.mark.parametrize("text", ALLOWED)
def test_a_cycle_may(text: str):
    assert program(SEED + text).stratified.strata[-1].recursive


@pytest.mark.parametrize("text", REFUSED)
def test_a_cycle_may_not(text: str):
    errors = problems(SEED + text)
    assert {error.code for error in errors} == {"E151"}
    assert any(REFUSED[text] in error.message for error in errors)
    assert all(error.span is not None and error.hint for error in errors)
    assert not any("#" in error.message for error in errors)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("h2(x, max(y)) :- h2(x, y).", "E163"),
        ("h2(min(y), x) :- h2(x, y).", "E163"),
        ("h2(x, y) :- h2(y, x).", "E163"),
        ("h2(1, 2).", "E163"),
        ("h2(x, sum(y)) :- a(x, y).", "E163"),
        ("h2(x, min(y)) :- b(x), y = count : { h2(_, _) }.", "E151"),
        ("h2(x, min(y)) :- a(x, y), !h2(y, x).", "E150"),
        ("h2(x, min(y)) :- a(x, y), y = strlen(t), hs(t). hs(to_string(d)) :- h2(_, d).", "E152"),
    ],
)
def test_what_else_is_refused(text: str, code: str):
    assert code in [error.code for error in problems(SEED + text)]


def test_the_column_and_function_of_a_lattice():
    assert lattices(
        program(SEED + "h2(x, min(d)) :- h1(x), h2(x, d). h1(x) :- h2(x, _).").rules
    ) == {"h2": Lattice(1, "min")}


def test_several_rules_with_one_extreme_need_no_cycle():
    (stratum,) = program(SEED + "h2(x, min(x)) :- b(x).").stratified.strata
    assert (stratum.relations, len(stratum.rules)) == (("h2",), 2)
