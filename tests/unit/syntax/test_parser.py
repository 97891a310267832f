"""The parser: each construct of the language becomes the tree that its meaning asks for."""

from __future__ import annotations

from lftj.syntax.parser import parse
from lftj.syntax.tree import Atom, Body, Rule, Variable


def test_a_rule_has_heads_and_a_body():
    x, y = Variable("x"), Variable("y")
    (rule,) = parse("a(x), b(y) :- c(x, y).").clauses
    assert rule == Rule((Atom("a", (x,)), Atom("b", (y,))), Body((Atom("c", (x, y)),)))
