"""Functors, and the parts of a rule that ask the rest of it for values, as the text of normal rules
(`:=` is an assignment).
"""

from __future__ import annotations

import pytest

from tests.unit.program.rules import lines, normal

CASES = {
    "functor in a head": (
        'hs(cat(t, "!")) :- s(_, t).',
        """rule1#in1(t, _2) :- s(_0, t), _2 := "!".
        rule1#cat1(x0, x1, cat(x0, x1)) :- rule1#in1(x0, x1).
        hs(_2) :- s(_0, t), rule1#cat1(t, "!", _2).""",
    ),
    "functor of a functor": (
        "h1(strlen(to_string(x))) :- b(x).",
        """rule1#in1(x) :- b(x).
        rule1#to_string1(x0, to_string(x0)) :- rule1#in1(x0).
        rule1#in2(_1) :- rule1#to_string1(x, _1).
        rule1#strlen1(x0, strlen(x0)) :- rule1#in2(x0).
        h1(_2) :- b(x), rule1#to_string1(x, _1), rule1#strlen1(_1, _2).""",
    ),
    "predicate": (
        'h1(n) :- s(n, t), contains("x", t).',
        """rule1#in1(_2, t) :- s(n, t), _2 := "x".
        rule1#contains1(x0, x1) :- rule1#in1(x0, x1), contains(x0, x1).
        h1(n) :- s(n, t), rule1#contains1("x", t).""",
    ),
    "negated predicate": (
        'h1(n) :- s(n, t), !match("x+", t).',
        """rule1#in1(_2, t) :- s(n, t), _2 := "x+".
        rule1#!match1(x0, x1) :- rule1#in1(x0, x1), !match(x0, x1).
        h1(n) :- s(n, t), rule1#!match1("x+", t).""",
    ),
    "one functor twice": (
        "h1(strlen(t)) :- s(_, t), strlen(t) > 2.",
        """rule1#in1(t) :- s(_0, t).
        rule1#strlen1(x0, strlen(x0)) :- rule1#in1(x0).
        h1(_3) :- s(_0, t), rule1#strlen1(t, _2), rule1#strlen1(t, _3), _2 > 2.""",
    ),
    "a functor is asked for what comparisons of its arguments' atoms admit, but for those that may "
        "fail": (
        'hs(cat(t, "!")) :- s(n, t), b(n), n > 3, n * 2 > 8, !h1(n), a(n, _).',
        """rule1#in1(t, _2) :- s(n, t), _2 := "!", n > 3.
        rule1#cat1(x0, x1, cat(x0, x1)) :- rule1#in1(x0, x1).
        hs(_3) :- s(n, t), b(n), a(n, _2), rule1#cat1(t, "!", _3), !h1(n), n > 3, n * 2 > 8.""",
    ),
    "predicates come before functors that may ask less then": (
        'hs(m) :- s(_, t), m = cat(t, "!"), contains("x", t).',
        """rule1#in1(_2, t) :- s(_0, t), _2 := "x".
        rule1#contains1(x0, x1) :- rule1#in1(x0, x1), contains(x0, x1).
        rule1#in2(t, _1) :- rule1#contains1("x", t), _1 := "!".
        rule1#cat1(x0, x1, cat(x0, x1)) :- rule1#in2(x0, x1).
        hs(m) :- s(_0, t), rule1#contains1("x", t), rule1#cat1(t, "!", m).""",
    ),
    "what a functor was asked for is not asked of its result again": (
        "hs(m) :- s(n, t), b(n), m = cat(to_string(n), t).",
        """rule1#in1(n) :- b(n).
        rule1#to_string1(x0, to_string(x0)) :- rule1#in1(x0).
        rule1#in2(_2, t) :- s(n, t), rule1#to_string1(n, _2).
        rule1#cat1(x0, x1, cat(x0, x1)) :- rule1#in2(x0, x1).
        hs(m) :- s(n, t), b(n), rule1#to_string1(n, _2), rule1#cat1(_2, t, m).""",
    ),
    "a functor does not read what its rule derives": (
        'hs(cat(t, "!")) :- s(n, t), hs(t).',
        """rule1#in1(t, _2) :- s(n, t), _2 := "!".
        rule1#cat1(x0, x1, cat(x0, x1)) :- rule1#in1(x0, x1).
        hs(_2) :- s(n, t), hs(t), rule1#cat1(t, "!", _2).""",
    ),
    "comparisons go along into a negation": (
        "h1(x) :- a(x, y), x < y, y < x + 9, !( b(z), x < z, z < y ).",
        """rule1#not1(x, y) :- a(x, y), b(z), x < z, z < y, x < y.
        h1(x) :- a(x, y), !rule1#not1(x, y), x < y, y < x + 9.""",
    ),
    "and into an aggregate, but not what it does not ask about": (
        "h1(n) :- a(x, y), e(y, w), x < y, w > 3, n = count : { b(z), x < z, z < y }.",
        """rule1#count1(x, y, count()) :- a(x, y), b(z), x < y, x < z, z < y.
        h1(n) :- e(y, w), rule1#count1(x, y, n), x < y, w > 3.
        h1(n) :- a(x, y), e(y, w), !rule1#count1(x, y, _), n := 0, x < y, w > 3.""",
    ),
    "what may fail is asked last, of what the rest admits": (
        'h1(k) :- s(n, t), k = to_number(t), match("[0-9]+", t), n > 0, !hs(t).',
        """rule1#in1(_2, t) :- s(n, t), _2 := "[0-9]+", n > 0.
        rule1#match1(x0, x1) :- rule1#in1(x0, x1), match(x0, x1).
        rule1#in2(t) :- s(n, t), rule1#match1("[0-9]+", t), !hs(t), n > 0.
        rule1#to_number1(x0, to_number(x0)) :- rule1#in2(x0).
        h1(k) :- s(n, t), rule1#match1("[0-9]+", t), rule1#to_number1(t, k), !hs(t), n > 0.""",
    ),
    "the negation of a test is the opposite test of what it computes": (
        'hs(t) :- s(_, t), !(strlen(t) > 3), !contains("x", cat(t, t)).',
        """rule1#in1(t) :- s(_0, t).
        rule1#strlen1(x0, strlen(x0)) :- rule1#in1(x0).
        rule1#in2(t, t) :- s(_0, t).
        rule1#cat1(x0, x1, cat(x0, x1)) :- rule1#in2(x0, x1).
        rule1#in3(_2, _1) :- rule1#cat1(t, t, _1), _2 := "x".
        rule1#!contains1(x0, x1) :- rule1#in3(x0, x1), !contains(x0, x1).
        hs(t) :- s(_0, t), rule1#strlen1(t, _2), rule1#cat1(t, t, _3), \
rule1#!contains1("x", _3), _2 <= 3.""",
    ),
    "operators on strings are functors": (
        'hs(t + "!") :- s(_, t), max(t, "m") = t.',
        """rule1#in1(t, _2) :- s(_0, t), _2 := "m".
        rule1#greatest1(x0, x1, greatest(x0, x1)) :- rule1#in1(x0, x1).
        rule1#in2(t, _2) :- s(_0, t), _2 := "!".
        rule1#cat1(x0, x1, cat(x0, x1)) :- rule1#in2(x0, x1).
        hs(_2) :- s(_0, t), rule1#greatest1(t, "m", t), rule1#cat1(t, "!", _2).""",
    ),
    "a range has its ends from what binds them, and one of constants stands alone": (
        "h1(x) :- a(y, z), x = range(y, z + 1), b(range(0, 2)).",
        """rule1#in1(y, _2) :- a(y, z), _2 := z + 1.
        rule1#range1(x0, x1, range(x0, x1)) :- rule1#in1(x0, x1).
        rule1#in2(_0, _1) :- _0 := 0, _1 := 2.
        rule1#range2(x0, x1, range(x0, x1)) :- rule1#in2(x0, x1).
        rule1#part1() :- b(_0), rule1#range2(0, 2, _0).
        h1(x) :- a(y, z), rule1#range1(y, _2, x), rule1#part1(), _2 := z + 1.""",
    ),
    "constants are computed at "
        "once": ('hs(cat("a", to_string(1))) :- b(_). h1(x) :- b(x), contains("b", "abc").',
        'hs(_1) :- b(_0), _1 := "a1".\nh1(x) :- b(x).'),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_becomes(name: str):
    text, expected = CASES[name]
    assert normal(text) == lines(expected)
