"""Fixpoints of every shape beside the naive reference: those that fall apart into parts and those
that do not, over values of all kinds.
"""

from __future__ import annotations

import random

import pytest

from tests.unit.recursion.programs import Row, expected, views

VALUES = {
    "small": list(range(9)),
    "negative": [-4, -3, -1, 0, 1, 2, 5, 8, 9],
    "far apart": [-(2**62), -70_000, -1, 0, 1, 3, 10**6, 2**40, 2**61],
    "strings": ["", "a", "b", "ab", "ba", "é", "zz", "10", "9"],
    "floats": [-1.5, -0.25, 0.0, 0.1, 1.0, 2.5, 1e9, 1e-9, 3e300],
}
TYPES = {"strings": "string", "floats": "float"}

DECLARATIONS = """
.type V <: {type}
.decl e(x: V, y: V)
.decl f(x: V, y: V, z: V)
.decl n(x: V)
.decl t(x: V, y: V)
.decl t1(x: V)
.decl t3(x: V, y: V, z: V)
.decl u(x: V, y: V)
"""

DECOMPOSABLE = {
    "closure": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z).",
    "mirrored": "t(x, y) :- e(x, y). t(x, z) :- e(x, y), t(y, z).",
    "backwards": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(z, y).",
    "only base rows": "t(x, z) :- t(x, y), e(y, z).",
    "two seeds": "t(x, x) :- n(x). t(x, y) :- e(y, x), !n(x). t(x, z) :- t(x, y), e(y, z).",
    "two kinds of steps": "t(x, x) :- n(x). t(x, z) :- t(x, y), e(y, z). t(x, z) :- t(x, y), f(z, "
    "_, y).",
    "one column": "t1(x) :- n(x). t1(y) :- t1(x), e(x, y).",
    "middle column": "t3(x, y, z) :- f(x, y, z). t3(x, w, z) :- t3(x, y, z), e(y, w).",
    "first of three": "t3(x, y, z) :- f(x, y, z). t3(w, y, z) :- t3(x, y, z), e(x, w).",
    "two kept": "t3(x, y, z) :- f(x, y, z). t3(x, y, w) :- t3(x, y, z), e(z, w).",
    "filtered steps": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), f(y, w, z), e(z, w), !n(w), y != z.",
    "compared steps": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z), y < z.",
}
GENERIC = {
    "non-linear": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), t(y, z).",
    "left and right": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z). t(x, z) :- e(x, y), t(y, "
    "z).",
    "filter on the part": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z), x != z.",
    "steps of the part": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), f(x, y, z).",
    "swapped": "t(x, y) :- e(x, y). t(y, x) :- t(x, y), n(x).",
    "from a loop": "t(x, y) :- e(x, y). t(x, z) :- t(x, x), e(x, z). t(x, x) :- t(x, y), e(y, x).",
    "two steps at once": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, w), e(w, z).",
    "mutual": "t(x, y) :- e(x, y). u(x, z) :- t(x, y), e(y, z). t(x, z) :- u(x, y), e(y, z). t1(y) "
    ":- u(_, y).",
    "mutual, many to one": "u(x, y) :- e(x, y), n(x). t(x, y) :- u(y, x). u(x, y) :- t(x, z), u(z, "
    "y). u(x, x) :- t(x, _), n(x).",
    "same generation": "t(x, x) :- n(x). t(x, y) :- e(p, x), t(p, q), e(q, y).",
    "triangles of what is new": "t(x, y) :- e(x, y). t(x, z) :- t(x, y), t(y, z), t(z, x).",
    "wide": "t3(x, y, z) :- f(x, y, z). t3(x, y, w) :- t3(x, y, z), t3(y, z, w).",
    "projection": "t1(x) :- n(x). t1(y) :- t(x, y), t1(x). t(x, z) :- e(x, y), t1(y), e(y, z).",
}
PROGRAMS = DECOMPOSABLE | GENERIC


def facts(values: list, rows: int, by: random.Random) -> dict[str, set[Row]]:
    """Random rows for base relations, and a few for views, which then have base rows too."""
    widths = {"e": (2, rows), "f": (3, rows), "n": (1, 3), "t": (2, 2), "t1": (1, 1), "t3": (3, 2)}
    return {
        name: {tuple(by.choice(values) for _ in range(width)) for _ in range(count)}
        for name, (width, count) in widths.items()
    }


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_are_those_of_the_reference(name: str, kind: str):
    text = DECLARATIONS.format(type=TYPES.get(kind, "number")) + PROGRAMS[name]
    if kind == "strings" and "<" in PROGRAMS[name]:
        text = text.replace("y < z", "y != z")
    for rows in (4, 14):
        given = facts(VALUES[kind], rows, random.Random(f"{name} {kind} {rows}"))
        assert views(text, given) == expected(text, given)


@pytest.mark.parametrize("name", PROGRAMS)
def test_empty_relations(name: str):
    text = DECLARATIONS.format(type="number") + PROGRAMS[name]
    given = facts(VALUES["small"], 8, random.Random(name))
    for missing in given:
        some = {**given, missing: set()}
        assert views(text, some) == expected(text, some)


def test_a_step_that_is_never_taken_may_not_fail():
    text = (
        DECLARATIONS.format(type="number")
        + "t(x, y) :- e(x, y). t(x, z) :- t(x, y), f(y, w, z), 10 / w > 1."
    )
    given = {"e": {(1, 2)}, "f": {(2, 4, 3), (7, 0, 1)}}
    assert views(text, given)["t"] == {(1, 2), (1, 3)}
