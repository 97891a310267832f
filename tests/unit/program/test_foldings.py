"""Bodies without the atoms that their other atoms imply: by hand, and random ones, whose rows are
those of the whole body.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

import lftj
from lftj.program.program import Program
from lftj.program.rewrites.foldings import Said, core
from lftj.syntax.parser import parse
from tests.reference import evaluate
from tests.unit.program.listing import list_rule

DECLARED = """
.decl e(x: number, y: number)  .decl f(x: number, y: number)  .decl g(x: number)
.decl m(x: number, y: number?)
.decl h(x: number, y: number)  .decl p(x: number)  .decl o(x: number, y: number?)
.decl n(x: number, n: number)
"""


def normal(rule: str) -> list[str]:
    program, _ = Program().add(parse(DECLARED + rule))
    return [list_rule(each) for each in program.rules]


CASES = {
    "an atom twice": ("h(x, y) :- e(x, y), e(x, y).", "h(x, y) :- e(x, y)."),
    "a column that nothing reads": ("h(x, y) :- e(x, _), e(x, y).", "h(x, y) :- e(x, y)."),
    "onto a constant": ("p(x) :- e(x, z), e(x, 3).", "p(x) :- e(x, 3)."),
    "a square": (
        "h(x, w) :- e(x, y), e(x, z), e(y, w), e(z, w).",
        "h(x, w) :- e(x, z), e(z, w).",
    ),
    "an arm, as a whole": (
        "h(x, w) :- e(x, a), e(a, b), e(b, c), e(x, y), e(y, z), e(z, w).",
        "h(x, w) :- e(x, y), e(y, z), e(z, w).",
    ),
    "there and back": ("p(x) :- e(x, y), e(z, y), e(z, w).", "p(x) :- e(x, y)."),
    "what a test reads stays": (
        "h(x, y) :- e(x, y), e(x, z), z > 3.",
        "h(x, y) :- e(x, y), e(x, z), z > 3.",
    ),
    "what a negated atom reads stays": (
        "h(x, y) :- e(x, y), e(x, z), !g(z).",
        "h(x, y) :- e(x, y), e(x, z), !g(z).",
    ),
    "other relations stay": ("h(x, y) :- e(x, y), f(x, y).", "h(x, y) :- e(x, y), f(x, y)."),
    "a triangle stays": (
        "p(x) :- e(x, y), e(y, z), e(z, x).",
        "p(x) :- e(x, y), e(y, z), e(z, x).",
    ),
    "assignments that are counted stay": (
        "n(x, count()) :- e(x, y), e(x, z).",
        "n(x, count()) :- e(x, y), e(x, z).",
    ),
    "NULL may stand where nothing meets": ("o(x, y) :- m(x, y), m(x, _).", "o(x, y) :- m(x, y)."),
}


@pytest.mark.parametrize("name", CASES)
def test_cores(name: str):
    text, expected = CASES[name]
    assert normal(text)[-1] == expected


def test_a_value_that_two_atoms_share_is_never_null_with_one_of_them_left():
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + "o(x, 1) :- m(x, y), m(z, y).")
    workspace.load("m", [(1, None), (2, 5)])
    assert workspace["o"].fetchall() == [(2, 1)]


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


@pytest.mark.parametrize("seed", range(12))
def test_rows_are_those_of_the_body_as_it_was_written(seed: int):
    rnd = random.Random(f"rows {seed}")
    names = ["x", "y", *"abcde"]
    body = [f"e({rnd.choice(names)}, {rnd.choice(names)})" for _ in range(rnd.randint(3, 6))]
    body += ["e(x, _)", "e(_, y)"]
    edges = [(rnd.randrange(5), rnd.randrange(5)) for _ in range(9)]
    rule = f"{DECLARED}h(x, y) :- {', '.join(body)}."
    found = lftj.evaluate(rule, {"e": edges})["h"].fetchall()
    assert set(found) == evaluate(parse(rule), {"e": set(edges)})["h"]
