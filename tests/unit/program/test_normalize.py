"""Each construct as the text of normal rules (`:=` is an assignment)."""

from __future__ import annotations

import re

import pytest

from lftj.errors import ProgramErrors
from lftj.program.normal_form import AggregateTerm, NormalRule
from tests.unit.program.rules import lines, normal, program

PLAIN = {
    "a wildcard is a variable of its own": (
        "h1(x) :- a(x, _), e(_, x).",
        "h1(x) :- a(x, _1), e(_2, x).",
    ),
    "a constant stays in its atom": ("h1(x) :- a(x, 3).", "h1(x) :- a(x, 3)."),
    "a constant in a head is assigned": ("h2(1, x) :- b(x).", "h2(_1, x) :- b(x), _1 := 1."),
    "an expression in an atom is assigned": (
        "h1(x) :- b(x), a(x, x + 1).",
        "h1(x) :- b(x), a(x, _1), _1 := x + 1.",
    ),
    "equal variables are one": ("h2(x, y) :- a(x, y), x = y.", "h2(x, x) :- a(x, x)."),
    "the first of two names is kept": ("h1(x) :- a(_, y), x = y.", "h1(x) :- a(_0, x)."),
    "an equation of a bound variable is an assignment too": (
        "h1(x) :- b(x), 3 = x.",
        "h1(x) :- b(x), x := 3.",
    ),
    "a variable in its own equation is a filter": (
        "h1(x) :- b(x), x = x * x.",
        "h1(x) :- b(x), x = x * x.",
    ),
    "no circles of assignments": (
        "h1(x) :- a(x, y), y = x * 2, x = y - 2.",
        "h1(x) :- a(x, y), y := x * 2, x = y - 2.",
    ),
    "two equations of one variable": (
        "h1(x) :- a(x, y), z = x, z = y + 1.",
        "h1(z) :- a(z, y), z := y + 1.",
    ),
    "assignments chain": (
        "h1(z) :- b(x), z = y + 1, y = x + 1.",
        "h1(z) :- b(x), y := x + 1, z := y + 1.",
    ),
    "what holds of constants disappears": ("h1(x) :- b(x), 1 < 2, true.", "h1(x) :- b(x)."),
    "what fails of constants takes its rule along": (
        "h1(x) :- b(x), 2 < 1. h1(x) :- b(x), false.",
        "",
    ),
    "constants are computed": ("h1(x) :- a(x, 2 + 3 * 4).", "h1(x) :- a(x, 14)."),
    "a body may be empty of atoms": ("h() :- 1 < 2.", "h()."),
    "a repeated literal counts once": (
        "h1(x) :- b(x), b(x), x < 2, x < 2.",
        "h1(x) :- b(x), x < 2.",
    ),
    "the functional form is an atom": (
        "F[x] = v * 2.0 :- F[x] = v.",
        "F(x, _2) :- F(x, v), _2 := v * 2.0.",
    ),
    "an int is welcome as a float": ("hf(x, 1) :- w(x, 2).", "hf(x, _1) :- w(x, 2.0), _1 := 1.0."),
    "conversions between numbers are arithmetic": (
        "hf(x, to_float(x)) :- b(x).",
        "hf(x, _1) :- b(x), _1 := to_float(x).",
    ),
    "min and max of many nest": (
        "h1(min(x, y, 3)) :- a(x, y).",
        "h1(_2) :- a(x, y), _2 := min(min(x, y), 3).",
    ),
}

CONSTRUCTS = {
    "several heads": ("h1(x), h1(y) :- a(x, y).", "h1(x) :- a(x, y).\nh1(y) :- a(x, y)."),
    "disjunction": (
        "h1(x) :- a(x, _), (b(x) ; e(_, x), x > 2).",
        "h1(x) :- a(x, _1), b(x).\nh1(x) :- a(x, _1), e(_2, x), x > 2.",
    ),
    "two disjunctions": (
        "h1(x) :- (b(x) ; e(x, 0)), (a(x, 1) ; a(x, 2)).",
        "h1(x) :- b(x), a(x, 1).\nh1(x) :- b(x), a(x, 2).\nh1(x) :- e(x, 0), a(x, 1).\nh1(x) :- "
        "e(x, 0), a(x, 2).",
    ),
    "a list of values": (
        "h1(x) :- a(x, y), (y = 1 ; y = 2 ; y = 3 ; y = 4).",
        """rule1#or1(y) :- y := 1.
        rule1#or1(y) :- y := 2.
        rule1#or1(y) :- y := 3.
        rule1#or1(y) :- y := 4.
        h1(x) :- a(x, y), rule1#or1(y).""",
    ),
    "a short list of values": (
        "h1(x) :- a(x, y), (y = 1 ; y = 2).",
        "h1(x) :- a(x, y), y := 1.\nh1(x) :- a(x, y), y := 2.",
    ),
    "a list of pairs in a disjunction": (
        "h2(x, y) :- a(x, y), (b(x) ; (x = 3, y = 4 ; y = 5, x = 6 ; x = 1, y = 1 ; x = 1, y = "
        "2)).",
        """rule1#or1(x, y) :- x := 3, y := 4.
        rule1#or1(x, y) :- y := 5, x := 6.
        rule1#or1(x, y) :- x := 1, y := 1.
        rule1#or1(x, y) :- x := 1, y := 2.
        h2(x, y) :- a(x, y), b(x).
        h2(x, y) :- a(x, y), rule1#or1(x, y).""",
    ),
    "a list of values is all there is": (
        "h1(y) :- (y = 1 ; y = 2 ; y = 3 ; y = 4).",
        "h1(y) :- y := 1.\nh1(y) :- y := 2.\nh1(y) :- y := 3.\nh1(y) :- y := 4.",
    ),
    "alternatives are no list of values": (
        "h2(x, y) :- a(x, y), (y = 1 ; x = 2 ; x = y, y = 3 ; e(x, 4)).",
        """h2(x, y) :- a(x, y), y := 1.
        h2(x, y) :- a(x, y), x := 2.
        h2(x, x) :- a(x, x), x := 3.
        h2(x, y) :- a(x, y), e(x, 4).""",
    ),
    "negated atom": (
        "h1(x) :- b(x), !a(x, _), !a(x, x + 1).",
        "h1(x) :- b(x), !a(x, _), !a(x, _1), _1 := x + 1.",
    ),
    "negated comparison": ("h1(x) :- b(x), !( x > 3 ).", "h1(x) :- b(x), x <= 3."),
    "nested negation": (
        "h1(x) :- b(x), !( a(x, y), b(y) ).",
        "rule1#not1(x) :- a(x, y), b(y).\nh1(x) :- b(x), !rule1#not1(x).",
    ),
    "nested negation that asks for an outer binding": (
        "h1(x) :- a(x, y), !( b(z), z > y ).",
        "rule1#not1(y) :- a(x, y), b(z), z > y.\nh1(x) :- a(x, y), !rule1#not1(y).",
    ),
    "nested negation that asks through an equation": (
        "h1(x) :- b(x), y = x + 1, !( b(z), z > y ).",
        "rule1#not1(y) :- b(x), b(z), y := x + 1, z > y.\nh1(x) :- b(x), !rule1#not1(y), y := x + "
        "1.",
    ),
    "nested negation with a constant, as the body has one": (
        "h1(x) :- a(1, x), b(x), !( e(x, y), y > 2 ).",
        "rule1#not1(x) :- a(1, x), e(x, y), y > 2.\nh1(x) :- a(1, x), b(x), !rule1#not1(x).",
    ),
    "nested negation with a constant, where the body has none": (
        "h1(x) :- a(_, x), !( e(x, y), y > 2 ).",
        "rule1#not1(x) :- e(x, y), y > 2.\nh1(x) :- a(_0, x), !rule1#not1(x).",
    ),
    "nested negation without shared variables": (
        "h1(x) :- b(x), !( a(y, z), e(z, y) ).",
        "rule1#not1() :- a(y, z), e(z, y).\nh1(x) :- b(x), !rule1#not1().",
    ),
    "negated disjunction": (
        "h1(x) :- b(x), !( a(x, _) ; e(_, x) ).",
        "rule1#not1(x) :- a(x, _1).\nrule1#not1(x) :- e(_0, x).\nh1(x) :- b(x), !rule1#not1(x).",
    ),
    "double negation": (
        "h1(x) :- b(x), !( !( a(x, y), b(y) ) ).",
        "rule1#not1(x) :- a(x, y), b(y).\nrule1#not2(x) :- b(x), !rule1#not1(x).\nh1(x) :- b(x), "
        "!rule1#not2(x).",
    ),
    "negated truth": ("h1(x) :- b(x), !( false ). h1(x) :- b(x), !( true ).", "h1(x) :- b(x)."),
    "outer bindings avoid the relation being defined": (
        "h1(x) :- h1(y), e(y, x), !( b(z), z > x ).",
        "rule1#not1(x) :- e(y, x), b(z), z > x.\nh1(x) :- h1(y), e(y, x), !rule1#not1(x).",
    ),
}

AGGREGATES = {
    "count of an empty group is zero": (
        "h2(x, n) :- b(x), n = count : { a(x, _) }.",
        """rule1#count1(x, count()) :- a(x, _1).
        h2(x, n) :- b(x), rule1#count1(x, n).
        h2(x, n) :- b(x), !rule1#count1(x, _), n := 0.""",
    ),
    "sum of an empty group is a zero of its type": (
        "hf(0, n) :- n = sum v : { w(_, v) }.",
        """rule1#sum1(sum(v)) :- w(_0, v).
        hf(_1, n) :- rule1#sum1(n), _1 := 0.
        hf(_1, n) :- !rule1#sum1(_), n := 0.0, _1 := 0.""",
    ),
    "max of an empty group fails": (
        "h2(x, n) :- b(x), n = max y * 2 : { a(x, y) }.",
        "rule1#max1(x, max(_2)) :- a(x, y), _2 := y * 2.\nh2(x, n) :- b(x), rule1#max1(x, n).",
    ),
    "a group that outer atoms bind exactly": (
        "h2(x, n) :- b(x), n = min y : { b(y), y < x }.",
        "rule1#min1(x, min(y)) :- b(x), b(y), y < x.\nh2(x, n) :- rule1#min1(x, n).",
    ),
    "a group that outer atoms bind with others": (
        "h2(x, n) :- a(x, z), n = min y : { b(y), y < x }.",
        "rule1#in1(x) :- a(x, z).\nrule1#min1(x, min(y)) :- rule1#in1(x), b(y), y < x.\nh2(x, n) "
        ":- rule1#min1(x, n).",
    ),
    "the greatest value below a bound is the least mirrored one": (
        "h2(x, n) :- b(x), n = max y : { a(y, z), b(y), z != 0, y <= x }.",
        """rule1#in1(z, _2) :- a(y, z), _2 := mirror(y).
        rule1#in2(_1) :- b(y), _1 := mirror(y).
        rule1#max1(x, min(_1)) :- rule1#in1(z, _1), rule1#in2(_1), b(x), z != 0, _1 >= mirror(x).
        h2(x, n) :- rule1#max1(x, _1), n := mirror(_1).""",
    ),
    "a greatest value between two bounds is not": (
        "h2(x, n) :- a(x, w), n = max y : { b(y), y <= x, y > w }.",
        "rule1#max1(x, w, max(y)) :- a(x, w), b(y), y <= x, y > w.\n"
        "h2(x, n) :- rule1#max1(x, w, n).",
    ),
    "the target's variable is the aggregate's own": (
        "h2(y, n) :- b(y), n = max y : { a(_, y) }.",
        "rule1#max1(max(y)) :- a(_0, y).\nh2(y, n) :- b(y), rule1#max1(n).",
    ),
    "an equation of two computed sides is looked up": (
        "h2(x, y) :- a(x, d), a(y, e), d / 3 = e / 3, d % 2 = e % 2.",
        """rule1#in1(_2, y, e) :- a(y, e), _2 := e / 3.
        h2(x, y) :- a(x, d), rule1#in1(_2, y, e), _2 := d / 3, d % 2 = e % 2.""",
    ),
    "but not where it may have no value": (
        "h2(x, y) :- a(x, d), a(y, e), d / x = e / y.",
        "h2(x, y) :- a(x, d), a(y, e), d / x = e / y.",
    ),
    "nor between atoms that something else links": (
        "h2(x, y) :- a(x, d), a(y, e), d / 3 = e / 3, x = y.",
        "h2(x, x) :- a(x, d), a(x, e), d / 3 = e / 3.",
    ),
    "head aggregate over an expression": (
        "hf(x, sum(v * 2.0)) :- w(x, v).",
        "hf(x, sum(_2)) :- w(x, v), _2 := v * 2.0.",
    ),
    "concat keeps its separator as a variable": (
        'hs(concat(t, ", ", n)) :- s(n, t).',
        'hs(concat(t, _2, n)) :- s(n, t), _2 := ", ".',
    ),
    "disjunction under a head aggregate": (
        "h2(x, count()) :- b(x), (a(x, y), y > 1 ; x > 5).",
        "rule1#or1(x) :- a(x, y), y > 1.\nrule1#or1(x) :- b(x), x > 5.\nh2(x, count()) :- b(x), "
        "rule1#or1(x).",
    ),
    "variables that all branches have are counted": (
        "h2(x, count()) :- a(x, y) ; b(x), y = 1.",
        "rule1#or1(x, y) :- a(x, y).\nrule1#or1(x, y) :- b(x), y := 1.\nh2(x, count()) :- "
        "rule1#or1(x, y).",
    ),
    "body aggregate under a head aggregate": (
        "h2(x, count()) :- b(x), n = count : { a(x, _) }, n < 3.",
        """rule1#count1(x, count()) :- a(x, _1).
        rule1#or1(x, _1) :- rule1#count1(x, _1).
        rule1#or1(x, _1) :- b(x), !rule1#count1(x, _), _1 := 0.
        h2(x, count()) :- b(x), rule1#or1(x, n), n < 3.""",
    ),
    "an aggregate over nothing": (
        "h1(n) :- n = count : { false }. h1(n) :- n = max x : { b(x), false }.",
        "h1(n) :- n := 0.",
    ),
}

CASES = PLAIN | CONSTRUCTS | AGGREGATES


@pytest.mark.parametrize("name", CASES)
def test_becomes(name: str):
    text, expected = CASES[name]
    assert normal(text) == lines(expected)


def test_hidden_names_carry_the_rule_they_come_from():
    made = program("h1(x) :- b(x), !( a(x, y), b(y) ). h1(x) :- b(x), !( e(x, y), b(y) ).")
    assert [name for name in made.stratified.relations if "#" in name] == [
        "rule1#not1",
        "rule2#not1",
    ]
    assert [rule.source for rule in made.rules] == [1, 1, 2, 2]


def test_hidden_relations_have_the_types_of_their_variables():
    made = program("h1(n) :- s(n, t), !( m(d, _, c, f), hs(t), w(n, v), v > 1.0 ).")
    schema = made.stratified.relations["rule1#not1"]
    assert [(name, str(type)) for name, type in schema.columns] == [("n", "int"), ("t", "str")]
    assert schema.hidden
    assert schema.key is None


def test_aggregate_terms_carry_their_results_type():
    (rule,) = program(".decl g(d: date, c: decimal(18,2)) g(d, sum(c)) :- m(d, _, c, _).").rules
    assert isinstance(rule, NormalRule)
    (term,) = [term for term in rule.head if isinstance(term, AggregateTerm)]
    assert str(term.type) == "decimal(18,2)"


def test_too_many_alternatives_are_refused_in_a_cycle():
    text = (
        "h1(x) :- h1(x), "
        + ", ".join(f"(a(x, {number}) ; e(x, {number}))" for number in range(13))
        + "."
    )
    with pytest.raises(ProgramErrors) as caught:
        program(text)
    assert [error.code for error in caught.value.errors] == ["E166"]


def test_elsewhere_disjunctions_that_would_multiply_are_relations():
    text = "h1(x) :- b(x), " + ", ".join(
        f"(a(x, {number}) ; e(x, {number}))" for number in range(13)
    )
    assert len(normal(f"{text}.")) == 27


def test_the_same_disjunctions_under_an_aggregate_are_fine():
    text = (
        "h2(x, count()) :- b(x), "
        + ", ".join(f"(a(x, {number}) ; e(x, {number}))" for number in range(13))
        + "."
    )
    assert len(normal(text)) == 27


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        (
            "n = count : { w1(A), w2(B) }",
            "the aggregate `count` takes 241 values from the rest of its rule; 230 is the most "
            "there may be",
        ),
        ("n = 1, !( w1(B), w2(A) )", "`!( … )` takes 240 values from"),
        (
            "n = 1, s(_, t), t = cat(T)",
            "what a functor or an aggregate is given takes 300 values from",
        ),
    ],
)
def test_an_inner_part_that_takes_too_many_values_is_refused_at_its_rule(inner, said):
    first, second = (", ".join(f"{letter}{number}" for number in range(120)) for letter in "ab")
    columns = ", ".join(f"c{number}: number" for number in range(120))
    inner = inner.replace("A", first).replace("B", second).replace("T", ", ".join(["t"] * 300))
    with pytest.raises(ProgramErrors, match=re.escape(said)) as caught:
        program(
            f".decl w1({columns}) .decl w2({columns}) .decl wide(n: number)\nwide(n) :- "
            f"w1({first}), w2({second}), {inner}."
        )
    (error,) = caught.value.errors
    assert error.code == "E168"
    assert error.span is not None
