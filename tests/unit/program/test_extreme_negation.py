"""Negations that say that a value is the least or the greatest become that aggregate."""

from __future__ import annotations

import pytest

import lftj
from lftj.errors import ProgramErrors
from tests.unit.program.rules import normal

EXTREMES = {
    "the least of a group": (
        "h1(x) :- a(x, y), !( a(x, z), z < y ).",
        ["rule1#not1(x, min(z)) :- a(x, z).", "h1(x) :- a(x, y), rule1#not1(x, y)."],
    ),
    "the greatest of all, written from the right": (
        "h1(x) :- b(x), !( b(y), x < y ).",
        ["rule1#not1(max(y)) :- b(y).", "h1(x) :- b(x), rule1#not1(x)."],
    ),
    "the last one up to a bound": (
        "h2(x, f) :- a(x, d), e(x, f), f <= d, !( e(x, g), g <= d, g > f ).",
        [
            "rule1#in1(x, _2) :- e(x, g), _2 := mirror(g).",
            "rule1#not1(x, d, min(_1)) :- rule1#in1(x, _1), a(x, d), _1 >= mirror(d).",
            "h2(x, f) :- e(x, f), rule1#not1(x, d, _3), f := mirror(_3), f <= d.",
        ],
    ),
    "its bound written from the right": (
        "h2(x, f) :- a(x, d), e(x, f), d >= f, !( e(x, g), g <= d, g > f ).",
        [
            "rule1#in1(x, _2) :- e(x, g), _2 := mirror(g).",
            "rule1#not1(x, d, min(_1)) :- rule1#in1(x, _1), a(x, d), _1 >= mirror(d).",
            "h2(x, f) :- e(x, f), rule1#not1(x, d, _3), f := mirror(_3), d >= f.",
        ],
    ),
    "of what is not in another relation": (
        "h1(x) :- a(x, y), !b(y), !e(x, _), !( a(x, z), y < z, !b(z), !e(x, _) ).",
        [
            "rule1#not1(x, max(z)) :- a(x, z), !b(z), !e(x, _).",
            "h1(x) :- a(x, y), rule1#not1(x, y), !b(y), !e(x, _).",
        ],
    ),
    "among those of two atoms": (
        "h1(x) :- a(x, y), b(y), !( a(x, z), y < z, b(z) ).",
        ["rule1#not1(x, max(z)) :- a(x, z), b(z).", "h1(x) :- a(x, y), b(y), rule1#not1(x, y)."],
    ),
}

OTHERS = {
    "the value need not be one of those": "h1(x) :- a(x, y), !( e(x, z), z < y ).",
    "nor meet what they have to": "h1(x) :- a(x, y), !( a(x, z), z < y, b(z) ).",
    "nor be absent where they have to": "h1(x) :- a(x, y), !b(x), !( a(x, z), z < y, !b(z) ).",
    "a wildcard is none of its own "
    "variables": "h1(x) :- a(x, y), !e(y, _), !( a(x, z), z < y, !( e(z, w), w > 3 ) ).",
    "nor their comparisons": "h1(x) :- a(x, y), !( a(x, z), z < y, z > 3 ).",
    "those equal to it count too": "h1(x) :- a(x, y), !( a(x, z), z <= y ).",
    "the group has other values in it": "h1(x) :- a(x, y), a(y, w), !( a(w, z), z < y ).",
    "texts": "h1(x) :- s(x, t), !( s(x, u), u < t ).",
    "arithmetic that may fail is asked of the same "
    "values": "h1(x) :- a(x, y), y * y < 9, !( a(x, z), z * z < 9, z < y ).",
}


@pytest.mark.parametrize("name", EXTREMES)
def test_a_negation_that_is_an_extreme_is_one(name: str):
    text, expected = EXTREMES[name]
    assert normal(text) == expected


@pytest.mark.parametrize("name", OTHERS)
def test_other_negations_stay_what_they_are(name: str):
    assert any("!rule1#not1" in line for line in normal(OTHERS[name]))


@pytest.mark.parametrize("together", [True, False])
def test_a_cycle_through_one_is_told_as_a_negation(together: bool):
    below = (
        ".decl q(x: number, d: number)\n.decl p(x: number, d: number)\n.decl r(x: number, d: "
        "number)\np(x, d) :- q(x, d).\n"
    )
    below += "r(x, d) :- p(x, d), !( p(x, g), g < d ).\n"
    closing = "p(x, d + 1) :- r(x, d), d < 5.\n"
    workspace = lftj.connect()
    if not together:
        workspace.add_rules(below)
    with pytest.raises(ProgramErrors, match=r"E150.*negation inside a cycle.*`!\( … \)`"):
        workspace.add_rules(below + closing if together else closing)
