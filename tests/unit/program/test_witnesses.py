"""Witnesses of `min` and `max`: which rule takes the place of one that has some."""

from __future__ import annotations

import pytest

import lftj
from lftj.errors import ProgramErrors
from lftj.program.checks.witnesses import with_witnesses_bound
from lftj.syntax import tree
from lftj.syntax.parser import parse


def rule_of(text: str) -> tree.Rule:
    (rule,) = parse(text).clauses
    assert isinstance(rule, tree.Rule)
    return rule


BOUND = {
    "v(a, m) :- m = max y : { e(a, y) }.": "v(a, m) :- m = max y : { e(a_1, y) }, e(a, m).",
    "v(a) :- 3 = min y : { e(a, y) }.": (
        "v(a) :- 3 = best_1, e(a, best_1), best_1 = min y : { e(a_1, y) }."
    ),
    "v(a) :- m = max y + z : { e(a, y), r(z) }, r(m).": (
        "v(a) :- m = max (y + z) : { e(a_1, y), r(z) }, r(m), m = y_1 + z_1, e(a, y_1), r(z_1)."
    ),
    "v(a, a_1) :- a_1 = max y : { e(a, y) }.": (
        "v(a, a_1) :- a_1 = max y : { e(a_2, y) }, e(a, a_1)."
    ),
    "v(a) :- ( m = max y : { e(a, y) } ; r(m), m < a, r(a) ).": (
        "v(a) :- m = max y : { e(a_1, y) }, e(a, m) ; r(m), m < a, r(a)."
    ),
}
SAME = [
    "v(a, m) :- r(a), m = max y : { e(a, y) }.",
    "v(m, m) :- m = max y : { e(_, y) }, r(m).",
    "v(a, m) :- a = 1, m = max y : { e(a, y) }.",
    "v(m, 1) :- m = max y : { e(a, y), r(a) }.",
]
UNSAFE = [
    "v(a, m) :- m = sum y : { e(a, y) }.",
    "v(a, m) :- k = count : { e(a, _) }, m = max y : { e(a, y) }, k < m.",
    "v(a, m) :- m = max y : { e(_, y), y < a }.",
    "v(a, count()) :- m = max y : { e(a, y) }, r(m).",
]
DECLARED = ".decl e(x: number, y: number)\n.decl r(x: number)\n.decl v(x: number, y: number)\n"


@pytest.mark.parametrize("text", BOUND)
def test_what_is_in_the_braces_is_said_again(text: str) -> None:
    found = with_witnesses_bound(rule_of(text))
    assert str(found) == BOUND[text]
    assert with_witnesses_bound(found) == found


@pytest.mark.parametrize("text", SAME)
def test_rules_without_witnesses_are_left_alone(text: str) -> None:
    rule = rule_of(text)
    assert with_witnesses_bound(rule) is rule


@pytest.mark.parametrize("text", UNSAFE)
def test_what_has_no_witness_is_unsafe(text: str) -> None:
    with pytest.raises(ProgramErrors) as caught:
        lftj.connect().add_rules(DECLARED + text)
    assert "E14" in str(caught.value)
    assert "`a`" in str(caught.value)


def test_a_witness_is_explained() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + "v(a, m) :- m = max y : { e(a, y) }.")
    workspace.load("e", [(1, 4), (2, 4), (3, 1)])
    assert sorted(workspace["v"]) == [(1, 4), (2, 4)]
    proof = workspace.explain("v", (2, 4))
    assert "e(2, 4)" in str(proof)
    workspace.load("e", [(3, 5)])
    assert list(workspace["v"]) == [(3, 5)]
