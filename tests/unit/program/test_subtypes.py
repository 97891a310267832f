"""Subtypes of a program's own: what may be read as what, and what is refused."""

from __future__ import annotations

import pytest

import lftj
from lftj.errors import ProgramErrors
from lftj.syntax.parser import parse

DECLARED = """
.type City <: symbol
.type Person <: symbol
.type Country <: symbol
.type Place = City | Country
.type Home = City | Person
.type Town = City
.type Capital <: City
.type Number <: number
.decl lives(p: Person, c: City)
.decl place(x: Place)
.decl home(x: Home)
.decl person(x: Person)
.decl city(x: City)
.decl town(x: Town)
.decl capital(x: Capital)
.decl text(x: symbol)
.decl counted(n: Number)
.decl raw(n: number)
"""
ADMITTED = """
place(c) :- lives(_, c).
text(c) :- lives(_, c).
place(c) :- capital(c).
town(c) :- city(c).
city(c) :- town(c).
city(x) :- place(x), home(x).
city(c) :- place(c), city(c).
capital(c) :- capital(c), text(c), place(c).
city("Rome").
counted(3).
counted(x + 1) :- raw(x).
counted(as(x, Number)) :- raw(x).
counted(y) :- raw(x), y = as(x, Number).
counted(n) :- n = count : { raw(_) }.
raw(m) :- m = max x : { counted(x) }.
text(cat(x, y)) :- city(x), person(y).
text(x) :- city(x), !place(x).
text(x) :- ( city(x) ; person(x) ).
text(x) :- city(x), y = x, text(y), person(z), z < x.
""".strip().splitlines()
REFUSED = """
person(c) :- lives(_, c).
city(c) :- place(c).
city(c) :- text(c).
capital(c) :- city(c).
text(x) :- lives(x, x).
text(c) :- person(p), place(c), p = c.
text(x) :- city(x), !person(x).
counted(x) :- raw(x).
counted(m) :- m = max x : { raw(x) }.
text(x) :- text(x), 0 < count : { person(x), city(x) }.
""".strip().splitlines()


@pytest.mark.parametrize("rule", ADMITTED)
def test_a_subtype_may_stand_where_its_type_does(rule: str) -> None:
    lftj.connect().add_rules(DECLARED + rule)


@pytest.mark.parametrize("rule", REFUSED)
def test_types_that_clash_are_refused(rule: str) -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED)
    with pytest.raises(ProgramErrors) as caught:
        workspace.add_rules(rule)
    assert [error.code for error in caught.value.errors] == ["E134"]


def test_relations_of_python_take_any_subtype() -> None:
    workspace = lftj.connect()
    workspace.relation("edge", {"x": int, "y": int})
    workspace.add_rules(".type Node <: number\n.decl node(x: Node)\nnode(x) :- edge(x, _).")
    workspace.load("edge", [(1, 2)])
    assert list(workspace["node"]) == [(1,)]


def test_a_name_is_defined_once_in_a_text() -> None:
    text = ".type A <: number\n"
    with pytest.raises(ProgramErrors, match="`A` is defined twice"):
        lftj.connect().add_rules(text + text)
    workspace = lftj.connect()
    workspace.add_rules(text)
    workspace.add_rules(text)


def test_equal_types_are_printed_as_such() -> None:
    text = ".type A <: number\n.type B = A"
    assert "\n".join(map(str, parse(text).clauses)) == text
