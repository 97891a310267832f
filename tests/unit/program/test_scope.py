"""One name, one variable."""

from __future__ import annotations

import pytest
from hypothesis import given

from lftj.program.scope import direct_names, mentioned_names, rename_apart, user_name
from lftj.syntax import tree
from tests.strategies.programs import Program, programs
from tests.unit.program.rules import rule

CASES = {
    "a shared name stays": ("h(x) :- a(x), !( b(x, y), c(y) "
        ").", "h(x) :- a(x), !( b(x, y), c(y) )."),
    "two inner bodies": ("h(x) :- a(x), !( b(y), c(y) ), !( d(y), c(y) "
        ").", "h(x) :- a(x), !( b(y), c(y) ), !( d(y'1), c(y'1) )."),
    "an aggregate's own": (
        "h(n) :- n = count : { b(y), c(y) }, !( d(y), c(y) "
            ").", "h(n) :- n = count : { b(y), c(y) }, !( d(y'1), c(y'1) )."),
    "the target is its own": ("h(y, n) :- b(y), n = max y : { c(y), d(y) "
        "}.", "h(y, n) :- b(y), n = max y'1 : { c(y'1), d(y'1) }."),
    "a target that the body has not is shared": (
        "h(y, n) :- b(y), n = sum y : { c(_), d(_) "
            "}.", "h(y, n) :- b(y), n = sum y : { c(_), d(_) }."),
    "the head counts": ("h(y) :- a(_), !( b(y), c(y) ).", "h(y) :- a(_), !( b(y), c(y) )."),
    "a negated atom belongs "
        "outside": ("h() :- !a(y), n = count : { b(y), c(y) "
            "}.", "h() :- !a(y), n = count : { b(y), c(y) }."),
    "branches apart": ("h(x) :- a(x, y) ; b(x, y).", "h(x) :- a(x, y) ; b(x, y'1)."),
    "branches with a mention "
        "elsewhere": ("h(x) :- (a(x, y) ; b(x, y)), !( c(y), d(_) "
            ").", "h(x) :- (a(x, y) ; b(x, y)), !( c(y), d(_) )."),
    "some branches only": ("h(x) :- a(x), (b(y) ; c(x)), (d(y) ; "
        "c(x)).", "h(x) :- a(x), (b(y) ; c(x)), (d(y'1) ; c(x))."),
    "branches under an "
        "aggregate": ("h(x, count()) :- a(x, y) ; b(x, y).", "h(x, count()) :- a(x, y) ; b(x, y)."),
    "nested deeper": (
        "h(x) :- a(x), !( b(x, y), !( c(y, z), d(z) ) ), !( b(x, z), d(z) ).",
        "h(x) :- a(x), !( b(x, y), !( c(y, z), d(z) ) ), !( b(x, z'1), d(z'1) ).",
    ),
}  # fmt: skip


def plainly(text: object) -> str:
    """Text without layout."""
    return "".join(str(text).split())


@pytest.mark.parametrize("name", CASES)
def test_renames(name: str):
    before, after = CASES[name]
    assert plainly(rename_apart(rule(before))) == plainly(after)


def test_a_flat_rule_is_not_even_copied():
    flat = rule("h(x) :- a(x, y), !b(y), x < 3.")
    assert rename_apart(flat) is flat


def test_user_names_come_back():
    assert user_name("y'12") == "y"
    assert user_name("y") == "y"


def test_direct_names_are_those_of_the_body_itself():
    body = rule(
        "h(x) :- a(p), !b(q), r < s + 1, (c(t) ; d(t), e(u)), !( f(v), g(w) ), n = count : { i(j) "
        "}."
    ).body
    assert list(direct_names(body.literals)) == ["p", "q", "r", "s", "t", "n"]
    assert mentioned_names(body) == set("pqrstuvwnj")


@given(programs())
def test_renaming_changes_nothing_but_names(program: Program):
    for each in program.rules:
        renamed = rename_apart(each)
        assert plainly(renamed) == plainly(each) or "'" in str(renamed)
        assert _original(renamed) == each


def _original(node: object) -> object:
    """The tree with the users' own names."""
    if isinstance(node, tree.Variable):
        return tree.Variable(user_name(node.name))
    if isinstance(node, tuple):
        return tuple(map(_original, node))
    if isinstance(node, tree.Node):
        return type(node)(**{name: _original(value) for name, value in vars(node).items()})
    return node
