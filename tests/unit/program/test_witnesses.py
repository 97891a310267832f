"""Witnesses of `min` and `max`: which rule takes the place of one that has some."""

from __future__ import annotations

import pytest

import lftj
from lftj.errors import ProgramErrors
from lftj.program.checks.own_variables import with_own_variables
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


OWN = {
    "v(m, 1) :- m = max y : { e(_, m), y = m }.": "v(m, 1) :- m = max y : { e(_, m_1), y = m_1 }.",
    "v(m, 1) :- m = count : { e(m, _) }.": "v(m, 1) :- m = count : { e(m_1, _) }.",
    "v(x, m) :- x = m + 1, m = sum y : { e(x, y) }.": (
        "v(x, m) :- x = m + 1, m = sum y : { e(x_1, y) }."
    ),
    "v(a, m) :- r(a), m = sum y : { e(a, y), e(_, m) }.": (
        "v(a, m) :- r(a), m = sum y : { e(a, y), e(_, m_1) }."
    ),
    "v(m, 1) :- !( m = count : { e(m, _) }, r(m_1) ), r(m).": None,
    "v(1, 1) :- r(a) ; m = count : { e(m, _) }, r(1).": (
        "v(1, 1) :- r(a) ; m = count : { e(m_1, _) }, r(1)."
    ),
    "v(n, 1) :- n = count : { e(x, _), m = min y : { e(m, y) }, x < m }.": (
        "v(n, 1) :- n = count : { e(x, _), m = min y : { e(m_1, y) }, x < m }."
    ),
    # what something else binds, what nothing binds, and what the braces do not bind
    "v(m, 1) :- r(m), m = count : { e(m, _) }.": None,
    "v(m, k) :- m = count : { e(k, _) }, k = count : { e(m, _) }.": None,
    "v(a, m) :- m = max y : { e(a, y) }.": None,
    "v(m, 1) :- m = max y : { e(_, y), y < m }.": None,
    "v(m, 1) :- m = max m : { e(_, m) }.": None,
}


@pytest.mark.parametrize("text", OWN)
def test_variables_that_the_result_alone_binds_are_others_in_the_braces(text: str) -> None:
    rule = rule_of(text)
    found = with_own_variables(rule)
    assert str(found) == (OWN[text] or str(rule))
    assert with_own_variables(found) == found


EDGES = [(1, 5), (2, 9), (5, 2), (9, 9)]
MEANT = {
    "v(m, 1) :- m = max y : { e(_, m), y = m }.": [(9, 1)],
    "v(m, 1) :- m = count : { e(m, _) }.": [(4, 1)],
    "v(x, m) :- x = m + 1, m = sum y : { e(x, y) }.": [(26, 25)],
    "v(a, m) :- r(a), m = sum y : { e(a, y), e(_, m) }.": [(5, 8), (9, 36)],
    "v(m, 1) :- m = count : { e(m, _), e(_, m) }.": [(4, 1)],
    "v(x, m) :- r(x), m = x, m = max y : { e(m, y) }.": [(9, 9)],
    "v(m, 2) :- r(_), _ = min m : { e(_, m) }, m = 3.": [(3, 2)],
    "v(m, 1) :- r(m), _ = max y : { e(y, m) }.": [(5, 1), (9, 1)],
}


@pytest.mark.parametrize("text", MEANT)
@pytest.mark.parametrize("by", ["triejoin", "substitution"])
def test_all_evaluators_read_them_so(text: str, by: str) -> None:
    found = lftj.evaluate(DECLARED + text, {"e": EDGES, "r": [(5,), (9,)]}, by=by)
    assert sorted(found["v"]) == MEANT[text]


@pytest.mark.parametrize("literal", ["_ = _", "_ < x", "x != _", "_ = y"])
def test_a_wildcard_equals_what_has_a_value(literal: str) -> None:
    with pytest.raises(ProgramErrors) as caught:
        lftj.connect().add_rules(f"{DECLARED}v(x, 1) :- r(x), {literal}.")
    assert {error.code for error in caught.value.errors} <= {"E144", "E142"}
