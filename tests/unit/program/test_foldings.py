"""Bodies without the atoms that their other atoms imply: by hand, and random ones, whose rows are
those of the whole body.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

import lftj
from lftj.program.rewrites.foldings import Said, core
from lftj.syntax.parser import parse
from tests.reference import evaluate
from tests.unit.program.rules import DECLARATIONS, normal

CASES = {
    "an atom twice": ("h2(x, y) :- e(x, y), e(x, y).", "h2(x, y) :- e(x, y)."),
    "a column that nothing reads": ("h2(x, y) :- e(x, _), e(x, y).", "h2(x, y) :- e(x, y)."),
    "onto a constant": ("h1(x) :- e(x, z), e(x, 3).", "h1(x) :- e(x, 3)."),
    "a square": (
        "h2(x, w) :- e(x, y), e(x, z), e(y, w), e(z, w).",
        "h2(x, w) :- e(x, z), e(z, w).",
    ),
    "an arm, as a whole": (
        "h2(x, w) :- e(x, a), e(a, b), e(b, c), e(x, y), e(y, z), e(z, w).",
        "h2(x, w) :- e(x, y), e(y, z), e(z, w).",
    ),
    "there and back": ("h1(x) :- e(x, y), e(z, y), e(z, w).", "h1(x) :- e(x, y)."),
    "what a test reads stays": (
        "h2(x, y) :- e(x, y), e(x, z), z > 3.",
        "h2(x, y) :- e(x, y), e(x, z), z > 3.",
    ),
    "what a negated atom reads stays": (
        "h2(x, y) :- e(x, y), e(x, z), !b(z).",
        "h2(x, y) :- e(x, y), e(x, z), !b(z).",
    ),
    "what a negated atom reads stays, also where it says what one says": (
        "h2(x, y) :- e(x, y), e(x, z), !e(x, z).",
        "h2(x, y) :- e(x, y), e(x, z), !e(x, z).",
    ),
    "other relations stay": ("h2(x, y) :- e(x, y), a(x, y).", "h2(x, y) :- e(x, y), a(x, y)."),
    "a triangle stays": (
        "h1(x) :- e(x, y), e(y, z), e(z, x).",
        "h1(x) :- e(x, y), e(y, z), e(z, x).",
    ),
    "assignments that are counted stay": (
        "h2(x, count()) :- e(x, y), e(x, z).",
        "h2(x, count()) :- e(x, y), e(x, z).",
    ),
    "where assignments do not count they go": (
        "h2(x, max(y)) :- e(x, y), e(x, z), e(u, z).",
        "h2(x, max(y)) :- e(x, y).",
    ),
    "what is aggregated stays": (
        "h2(x, min(z)) :- e(x, y), e(x, z), a(z, _).",
        "h2(x, min(z)) :- e(x, z), a(z, _2).",
    ),
    "NULL may stand where nothing meets": ("hn(x, y) :- n(x, y), n(x, _).", "hn(x, y) :- n(x, y)."),
}


@pytest.mark.parametrize("name", CASES)
def test_cores(name: str):
    text, expected = CASES[name]
    assert normal(text)[-1] == expected


def test_a_value_that_two_atoms_share_is_never_null_with_one_of_them_left():
    workspace = lftj.connect()
    workspace.add_rules(DECLARATIONS + "hn(x, 1) :- n(x, y), n(z, y).")
    workspace.load("n", [(1, None), (2, 5)])
    assert workspace["hn"].fetchall() == [(2, 1)]


def _maps(atoms: set[Said], onto: set[Said], free: set[str]) -> bool:
    """Tell whether the atoms become some of others, by trying all ways."""
    terms = sorted({term for atom in onto for term in atom.terms}, key=str)
    for ways in product(terms, repeat=len(free)):
        moved = dict(zip(sorted(free), ways, strict=True))
        if {Said(r, tuple(moved.get(t, t) for t in ts)) for r, ts in atoms} <= onto:  # type: ignore[arg-type]
            return True
    return False


@pytest.mark.parametrize("seed", range(60))
def test_a_core_is_equivalent_and_has_no_core_of_its_own(seed: int):
    rnd = random.Random(seed)
    names = ["a", "b", "c", "d"][: rnd.randint(2, 4)]
    terms = [*names, "x", "1"]
    atoms = {
        Said(rnd.choice("ef"), (rnd.choice(terms), rnd.choice(terms)))
        for _ in range(rnd.randint(2, 6))
    }
    free = {term for atom in atoms for term in atom.terms} & set(names)
    left = core(atoms, [], free)
    assert left <= atoms
    assert _maps(atoms, left, free)  # type: ignore[arg-type]
    assert not any(_maps(left, left - {each}, free) for each in left)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(24))
def test_rows_are_those_of_the_body_as_it_was_written(seed: int):
    rnd = random.Random(f"rows {seed}")
    names = ["x", "y", *"abcde"]
    body = [f"e({rnd.choice(names)}, {rnd.choice(names)})" for _ in range(rnd.randint(3, 6))]
    if seed % 2:
        body.append("!" + rnd.choice(body))
    body += ["e(x, _)", "e(_, y)"]
    edges = [(rnd.randrange(5), rnd.randrange(5)) for _ in range(9)]
    rule = f"{DECLARATIONS}h2(x, y) :- {', '.join(body)}."
    found = lftj.evaluate(rule, {"e": edges})["h2"].fetchall()
    assert set(found) == evaluate(parse(rule), {"e": set(edges)})["h2"]
