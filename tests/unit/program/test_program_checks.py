"""Every check of declarations, facts, types and forms, by code; all errors at once, in the order of
the text.
"""

from __future__ import annotations

import pytest

from lftj.errors import LftjError, ProgramErrors
from lftj.program.checks.program_checks import check
from lftj.program.schema import Catalog
from lftj.syntax import tree
from tests.unit.program.rules import checked, codes, parsed, problems

FINE = [
    "",
    "h2(x, count()) :- b(x). h2(x, x) :- b(x). h2(x, count()) :- b(x), h2(_, x).",
    "h2(x, x) :- b(x). h2(x, sum(x)) :- b(x). h2(x, sum(y)), h2(y, 1) :- h2(x, y).",
    ".type id <: int .type name = symbol .decl q(x: id, y: name) h1(x) :- q(x, _), b(x).",
    ".type later <: sooner .type sooner <: int .decl q(x: later) q(1).",
    "hf(1, 2). hf(-3, 2.5).",
    'm(date("2013-01-31"), timestamp("2013-01-31 12:00:00"), decimal("1.5"), true).',
    'm(date("2013-01-31") + 1, timestamp("2013-01-31 12:00:00"), 3, false).',
    "h1(x) :- m(d, t, c, _), m(e, u, _, f), x = d - e, t > u, c < 3, f = true, f != false.",
    "hf(x, v) :- w(x, v), v > 1, v != 2.5, v * 2 < 3 - v.",
    'hs(t) :- s(n, t), t >= "a", to_string(n) = t, strlen(t) = n.',
    "hs(concat(t)) :- s(_, t).",
    'hs(concat(t, ",", n, t)) :- s(n, t).',
    "hs(max(t)) :- s(_, t).",
    "hf(x, mean(y)) :- a(x, y).",
    "h1(n) :- n = sum x : { b(x) } ; b(n).",
    "hf(1, n) :- n = sum 1 : { b(_) }.",
    "h1(count : { b(_) }).",
    "hf(x, v) :- w(x, v), !F[x] = 2.0.",
    "h1(x) :- b(x), x = 3 band 5 bor x.",
    "h1(x), hs(t) :- s(x, t).",
    "h1(as(x, number)) :- b(x).",
    "h1(y) :- b(x), y = as(x + 1, int) * 2.",
    "h() :- b(_). h1(x) :- b(x), h(), !h().",
    ".input b .output h1(IO=stdout)",
]

WRONG = {
    "h1(x) :- bb(x).": ["E110"],
    "nope(1).": ["E110"],
    "nope(x) :- b(x).": ["E110"],
    ".output nope": ["E110"],
    "h1(x) :- b(x, x).": ["E120"],
    "b(1, 2).": ["E120"],
    "h1(x) :- F[x, x] = _.": ["E120"],
    ".decl q(x: nmber)": ["E113"],
    ".type A <: nope": ["E113"],
    ".type A <: B .type B <: A": ["E165", "E165"],
    ".type A = B .type B = A .type C = A .decl q(x: C)": ["E165", "E165"],
    ".type A = int | A": ["E165"],
    ".type int <: float": ["E165"],
    ".type number <: number": ["E165"],
    ".type float <: number": ["E165"],
    ".type date <: date": ["E165"],
    ".type date <: timestamp .type timestamp <: date": ["E165", "E165"],
    ".type D = date .type date <: nope": ["E165", "E113"],
    ".type bool <: number .decl q(x: bool) q(true).": ["E130"],
    ".type A <: int .type A <: float": ["E165"],
    ".decl b(y: int)": ["E160"],
    ".decl q(x: int, x: int)": ["E164"],
    "h1(x) :- F(x, _).": ["E162"],
    "h1(x) :- b[x] = 1.": ["E162"],
    "F(1, 2.0).": ["E162"],
    "h1(t) :- s(_, t).": ["E130"],
    "h1(x) :- s(x, y), b(y).": ["E130"],
    "h1(1.5).": ["E130"],
    'b("x").': ["E130"],
    "hs(1).": ["E130"],
    "hs(as(x, str)) :- b(x).": ["E130"],
    "h1(as(x, ident)) :- b(x).": ["E113"],
    "hf(x, v) :- b(x), v = x.": ["E130"],
    "h1(x) :- b(x), x > 1.5.": ["E130"],
    'h1(x) :- m(d, _, _, _), b(x), d > "2013-01-01".': ["E130"],
    "h1(x) :- m(_, _, c, _), b(x), c = 1.5.": ["E130"],
    "hf(9007199254740993, 9007199254740993).": ["E210"],
    'm(date("2013-01-31"), timestamp("2013-01-31 12:00:00"), decimal("1.555"), true).': ["E210"],
    'm(date("2013-01-31"), timestamp("2013-01-31 12:00:00"), decimal("1234567890.5"), true).': [
        "E220"
    ],
    "h1(x) :- b(x), m(_, _, c, _), c / c > 1.": ["E132"],
    "h1(x) :- b(x), m(_, f, c, _), c * f > 1.": ["E132"],
    "h1(x) :- b(x), m(_, _, c, _), c * c * c * c * c * c * c * c * c * c > 1.": ["E132"],
    "h1(x) :- b(x), m(_, _, c, _), c * c + c > c.": ["E130"],
    "h1(x) :- b(x), m(_, _, c, _), year(c) = 1.": ["E132"],
    "h1(x) :- b(x), m(_, _, c, _), round(c, x) > 1.": ["E132"],
    "h1(x) :- b(x), m(_, _, c, _), round(c, 19) > 1.": ["E132"],
    "h1(x) :- b(x), m(_, f, _, _), round(f, 1) > 1.": ["E132"],
    "h1(round(y, 2)) :- b(x).": ["E140"],
    'hs(t) :- s(_, t), t - "a" = t.': ["E132"],
    "hs(t + n) :- s(n, t).": ["E130"],
    "hs(max(n, t)) :- s(n, t).": ["E130"],
    "h1(x) :- m(_, _, _, f), b(x), f < true.": ["E132"],
    "hs(sum(t)) :- s(_, t).": ["E132"],
    "hs(n) :- n = mean t : { s(_, t) }.": ["E132"],
    "h1(x) :- b(x), m(_, _, _, f), -f = f.": ["E132"],
    "hs(concat(t, t)) :- s(_, t).": ["E132"],
    "hs(concat(n)) :- s(n, _).": ["E130"],
    "h2(x, sum(v)) :- w(x, v).": ["E130"],
    "h2(x, y + count()) :- a(x, y).": ["E131"],
    "h2(x, sum(count : { b(_) })) :- b(x).": ["E131"],
    "h2(x, nope(y)) :- a(x, y).": ["E112"],
    "h2(x, sum(x, y)) :- a(x, y).": ["E121"],
    "h1(_) :- b(_).": ["E144"],
    "h1(x) :- b(x), x < _.": ["E144"],
    "h1(x) :- b(_ + 1), b(x).": ["E144"],
    "b(x).": ["E145"],
    "b(_).": ["E144"],
    "h1(count()).": ["E145"],
    "b(1 / 0).": ["E221"],
    "h1(x) :- b(x), x < 9223372036854775807 + 1.": ["E220"],
    'h1(to_number("x")) :- b(_).': ["E210"],
    'h1(x) :- s(x, t), match("(", "a").': ["E210"],
    "h2(x, count()) :- b(x). h2(1, 2).": ["E163"],
    "h2(x, max(x)) :- b(x). h2(x, x) :- b(x).": ["E163"],
    "h2(x, x) :- b(x). h2(x, max(x)) :- b(x).": ["E163"],
    "h2(x, max(x)), h2(x, 1) :- b(x).": ["E163"],
    "h2(x, count()) :- b(x). h2(x, sum(x)) :- b(x).": ["E163"],
}


@pytest.mark.parametrize("text", FINE)
def test_is_fine(text: str):
    assert codes(text) == []


@pytest.mark.parametrize("text", WRONG)
def test_is_refused(text: str):
    found = problems(text)
    assert [each.code for each in found] == WRONG[text]
    assert all(each.span is not None for each in found)


def test_all_errors_of_all_clauses_come_together_in_order():
    text = """
    h1(x) :- bb(x), y < 3.
    b("a"). b(x).
    hs(t) :- s(t, _).
    .output nope
    h2(x, sum(t)) :- s(x, t), !a(x, z).
    """
    found = problems(text)
    assert [each.code for each in found] == [
        "E110",
        "E142",
        "E130",
        "E145",
        "E130",
        "E110",
        "E132",
        "E141",
    ]
    places = [(each.span.line, each.span.column) for each in found if each.span]
    assert places == sorted(places)


def test_declarations_may_come_after_their_use():
    assert codes("q(x) :- b(x). .decl q(x: int)") == []


def test_an_unknown_type_does_not_cause_more_errors():
    assert codes(
        '.decl q(x: nope, y: int) h1(x) :- q(x, _), b(x). q("a", 1). q(2, 3). hs(t) :- q(t, _).'
    ) == ["E113"]


def test_what_is_known_already_is_not_checked_again():
    catalog = checked("h1(x) :- b(x).").catalog
    again = check(tree.ParsedProgram(()), catalog)
    assert again.rules == ()
    assert again.catalog.derivations == catalog.derivations


def test_a_fact_for_a_relation_that_an_earlier_program_aggregates():
    catalog = checked("h2(x, count()) :- b(x).").catalog
    with pytest.raises(ProgramErrors) as caught:
        check(parsed("h2(1, 2)."), catalog)
    assert [each.code for each in caught.value.errors] == ["E163"]


def test_trees_from_python_may_hold_anything():
    def refused(term: object) -> LftjError:
        fact = tree.Rule((tree.Atom("b", (tree.Constant(term),)),), tree.Body(()))  # type: ignore[arg-type]
        with pytest.raises(ProgramErrors) as caught:
            check(tree.ParsedProgram((fact,)), checked("").catalog)
        return caught.value.errors[0]

    assert refused(2**63).code == "E220"
    assert refused(None).code == "E210"
    assert refused(float("nan")).code == "E130"
    assert refused(True).code == "E130"
    assert refused([1]).code == "E210"


def test_errors_of_rules_without_a_place_show_the_rule():
    body = tree.Body((tree.Atom("b", (tree.Variable("x"),)),))
    rule = tree.Rule((tree.Atom("h1", (tree.Variable("y"),)),), body)
    with pytest.raises(ProgramErrors, match=r"variable `y` .* in the rule  h1\(y\) :- b\(x\)\."):
        check(tree.ParsedProgram((rule,)), checked("").catalog)


def test_the_name_of_a_type_that_is_not_known_is_shown_where_it_stands():
    (error,) = problems("h1(as(x, ident)) :- b(x).")
    assert error.span is not None
    assert error.span.column == 10


def test_a_functor_of_many_values_makes_a_clause_a_rule():
    text = "h1(range(1, 4)). h2(1, range(0, 2) + 1). h1(7)."
    made = checked(text)
    assert (len(made.rules), made.facts) == (2, {"h1": [(7,)]})


def test_nesting_beyond_the_stack_is_an_error_of_ours():
    term: tree.Term = tree.Constant(1)
    for _ in range(50_000):
        term = tree.Call("+", (term, tree.Constant(1)))
    rule = tree.Rule((tree.Atom("h1", (term,)),), tree.Body((tree.Atom("b", (tree.Wildcard(),)),)))
    for clause in (rule, tree.Rule(rule.heads, tree.Body(()))):
        with pytest.raises(ProgramErrors) as caught:
            check(tree.ParsedProgram((clause,)), checked("").catalog)
        assert [each.code for each in caught.value.errors] == ["E102"]


def test_catalog_names_are_all_that_an_empty_catalog_lacks():
    with pytest.raises(LftjError) as caught:
        Catalog().relation("r")
    assert caught.value.code == "E110"
    assert isinstance(caught.value, KeyError)


SHARED = {
    "h2(x, min(y)) :- a(x, y). h2(x, max(y)) :- h2(x, z), a(z, y).": (
        "`h2` is defined by an aggregate and depends on itself: `h2` ← `h2`",
        "derive what is aggregated in a relation without an aggregate",
    ),
    "h2(x, max(y)) :- a(x, y). h1(x) :- h2(x, _), b(x). h2(x, x) :- h1(x).": (
        "`h2` is defined by an aggregate and depends on itself: `h2` ← `h1` ← `h2`",
        "derive what is aggregated in a relation without an aggregate",
    ),
    "h2(x, min(y)) :- a(x, y). h2(x, max(y)) :- e(x, y).": (
        "`h2` is defined by an aggregate and has more than one rule",
        "combine the bodies with `;` in one rule",
    ),
    "h2(x, max(y)) :- a(x, y). h2(x, y) :- e(x, y).": (
        "`h2` is defined by an aggregate and has more than one rule",
        "h2_1(x, max(y)) :- … in its place, and h2(x, y) :- h2_1(x, y)",
    ),
    "h2(1, 2). h2(x, sum(y)) :- a(x, y).": (
        "`h2` is defined by an aggregate and has facts beside its rule",
        "h2_1(x, sum(y)) :- … in its place, and h2(x, y) :- h2_1(x, y)",
    ),
    "h2(1, 2). h2(x, sum(y)) :- h2(z, y), a(z, x).": (
        "`h2` is defined by an aggregate and has facts beside its rule",
        "write each fact as a rule, which adds up with the other: h2(…, …) :- true.",
    ),
    "F[1] = 2.0. F[x] = sum(v) :- w(x, v).": (
        "`F` is defined by an aggregate and has facts beside its rule",
        "F_1[x] = sum(v) :- … in its place, and F[x] = value :- F_1[x] = value",
    ),
}


@pytest.mark.parametrize("text", SHARED)
def test_what_shares_a_relation_with_an_aggregate_is_told_what_to_write(text: str):
    (error,) = problems(text)
    message, hint = SHARED[text]
    assert (error.code, error.message) == ("E163", message)
    assert error.hint is not None
    assert hint in error.hint


def test_what_is_told_about_an_aggregate_beside_facts_is_a_program():
    checked("h2(1, 2) :- true. h2(x, sum(y)) :- h2(z, y), a(z, x).")
    checked(
        ".decl h2_1(x: int, y: int) h2(1, 2). h2_1(x, sum(y)) :- a(x, y). h2(x, y) :- h2_1(x, y)."
    )
