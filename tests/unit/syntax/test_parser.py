"""The parser: each construct of the language becomes the tree that its meaning asks for."""

from __future__ import annotations

import datetime
import decimal

import pytest

from lftj.errors import ArityError, ParseError, ProgramErrors, UnknownNameError, ValueRangeError
from lftj.program.program import Program
from lftj.syntax.parser import MOST_ERRORS, parse
from lftj.syntax.tree import (
    Aggregate,
    Atom,
    Body,
    Call,
    Column,
    Comparison,
    Constant,
    Declaration,
    Directive,
    Disjunction,
    HeadAggregate,
    Literal,
    Negation,
    Rule,
    Term,
    Truth,
    TypeAlias,
    Variable,
    Wildcard,
)
from lftj.types import Unsigned

X, Y, Z, A = (Variable(name) for name in "xyza")
B_X, C_X = Atom("b", (X,)), Atom("c", (X,))


def body(text: str) -> tuple[Literal, ...]:
    """The literals of the rule `r(x) :- text.`"""
    (rule,) = parse(f"r(x) :- {text}.").clauses
    assert isinstance(rule, Rule)
    return rule.body.literals


def term(text: str) -> Term:
    """The term in `r(x) :- x = text.`"""
    (literal,) = body(f"x = {text}")
    assert isinstance(literal, Comparison)
    return literal.right


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────
def test_a_rule_has_heads_and_a_body():
    assert parse("a(x), b(y) :- c(x, y).").clauses == (
        Rule((Atom("a", (X,)), Atom("b", (Y,))), Body((Atom("c", (X, Y)),))),
    )


def test_a_fact_has_no_body():
    (fact,) = parse('a(1, "x", 2.5, true, -3).').clauses
    assert isinstance(fact, Rule)
    assert fact.is_fact
    assert fact.heads[0].args == (
        Constant(1),
        Constant("x"),
        Constant(2.5),
        Constant(True),
        Constant(-3),
    )


def test_an_empty_text_is_an_empty_program():
    assert parse("").clauses == parse(" // nothing\n/* at all */ ").clauses == ()


def test_comments_separate_and_are_left_out():
    assert body("b(x), // and\n /* so * on */ c(x)") == (B_X, C_X)


def test_a_wildcard_is_no_variable():
    assert body("b(_), c(_x)") == (Atom("b", (Wildcard(),)), Atom("c", (Variable("_x"),)))


@pytest.mark.parametrize("name", ["?x", "x?", "é", "__", "date", "output", "u"])
def test_names_may_look_odd(name: str):
    assert body(f"b({name})") == (Atom("b", (Variable(name),)),)


@pytest.mark.parametrize("name", ["count", "min", "output", "inline", "date", "agg", "strlen"])
def test_relations_may_have_the_names_of_words(name: str):
    program = parse(
        f".decl {name}(count: number)\n.output {name}\n{name}(x) :- {name}(x), {name}[x] = 1.\n"
        f"{name}(1)."
    )
    assert [type(clause) for clause in program.clauses] == [Declaration, Directive, Rule, Rule]


# ── conditions ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!b(x)", (Negation(Body((B_X,))),)),
        ("!!b(x)", (Negation(Body((Negation(Body((B_X,))),))),)),
        ("!(b(x), c(x))", (Negation(Body((B_X, C_X))),)),
        ("!(b(x) ; c(x))", (Negation(Body((Disjunction((Body((B_X,)), Body((C_X,)))),))),)),
        ("!x = y", (Negation(Body((Comparison("=", X, Y),))),)),
        ("b(x) ; c(x)", (Disjunction((Body((B_X,)), Body((C_X,)))),)),
        (
            "b(x), (c(x) ; x < 1, b(x))",
            (B_X, Disjunction((Body((C_X,)), Body((Comparison("<", X, Constant(1)), B_X))))),
        ),
        ("(b(x), (c(x), b(x)))", (B_X, C_X, B_X)),
        ("((b(x)))", (B_X,)),
        ("true, (false), b(x)", (Truth(True), Truth(False), B_X)),
        ("(true, false)", (Truth(True), Truth(False))),
        ("true = x", (Comparison("=", Constant(True), X),)),
        ("F[x] = y", (Atom("F", (X,), Y),)),
        ("y = F[x]", (Atom("F", (X,), Y),)),
        ("F[] = _", (Atom("F", (), Wildcard()),)),
        ("contains(x, y), match(x, y)", (Comparison("contains", X, Y), Comparison("match", X, Y))),
        (
            "(x + 1) * 2 = y",
            (Comparison("=", Call("*", (Call("+", (X, Constant(1))), Constant(2))), Y),),
        ),
    ],
)
def test_conditions(text: str, expected: tuple[Literal, ...]):
    assert body(text) == expected


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_comparisons(operator: str):
    assert body(f"x{operator}y") == (Comparison(operator, X, Y),)


# ── terms ─────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("loose", "tight"),
    [
        ("x lor y land z", "x lor (y land z)"),
        ("x land y bor z", "x land (y bor z)"),
        ("x bor y bxor z", "x bor (y bxor z)"),
        ("x bxor y band z", "x bxor (y band z)"),
        ("x band y bshl z", "x band (y bshl z)"),
        ("x bshl y + z", "x bshl (y + z)"),
        ("x + y * z", "x + (y * z)"),
        ("x - y - z", "(x - y) - z"),
        ("x % y / z", "(x % y) / z"),
        ("x ^ y ^ z", "x ^ (y ^ z)"),
        ("-x ^ y", "-(x ^ y)"),
        ("-x * y", "(-x) * y"),
        ("bnot x band y", "(bnot x) band y"),
        ("x ^ -y * z", "(x ^ (-y)) * z"),
        ("x - -y", "x - (-y)"),
    ],
)
def test_operators_bind_as_in_souffle(loose: str, tight: str):
    assert term(loose) == term(tight)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0x1F", 31),
        ("0b101", 5),
        ("7u", Unsigned(7)),
        ("0x1fu", Unsigned(31)),
        ("-9223372036854775808", -(2**63)),
        ("007", 7),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("2.5e-3", 0.0025),
        ("-0.0", -0.0),
        (r'"a\"b\\\n\t"', 'a"b\\\n\t'),
        ('date("2013-01-31")', datetime.date(2013, 1, 31)),
        ('timestamp("2013-01-31 12:00:00")', datetime.datetime(2013, 1, 31, 12)),
        ('timestamp("2013-01-31T12:00:00+01:00")', datetime.datetime(2013, 1, 31, 11)),
        ('decimal("1.50")', decimal.Decimal("1.50")),
    ],
)
def test_constants(text: str, expected: object):
    assert term(text) == Constant(expected)  # type: ignore[arg-type]


def test_a_sign_belongs_to_the_number_unless_a_power_follows():
    assert term("-2") == Constant(-2)
    assert term("-(2)") == Call("neg", (Constant(2),))
    assert term("-2 ^ 2") == Call("neg", (Call("^", (Constant(2), Constant(2))),))
    assert term("y -2") == Call("-", (Y, Constant(2)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat(x, y, z)", Call("cat", (X, Y, Z))),
        ("as(x, y)", Call("as", (X, Constant("y")))),
        ("min(x, y)", Call("min", (X, Y))),
        ("band(x, y)", Call("band", (X, Y))),
        ("substr(x, 0, strlen(y))", Call("substr", (X, Constant(0), Call("strlen", (Y,))))),
    ],
)
def test_functors(text: str, expected: Term):
    assert term(text) == expected


# ── aggregates ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("count : { b(x), c(x) }", Aggregate("count", (), Body((B_X, C_X)))),
        ("count : b(x)", Aggregate("count", (), Body((B_X,)))),
        ("sum y + 1 : { b(x) }", Aggregate("sum", (Call("+", (Y, Constant(1))),), Body((B_X,)))),
        ("sum(y + 1) : { b(x) }", Aggregate("sum", (Call("+", (Y, Constant(1))),), Body((B_X,)))),
        ("max min(x, y) : b(x)", Aggregate("max", (Call("min", (X, Y)),), Body((B_X,)))),
        (
            "mean y : { b(x) ; c(x) }",
            Aggregate("mean", (Y,), Body((Disjunction((Body((B_X,)), Body((C_X,)))),))),
        ),
        (
            "sum (last - x) : b(x)",
            Aggregate("sum", (Call("-", (Variable("last"), X)),), Body((B_X,))),
        ),
        ("last(y, x, a) : b(x)", Aggregate("last", (Y, X, A), Body((B_X,)))),
        ("count : b(x) + 1", Call("+", (Aggregate("count", (), Body((B_X,))), Constant(1)))),
    ],
)
def test_aggregates_of_bodies(text: str, expected: Term):
    assert term(text) == expected


def test_aggregates_of_heads():
    (rule,) = parse('t(x, count(), sum(a), min(a), concat(x, ","), mine(a, x)) :- b(x, a).').clauses
    assert isinstance(rule, Rule)
    made = [HeadAggregate("count", ()), HeadAggregate("sum", (A,)), HeadAggregate("min", (A,))]
    made += [HeadAggregate("concat", (X, Constant(","))), HeadAggregate("mine", (A, X))]
    assert rule.heads[0].args == (X, *made)


def test_named_aggregates_take_the_place_of_their_variable():
    named = parse("t(x, s), F[x] = n :- agg<<s = sum(a), n = count()>> b(x, a).")
    assert named == parse("t(x, sum(a)), F[x] = count() :- b(x, a).")


# ── declarations and directives ───────────────────────────────────────────────────────────────────
def test_declarations():
    program = parse(
        ".decl a(x: number, y: decimal(10, 2)) inline brie\n.decl b()\n.decl F[x: int]: float\n"
        ".decl G[]: n: int\na(1, 2)."
    )
    columns = (Column("x", "number"), Column("y", "decimal(10,2)"))
    assert program.clauses[:4] == (
        Declaration("a", columns, qualifiers=("inline", "brie")),
        Declaration("b", ()),
        Declaration("F", (Column("x", "int"), Column("value", "float")), functional=True),
        Declaration("G", (Column("n", "int"),), functional=True),
    )


def test_keys_of_declarations():
    program = parse(
        ".decl a(x: number, y: number?) inline key(x)\n.decl b(x: number) key // why\n (x, y) "
        "choice-domain x\n.decl c() key()\n.decl d(x: number)\nkey(x) :- d(x)."
    )
    keys = [each.key for each in program.clauses if isinstance(each, Declaration)]
    assert keys == [("x",), ("x", "y"), (), None]
    assert str(program.clauses[-1]) == "key(x) :- d(x)."
    assert parse(str(program)) == program


@pytest.mark.parametrize(
    "text",
    [
        "key(x) // a head\n:- d(x).",
        "key(x), e(x) :- d(x).",
        "key(1).",
        "key(x).",
        "key(x).\n.decl e()",
    ],
)
def test_heads_behind_declarations_are_no_keys(text: str):
    declared, *rest = parse(f".decl d(x: number)\n{text}").clauses
    assert declared == Declaration("d", (Column("x", "number"),))
    assert tuple(rest) == parse(text).clauses


def test_several_names_share_columns_and_old_qualifiers_are_directives():
    columns = (Column("x", "number"),)
    expected = (
        Declaration("a", columns),
        Declaration("b", columns),
        Directive("input", "a"),
        Directive("input", "b"),
    )
    assert parse(".decl a, b(x: number) input").clauses == expected


def test_types():
    expected = (
        TypeAlias("A", "B"),
        TypeAlias("C", "number", equal=True),
        TypeAlias("D", "number"),
        TypeAlias("E", "symbol"),
        TypeAlias("F", "symbol"),
    )
    assert (
        parse(".type A <: B\n.type C = number\n.number_type D\n.symbol_type E\n.type F").clauses
        == expected
    )


def test_a_qualifier_is_told_from_the_clause_behind_it():
    text = ".decl a(x: number) {}\n.decl b(x: number)\nb {} (1).\n"
    for comment in ("// f(x)\n", "/* f(x) */", "\n/**/ // (\n"):
        assert parse(text.format("inline " + comment + "magic", comment)) == parse(
            text.format("inline magic", "")
        )


@pytest.mark.parametrize("words", ["brie brie", "btree inline brie", "brie btree_delete"])
def test_a_relation_is_stored_in_one_way(words: str):
    with pytest.raises((ParseError, ProgramErrors), match="stored in one way"):
        parse(f".decl a(x: number) {words}\n")


def test_what_only_tells_souffle_how_to_evaluate_is_read_and_has_no_effect():
    rules = "p(x) :- q(x), r(x).{0}\np(x) :- q(x), ! r(x).{0}"
    plan = "\n  .plan 0: (2, 1), 1: (1, 2)"
    *pragmas, first, second = parse(
        '.pragma "magic-transform" "*" .pragma "legacy"' + rules.format(plan)
    ).clauses
    assert (first, second) == parse(rules.format("")).clauses
    assert [str(each) for each in pragmas] == ['.pragma "magic-transform" "*"', '.pragma "legacy"']


def test_directives():
    file = (("IO", "file"), ("filename", "x.csv"), ("delimiter", "\t"))
    text = (
        '.input a, b(IO=file, filename="x.csv", delimiter="\\t"), c()\n.output a\n.printsize '
        "b\n.limitsize c(n=10)"
    )
    assert parse(text).clauses == (
        Directive("input", "a", file),
        Directive("input", "b", file),
        Directive("input", "c"),
        Directive("output", "a"),
        Directive("printsize", "b"),
        Directive("limitsize", "c", (("n", 10),)),
    )


# ── places and errors ─────────────────────────────────────────────────────────────────────────────
def test_nodes_know_their_place():
    (rule,) = parse("\n  r(x) :-\n    b(x), x < 10 + y.").clauses
    assert isinstance(rule, Rule)
    comparison = rule.body.literals[1]
    assert isinstance(comparison, Comparison)
    assert [str(node.span) for node in (rule, rule.heads[0], rule.body, comparison.right)] == [
        "<rules>:2:3",
        "<rules>:2:3",
        "<rules>:3:5",
        "<rules>:3:15",
    ]
    assert comparison.right.span is not None
    assert (comparison.right.span.end_line, comparison.right.span.end_column) == (3, 21)


def test_errors_have_their_classes():
    with pytest.raises(ProgramErrors) as caught:
        parse(
            "a(99999999999999999999).\na(x) :- b(x), x = strlen(x, x).\na(x) :- .",
            file="p.dl",
        )
    errors = caught.value.errors
    assert [type(error) for error in errors] == [ValueRangeError, ArityError, ParseError]
    assert [(error.span.file, error.span.line) for error in errors if error.span] == [
        ("p.dl", 1),
        ("p.dl", 2),
        ("p.dl", 3),
    ]


def test_the_checks_know_which_functions_there_are():
    """The parser does not, since users define some."""
    parsed = parse(".decl a(x: number)\na(x) :- a(y), x = foo(y).", file="p.dl")
    with pytest.raises(ProgramErrors) as caught:
        Program().add(parsed)
    (error,) = caught.value.errors
    assert isinstance(error, UnknownNameError)
    assert error.span is not None
    assert (error.span.file, error.span.line, error.span.column) == ("p.dl", 2, 19)


def test_reading_stops_after_many_errors():
    with pytest.raises(ProgramErrors) as caught:
        parse("a(x) :- .\n" * 1000)
    assert len(caught.value.errors) == MOST_ERRORS


def test_a_syntax_error_does_not_repeat_the_problems_before_it():
    with pytest.raises(ProgramErrors) as caught:
        parse("a(x) :- b([x]).\na(x) :- .")
    assert [error.code for error in caught.value.errors] == ["E101", "E100"]


@pytest.mark.parametrize(
    "text",
    [
        "!" * 500 + "b(x)",
        "!(" * 500 + "b(x)" + ")" * 500,
        "x = " + "-" * 500 + "y",
        "x = 1" + " + 1" * 500,
    ],
)
def test_deep_nesting_is_an_error(text: str):
    with pytest.raises(ProgramErrors, match="levels deep"):
        parse(f"a(x) :- {text}.")


def test_parentheses_alone_are_not_nesting():
    assert body("(" * 5000 + "b(x)" + ")" * 5000) == (B_X,)
    assert term("(" * 5000 + "y" + ")" * 5000) == Y


@pytest.mark.parametrize(
    ("word", "remedy"),
    [("null", "is_null"), ("None", "is_null"), ("nan", "is_null"), ("True", "`true`")],
)
def test_constants_of_other_languages_are_no_variables(word: str, remedy: str) -> None:
    with pytest.raises(ProgramErrors) as caught:
        parse(f"v(x) :- o(x, c), c = {word}.")
    (error,) = caught.value.errors
    assert error.code == "E100"
    assert remedy in str(error.hint)
