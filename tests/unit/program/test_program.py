"""Programs as values: rules come and go, errors leave everything as it was."""

from __future__ import annotations

import itertools
from itertools import permutations

import pytest

from lftj.errors import DeclarationError, ProgramErrors, UnknownNameError
from lftj.program.normal_form import FunctorRule, RelationSchema
from lftj.program.program import Program
from lftj.program.schema import UserAggregateSignature
from lftj.syntax.parser import parse
from lftj.types import FLOAT, INT, STR
from tests.unit.program.rules import parsed, program


def test_add_gives_ids_in_the_order_of_the_text():
    made, ids = Program().add(parsed("h1(x) :- b(x). b(1). h1(x) :- a(x, _)."))
    assert ids == [1, 2]
    assert str(made.rule(2)) == "h1(x) :- a(x, _)."
    more, later = made.add(parse("h2(x, x) :- h1(x)."))
    assert later == [3]
    assert len(made.sources) == 2
    assert len(more.sources) == 3


def test_facts_and_directives_are_those_of_the_last_add():
    made, _ = Program().add(
        parsed('b(1). b(2 * 3). s(1, "x"). hf(1, 2). F[1] = 0.5. h(). b(1). .output h1')
    )
    assert made.facts == {
        "b": [(1,), (6,), (1,)],
        "s": [(1, "x")],
        "hf": [(1, 2.0)],
        "F": [(1, 0.5)],
        "h": [()],
    }
    assert [directive.relation for directive in made.directives] == ["h1"]
    again, _ = made.add(parse("h1(x) :- b(x)."))
    assert again.facts == {}
    assert again.directives == ()


def test_errors_leave_the_program_as_it_was():
    made = program("h1(x) :- b(x).")
    before = made.catalog, dict(made.sources), made.next_source, made.stratified
    for text in ("h1(y) :- b(x).", "b(x) :- h1(x), !b(x).", ".decl new(x: int) new(1). new(a)."):
        with pytest.raises(ProgramErrors):
            made.add(parse(text))
    assert (made.catalog, dict(made.sources), made.next_source, made.stratified) == before


def test_remove_undoes_add():
    made = program("h1(x) :- b(x).")
    more, (source,) = made.add(parse("h1(x) :- h1(y), a(y, x), !( b(z), z > x )."))
    back = more.remove(source)
    assert back.stratified == made.stratified
    assert back.catalog == made.catalog
    assert list(back.sources) == list(made.sources)
    with pytest.raises(UnknownNameError):
        back.rule(source)
    with pytest.raises(UnknownNameError):
        back.remove(source)


def test_ids_are_never_used_again():
    made, (first,) = program("").add(parse("h1(x) :- b(x)."))
    _, (second,) = made.remove(first).add(parse("h1(x) :- b(x)."))
    assert second == first + 1


def test_removing_an_aggregate_makes_room_for_another_rule():
    made, (source,) = program("").add(parse("h2(x, count()) :- a(x, _)."))
    assert made.catalog.aggregated("h2")
    with pytest.raises(ProgramErrors):
        made.add(parse("h2(x, max(y)) :- a(x, y)."))
    made = made.remove(source)
    assert not made.derives("h2")
    made, _ = made.add(parse("h2(x, y) :- a(x, y). h2(1, 2)."))
    assert not made.catalog.aggregated("h2")


def test_declared_from_outside():
    made = Program().declare(RelationSchema("r", (("x", INT), ("y", STR)), key=(0,)))
    made, _ = made.add(parse('.decl v(y: str) v(y) :- r(_, y). r(1, "a").'))
    assert made.stratified.relations["r"].key == (0,)
    with pytest.raises(DeclarationError):
        made.declare(RelationSchema("r", (("x", INT),)))
    with pytest.raises(DeclarationError):
        made.declare(RelationSchema("r#1", (("x", INT),)))


def test_user_aggregates():
    signature = UserAggregateSignature("times", (FLOAT,), FLOAT)
    made = program("").with_aggregate(signature)
    made, _ = made.add(parse("hf(x, times(v)) :- w(x, v)."))
    (rule,) = made.rules
    assert str(rule).count("times") == 1
    for wrong in (
        "hs(times(t)) :- s(_, t).",
        "hf(x, times(v, v)) :- w(x, v).",
        "hs(times(v)) :- w(_, v).",
    ):
        with pytest.raises(ProgramErrors):
            made.add(parse(wrong))
    with pytest.raises(DeclarationError):
        made.with_aggregate(UserAggregateSignature("times", (INT,), INT))
    with pytest.raises(DeclarationError):
        made.with_aggregate(UserAggregateSignature("sum", (INT,), INT))


def test_a_false_rule_is_kept_as_a_source_without_normal_rules():
    made, (source,) = program("").add(parse("h1(x) :- b(x), 1 > 2."))
    assert made.sources[source].normal.rules == ()
    assert "h1" in made.catalog.derivations
    assert not made.derives("h1")
    assert made.stratified.strata == ()


@pytest.mark.parametrize(
    "literals", list(permutations(["h(x)", "b(x)", "strlen(x) < 3"])), ids=", ".join
)
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("head", ["k(x)", "m(x, min(n))"])
def test_a_functor_takes_its_values_from_outside_a_cycle_however_ordered(
    head: str, together: bool, literals: tuple[str, ...]
):
    names = (
        ".decl a, b, h(x: symbol) .decl k(x: symbol) choice-domain x .decl m, g(x: symbol, n: "
        "number)\n"
    )
    body = ", ".join(literals).replace("h(x)", "h(x)" if head == "k(x)" else "g(x, n)")
    first, second = names + "h(x) :- k(x). g(x, min(n)) :- m(x, n).", f"{head} :- {body}."
    made, _ = Program().add(parse(first + second if together else first))
    if not together:
        made, _ = made.add(parse(second))
    recursive = [stratum for stratum in made.stratified.strata if stratum.recursive]
    assert not any(isinstance(rule, FunctorRule) for stratum in recursive for rule in stratum.rules)


def test_each_rule_with_a_functor_beside_a_choice_takes_its_values_from_outside():
    names = ".decl a, b, c, h(x: symbol) .decl k(x: symbol) choice-domain x\n"
    made, _ = Program().add(
        parse(
            names
            + "k(x) :- a(x). h(x) :- k(x). k(x) :- h(x), b(x), strlen(x) < 3. k(x) :- h(x), c(x), "
            "strlen(x) > 5."
        )
    )
    recursive = [stratum for stratum in made.stratified.strata if stratum.recursive]
    assert not any(isinstance(rule, FunctorRule) for stratum in recursive for rule in stratum.rules)
    with pytest.raises(ProgramErrors) as caught:
        made.add(parse("k(cat(x, x)) :- h(x), b(x), strlen(x) < 2. k(cat(x, y)) :- h(x), h(y)."))
    assert {error.code for error in caught.value.errors} == {"E153"}


BESIDE_A_CHOICE = (
    "k(x) :- a(x).",
    "h(x) :- k(x).",
    "k(x) :- h(x), b(x), strlen(x) < 3.",
    "k(x) :- h(x), c(x), strlen(x) > 5.",
)


@pytest.mark.parametrize("order", [*itertools.permutations(BESIDE_A_CHOICE)], ids=lambda _: "")
def test_a_functor_beside_a_choice_is_taken_whichever_rule_comes_last(order: tuple[str, ...]):
    names = ".decl a, b, c, h(x: symbol) .decl k(x: symbol) choice-domain x\n"
    made, _ = Program().add(parse(names))
    for text in order:
        made, ids = made.add(parse(text))
        assert made.next_source == ids[-1] + 1
    recursive = [stratum for stratum in made.stratified.strata if stratum.recursive]
    assert not any(isinstance(rule, FunctorRule) for stratum in recursive for rule in stratum.rules)
    assert {str(made.rule(number)) for number in made.sources} == set(BESIDE_A_CHOICE)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_functor_that_a_choice_needs_is_refused_either_way(one_by_one: bool):
    made, _ = Program().add(parse(".decl a, h(x: symbol) .decl k(x: symbol) choice-domain x\n"))
    first, last = 'k(cat(x, "a")) :- h(x), strlen(x) < 5.', "h(x) :- k(x)."
    if one_by_one:
        made, _ = made.add(parse(first))
    rules = parse(last if one_by_one else f"{first}\n{last}")
    with pytest.raises(ProgramErrors) as caught:
        made.add(rules)
    assert {error.code for error in caught.value.errors} == {"E153"}
