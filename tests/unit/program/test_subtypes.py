"""Subtypes of a program's own: what may be read as what, and what is refused."""

from __future__ import annotations

from pathlib import Path

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
.type Also = Number
.type Plain = number
.type Settled <: symbol
.type Village <: Settled
.type Farm <: Settled
.type Either = Village | Farm
.type Every = Either | Settled
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
.decl chosen(x: City)
.decl country(x: Country)
.decl numbered(n: Number)
.decl also(n: Also)
.decl plain(n: Plain)
.decl settled(x: Settled)
.decl either(x: Every)
.decl priced(x: decimal(10, 2))
.decl precise(x: decimal(18, 2))
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
text(x) :- city(x), !person(x).
text(x) :- text(x), 0 = count : { city(x), !person(x) }.
city(x) :- place(x), ( city(x) ; capital(x) ).
chosen(x) :- place(x), ( y = x, city(y) ; y = x, capital(y), !city(y) ).
city(x) :- place(x), city(y), x <= y.
chosen(x) :- place(x), x >= min y : { city(y) }.
numbered(n) :- raw(n), n = sum x : { counted(x) }.
settled(x) :- either(x).
either(x) :- settled(x).
counted(n) :- also(n).
raw(n) :- plain(n).
plain(n) :- raw(n).
plain(n) :- counted(n).
priced(x) :- precise(x).
text(x) :- city(x), y = x, text(y), person(z), z < x.
""".strip().splitlines()
REFUSED = """
person(c) :- lives(_, c).
city(c) :- place(c).
city(c) :- text(c).
capital(c) :- city(c).
text(x) :- lives(x, x).
text(c) :- person(p), place(c), p = c.
city(x) :- place(x), ( city(x) ; country(x) ).
city(x) :- place(x), ( city(x) ; text("a") ).
counted(x) :- raw(x).
counted(x) :- plain(x).
numbered(x) :- raw(x), !counted(x).
settled(x) :- text(x).
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


FIRST = ".type Id <: number\n.type Same = Id\n.type Key <: number\n.decl e(a: Id, b: symbol)\n"


@pytest.mark.parametrize(
    "again",
    [
        FIRST,
        ".decl e(a: Same, b: symbol)",
        ".decl e(a: Id, b: string) brie",
        ".type Id <: int\n.type Both = Key | Id",
    ],
)
def test_a_declaration_that_says_the_same_is_taken(again: str) -> None:
    workspace = lftj.connect()
    workspace.add_rules(FIRST + ".type Both = Id | Key")
    workspace.add_rules(again)


@pytest.mark.parametrize(
    ("again", "code", "said"),
    [
        (".decl e(a: number, b: symbol)", "E160", "column `a` is of `int`, and was of `Id`"),
        (".decl e(a: Key, b: symbol)", "E160", "column `a` is of `Key`, and was of `Id`"),
        (".decl e(x: Id, b: symbol)", "E160", "declared twice"),
        (".decl e(a: Id, b: symbol) choice-domain a", "E160", "declared twice"),
        (".decl e[a: Id]: symbol", "E160", "declared twice"),
        (".type Id = number", "E165", "`Id` is defined twice, differently"),
        (".type Id <: Key", "E165", "`Id` is defined twice, differently"),
        (".type Same = Key", "E165", "`Same` is defined twice, differently"),
        (".type Both = Id | number", "E165", "`Both` is defined twice, differently"),
        (".type N <: number\n.type N = number", "E165", "`N` is defined twice, differently"),
    ],
)
def test_a_declaration_that_says_something_else_is_refused(
    again: str, code: str, said: str
) -> None:
    workspace = lftj.connect()
    workspace.add_rules(FIRST + ".type Both = Id | Key")
    with pytest.raises(ProgramErrors, match=said) as caught:
        workspace.add_rules(again)
    assert [error.code for error in caught.value.errors] == [code]


def test_a_declaration_gives_subtypes_to_a_relation_of_python() -> None:
    workspace = lftj.connect()
    workspace.relation("e", {"a": int})
    workspace.add_rules(".type Id <: number .type Key <: number .decl e(a: Id) .decl k(a: Key)")
    with pytest.raises(ProgramErrors, match="E134"):
        workspace.add_rules("k(a) :- e(a).")


def test_branches_that_define_types_otherwise_are_not_merged() -> None:
    workspace = lftj.connect()
    workspace.add_rules(".type A <: number")
    texts = (".type B <: A", ".type B <: number .decl e(a: B)", ".type M = number .decl n(a: M)")
    branches = [workspace.branch(f"b{place}") for place in range(3)]
    for branch, text in zip(branches, texts, strict=True):
        branch.add_rules(text)
    workspace.add_rules(".type B <: number .type N = number .decl e(a: A)")
    for branch, code in zip(branches[:2], ("E165", "E160"), strict=True):
        with pytest.raises(lftj.DeclarationError, match="twice, differently") as caught:
            workspace.merge(branch)
        assert caught.value.code == code
    workspace.merge(branches[2])
    workspace.add_rules(".decl m(a: N) m(a) :- n(a). n(a) :- e(a).")


def test_types_outlive_the_process(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w") as workspace:
        workspace.add_rules(FIRST)
    with lftj.connect(tmp_path / "w") as workspace:
        with pytest.raises(ProgramErrors, match="E165"):
            workspace.add_rules(".type Id = number")
        with pytest.raises(ProgramErrors, match="E160"):
            workspace.add_rules(".decl e(a: Key, b: symbol)")
