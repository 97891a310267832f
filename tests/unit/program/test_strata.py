"""Strata, their order, and the cycles that are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lftj.cli.check import describe_strata
from lftj.errors import ProgramErrors, StratificationError
from lftj.program.normal_form import NormalRule, PositiveAtom, Ref, RelationSchema, RuleVariable
from lftj.syntax import tree
from lftj.types import INT
from tests.unit.program.rules import problems, program, rule, stratify


def strata(text: str) -> list[tuple[tuple[str, ...], int, bool]]:
    """Relations, number of rules and recursion of each stratum."""
    return [
        (each.relations, len(each.rules), each.recursive)
        for each in program(text).stratified.strata
    ]


def test_a_relation_comes_after_what_it_reads():
    assert strata("h1(x) :- h2(x, _), !hs(\"a\"). h2(x, y) :- a(x, y). hs(t) :- s(_, t).") == [
        (("h2",), 1, False),
        (("hs",), 1, False),
        (("h1",), 1, False),
    ]  # fmt: skip


def test_relations_without_rules_have_no_stratum():
    made = program("a(1, 2). h1(x) :- a(x, _).").stratified
    assert [stratum.relations for stratum in made.strata] == [("h1",)]
    assert {"a", "b", "hs"} <= made.relations.keys()


def test_recursion_is_one_stratum():
    text = (
        "h2(x, y) :- a(x, y). h2(x, z) :- h2(x, y), h1(y), a(y, z). h1(x) :- h2(_, x). hs(t) "
        ":- s(x, t), h1(x)."
    )
    assert strata(text) == [(("h2", "h1"), 3, True), (("hs",), 1, False)]


def test_a_single_relation_is_recursive_only_if_it_reads_itself():
    assert strata("h1(x) :- b(x). h1(x) :- h1(x).") == [(("h1",), 2, True)]
    assert strata("h1(x) :- b(x). h1(x) :- a(x, _).") == [(("h1",), 2, False)]


def test_the_order_depends_on_the_rules_only():
    text = "h1(x) :- b(x). h2(x, x) :- b(x). hs(t) :- s(_, t)."
    assert strata(text) == strata(text)
    assert [relations for relations, _, _ in strata(text)] == [("h1",), ("h2",), ("hs",)]


def test_ten_thousand_rules_in_a_chain():
    schemas = {
        f"r{number}": RelationSchema(f"r{number}", (("x", INT),)) for number in range(10_001)
    }
    x, ref = (RuleVariable("x", INT),), (Ref(0),)
    rules = [
        NormalRule(number, f"r{number + 1}", ref, x, (PositiveAtom(f"r{number}", ref),))
        for number in reversed(range(10_000))
    ]
    made = stratify(schemas, rules)
    assert [stratum.relations[0] for stratum in made.strata] == [
        f"r{number}" for number in range(1, 10_001)
    ]


CYCLES = {
    "h1(x) :- b(x), !h1(x).": ("E150", "`h1` ← not `h1`"),
    "h1(x) :- b(x), !h2(x, _). h2(x, y) :- a(x, y), h1(y).": ("E150", "`h1` ← not `h2` ← `h1`"),
    "h1(x) :- b(x), !( h2(x, y), b(y) ). h2(x, y) :- a(x, y), h1(y).": (
        "E150",
        "`h1` ← `!( … )` ← `h2` ← `h1`",
    ),
    "h2(x, count()) :- b(x), h1(x). h1(x) :- h2(_, x).": ("E151", "`h2` ← `h1` ← `h2`"),
    "h2(x, n) :- b(x), n = count : { h2(x, _) }.": ("E151", "`h2` ← the aggregate `count` ← `h2`"),
    "h2(x, n) :- b(x), n = max y : { h2(x, y) }.": ("E151", "`h2` ← the aggregate `max` ← `h2`"),
    "hs(max(cat(t, t))) :- hs(t).": (
        "E152",
        "the functor `cat` inside a cycle of rules: `hs` ← the functor `cat`",
    ),
    "h1(x) :- h1(x), !( b(y), h1(y), y > x ).": ("E150", "`h1` ← `!( … )` ← `h1`"),
}


ASKING = [
    "h1(x) :- b(x). h1(x) :- h1(x), !( b(y), y > x ).",
    "h2(x, x) :- b(x). h2(x, n) :- h2(x, k), n = count : { a(x, y), y > k }.",
    "h1(x) :- h2(x, _). h2(x, n) :- h1(x), n = max y : { a(y, _), y < x }.",
]


@pytest.mark.parametrize("text", ASKING)
def test_finished_relations_may_be_asked_for_values_of_a_cycle(text: str):
    made = program(text)
    ((asked, domain),) = made.asked.items()
    assert [made.hidden.schemas[asked].columns, asked] == [
        made.hidden.schemas[domain].columns,
        "rule2#ask1",
    ]
    assert not made.derives(asked)
    recursive = [stratum.relations for stratum in made.stratified.strata if stratum.recursive]
    assert len(recursive) == 1
    assert made.stratified.order.place[domain] > made.stratified.order.place[recursive[0][0]]


@pytest.mark.parametrize("text", CYCLES)
def test_cycles_are_named(text: str):
    code, shown = CYCLES[text]
    (error,) = problems(text)
    assert isinstance(error, StratificationError)
    assert error.code == code
    assert shown in error.message
    assert "#" not in error.message
    assert error.span is not None


def test_each_rule_at_fault_is_reported():
    errors = problems("h1(x) :- b(x), !hs(\"a\"). hs(t) :- s(x, t), !h1(x). h2(x, x) :- b(x), "
        "!h2(x, x).")  # fmt: skip
    assert [error.span.column for error in errors if error.span] == [1, 26, 52]


def test_a_cycle_without_negation_in_it_is_fine():
    assert strata(
        "h1(x) :- b(x), !a(x, x). h1(x) :- h1(y), a(y, x), !b(y). h2(x, count()) :- h1(x)."
    )[0][2]


def test_rules_without_a_place_are_shown():
    made = program("h1(x) :- b(x).")
    clause = program("h1(x) :- b(x), !h2(x, _).").rule(1)
    with pytest.raises(ProgramErrors, match="in the rule"):
        made.add(
            tree.ParsedProgram((replace(clause, span=None), rule("h2(x, y) :- a(x, y), h1(y).")))
        )


def test_listing():
    text = (
        "h2(x, y) :- a(x, y). h2(x, z) :- h2(x, y), a(y, z). h1(x) :- h2(x, _), !( b(y), e(x, y) )."
    )
    assert describe_strata(program(text).stratified).splitlines() == [
        "   1  h2: 2 rules, recursive",
        "   2  rule3#not1: 1 rule",
        "   3  h1: 1 rule",
    ]
    assert describe_strata(program("").stratified) == "no rules"
