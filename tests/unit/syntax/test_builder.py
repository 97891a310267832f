"""Python expressions: the same trees as the text, and errors that say what to write."""

from __future__ import annotations

import datetime
import decimal
import inspect
from collections.abc import Callable
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import lftj
from lftj.errors import (
    ArityError,
    ExpressionError,
    LftjError,
    NullValueError,
    ParseError,
    UnknownNameError,
    ValueRangeError,
    ValueTypeError,
)
from lftj.functions import FUNCTIONS
from lftj.functions.aggregates import AGGREGATES
from lftj.syntax import builder as b
from lftj.syntax import tree
from lftj.syntax.builder import Expression, Formula, Predicate, _, to_tree
from lftj.syntax.expressions import compare
from lftj.syntax.parser import parse
from tests.strategies.programs_text import rules

x, y, z, a, s = b.vars("x y z a s")
r = Predicate("r", 2)
e = Predicate("e", columns=("src", "dst", "w"))
F = Predicate("F", 2, functional=True)
G = Predicate("G", 1, functional=True)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (r(x, z) <= r(x, y) & e(y, z, _) & (x != z), "r(x, z) :- r(x, y), e(y, z, _), x != z."),
        (
            r(x, y) <= e(x, y, w_ := b.Var("w")) & (w_ > 1.5) & (w_ <= 3) & (w_ >= 2) & (w_ < 4),
            "r(x, y) :- e(x, y, w), w > 1.5, w <= 3, w >= 2, w < 4.",
        ),
        (r(x, "FR") <= e(dst=x) & ~e(src=x, w=1), 'r(x, "FR") :- e(_, x, _), !e(x, _, 1).'),
        (r(x, y) <= e(x, w=y), "r(x, y) :- e(x, _, y)."),
        (
            r(x, x) <= (r(x, y) | r(y, x) | (x == y)) & r(x, _),
            "r(x, x) :- (r(x, y) ; r(y, x) ; x = y), r(x, _).",
        ),
        (r(x, x) <= ~(r(x, y) & ~r(y, x)), "r(x, x) :- !(r(x, y), !r(y, x))."),
        ((r(x, y) & r(y, x)) <= e(x, y, _), "r(x, y), r(y, x) :- e(x, y, _)."),
        ((F[x] == y) <= (F[y] == x) & (G[()] == a), "F[x] = y :- F[y] = x, G[] = a."),
        ((y == F[x]) <= r(x, y), "F[x] = y :- r(x, y)."),
        (
            r(x, -((x + 1) ** 2) / y % 3 - 2 * x) <= r(x, y),
            "r(x, -(x + 1) ^ 2 / y % 3 - 2 * x) :- r(x, y).",
        ),
        (r(1 - x, 2 / x) <= r(3**x, 4 % x), "r(1 - x, 2 / x) :- r(3 ^ x, 4 % x)."),
        (r(x, b.count()) <= r(x, y), "r(x, count()) :- r(x, y)."),
        (e(b.sum_(x), b.mean(x), b.min_(x)) <= r(x, y), "e(sum(x), mean(x), min(x)) :- r(x, y)."),
        (
            e(b.max_(x), b.concat(s, ", ", x), b.agg("mine", x)) <= r(x, s),
            'e(max(x), concat(s, ", ", x), mine(x)) :- r(x, s).',
        ),
        (
            r(x, b.min_(x, y)) <= r(x, y) & (b.max_(x, y, z) == z),
            "r(x, min(x, y)) :- r(x, y), max(x, y, z) = z.",
        ),
        (r(x, a) <= (a == b.aggregate("count", r(x, _))), "r(x, a) :- a = count : r(x, _)."),
        (
            r(x, a) <= (a == b.aggregate("sum", y + 1, r(x, y) & (y > 0))),
            "r(x, a) :- a = sum y + 1 : { r(x, y), y > 0 }.",
        ),
        (
            r(x, s.cat("a", s)) <= s.contains("b") & s.match("c.*"),
            'r(x, cat(s, "a", s)) :- contains("b", s), match("c.*", s).',
        ),
        (
            r(s.strlen(), s.substr(0, 1)) <= r(s.to_number(), s.to_float()),
            "r(strlen(s), substr(s, 0, 1)) :- r(to_number(s), to_float(s)).",
        ),
        (
            r(x.to_string(), b.cat("a", s)) <= b.contains("a", s) & b.match("b", s),
            'r(to_string(x), cat("a", s)) :- contains("a", s), match("b", s).',
        ),
        (
            r(x, y) <= (x == b.range_(0, 3)) & (y == b.range_(x, 0, -1)),
            "r(x, y) :- x = range(0, 3), y = range(x, 0, -1).",
        ),
        (
            r(b.band(x, 1), b.bnot(y)) <= r(b.bshl(x, 1), b.lnot(y)),
            "r(x band 1, bnot y) :- r(x bshl 1, lnot y).",
        ),
        (r(x, y).fact(), "r(x, y)."),
        (b.rule(r(1, True)), "r(1, true)."),
        (b.rule(r(x, y), r(y, x)), "r(x, y) :- r(y, x)."),
        (r(x, y) <= r(x, y) & True, "r(x, y) :- r(x, y), true."),
        (
            r(datetime.date(2013, 1, 31), decimal.Decimal("1.50")).fact(),
            'r(date("2013-01-31"), decimal("1.50")).',
        ),
    ],
)
def test_expressions_make_the_tree_of_the_text(rule: tree.Rule, text: str):
    assert parse(text).clauses == (rule,)
    assert parse(str(rule)).clauses == (rule,)


# ── every rule that text can express ──────────────────────────────────────────────────────────────
def rebuilt_term(term: tree.Term) -> Expression | b.Var:
    """`term`, made anew with Python operators."""
    operators: dict[str, Callable[..., Expression]] = {
        "+": lambda p, q: p + q,
        "-": lambda p, q: p - q,
        "*": lambda p, q: p * q,
        "/": lambda p, q: p / q,
        "%": lambda p, q: p % q,
        "^": lambda p, q: p**q,
        "neg": lambda p: -p,
        "min": b.min_,
        "max": b.max_,
        "range": b.range_,
        "round": b.round_,
    }
    match term:
        case tree.Variable(name):
            return b.Var(name)
        case tree.Wildcard():
            return _
        case tree.Call(functor, args):
            make = operators.get(functor) or getattr(lftj.fn, functor)
            return make(*map(rebuilt_term, args))
        case tree.Aggregate(function, args, body):
            return b.aggregate(function, *map(rebuilt_term, args), rebuilt(body))
        case tree.HeadAggregate(function, args):
            return b.agg(function, *map(rebuilt_term, args))
        case tree.Constant():
            return Expression(term)


def rebuilt_literal(literal: tree.Literal) -> Formula:
    """`literal`, made anew with Python operators."""
    match literal:
        case tree.Atom(relation, args, None):
            return Predicate(relation)(*map(rebuilt_term, args))
        case tree.Atom(relation, args, value):
            assert value is not None
            return Predicate(relation, functional=True)[
                tuple(map(rebuilt_term, args))
            ] == rebuilt_term(value)
        case tree.Comparison(operator, left, right):
            return compare(operator, rebuilt_term(left), rebuilt_term(right))
        case tree.Truth(value):
            return Formula(b.to_literals(value))
        case tree.Negation(body):
            return ~rebuilt(body)
        case tree.Disjunction(branches):
            return reduce(lambda p, q: p | q, map(rebuilt, branches))


def rebuilt(body: tree.Body) -> Formula:
    """`body`, made anew with Python operators."""
    return reduce(lambda p, q: p & q, map(rebuilt_literal, body.literals))


def flattened(rule: tree.Rule) -> str:
    """The text without the parentheses of a disjunction that is the first branch of another, which
    Python cannot tell apart.
    """
    return str(rule).replace("(", "").replace(")", "")


@given(rules)
def test_every_rule_can_be_written_in_python(rule: tree.Rule):
    heads = reduce(lambda p, q: p & q, map(rebuilt_literal, rule.heads))
    made = b.rule(heads) if rule.is_fact else heads <= rebuilt(rule.body)
    assert made == rule or flattened(made) == flattened(rule)


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("mistake", "error", "message"),
    [
        (lambda: r(x, y) and r(y, x), ExpressionError, "use & instead of `and`"),
        (lambda: r(x, y) or r(y, x), ExpressionError, r"\| instead of `or`"),
        (lambda: not r(x, y), ExpressionError, "~ instead of `not`"),
        (lambda: x < y < z, ExpressionError, r"\(x < y\) & \(y < z\)"),
        (lambda: x in [y, z], ExpressionError, "truth"),
        (lambda: F[x] == y <= r(x, y), ExpressionError, "parentheses round each comparison"),
        (lambda: r(x, y) & x == 3, ExpressionError, "put parentheses round comparisons"),
        (lambda: x & r(x, y), ExpressionError, "put parentheses round comparisons"),
        (lambda: x | y, ExpressionError, "bor"),
        (lambda: ~x, ExpressionError, "bnot"),
        (lambda: r(x, y) <= x, ExpressionError, "term"),
        (lambda: r(x, y) <= r, ExpressionError, "call the relation"),
        (lambda: r(x, y) <= 3, ExpressionError, "a condition is expected"),
        (lambda: r(x, y) <= [r(x, y)], ExpressionError, "conditions are joined with &"),
        (lambda: r(x, y) < r(y, x), ExpressionError, "a rule is written head <= body"),
        (lambda: r(x, y) > r(y, x), ExpressionError, "a rule is written head <= body"),
        (lambda: r(x, y) >= r(y, x), ExpressionError, "a rule is written head <= body"),
        (lambda: r(x, y) >= r(y, x) & (x < y), ExpressionError, "a rule is written head <= body"),
        (lambda: r(x // 2, y), ExpressionError, "cut off towards zero"),
        (lambda: r(7 // x, y), ExpressionError, "cut off towards zero"),
        (lambda: r(len(x), y), ExpressionError, r"lftj\.strlen"),
        (
            lambda: r(lftj.fn.is_null(x), y),
            ExpressionError,
            r"lftj\.fn\.if_\(condition, True, False",
        ),
        (lambda: r(int(x), y), ExpressionError, r"lftj\.to_number"),
        (lambda: r(float(x), y), ExpressionError, r"lftj\.to_float"),
        (lambda: r(round(x), y), ExpressionError, r"lftj\.to_number"),
        (lambda: r(x << 2, y), ExpressionError, r"lftj\.bshl"),
        (lambda: r(2 >> x, y), ExpressionError, r"lftj\.bshr"),
        (lambda: r(x[0], y), ExpressionError, r"lftj\.substr"),
        (lambda: r(*x), ExpressionError, "go through its values"),
        (lambda: r(sum(x), y), ExpressionError, r"lftj\.sum_\(x\)"),
        (lambda: r(max(x), y), ExpressionError, r"lftj\.max_\(x\)"),
        (lambda: r(max(x, y), y), ExpressionError, r"lftj\.max_\(x, y\) for `max\(x, y\)`"),
        (
            lambda: x in [1, 2],
            ExpressionError,
            r"for `x in \[1, 2\]` write \(x == 1\) \| \(x == 2\)",
        ),
        (lambda: "a" in x, ExpressionError, r"lftj\.contains"),
        (
            lambda: r(b.vars("x"), y),
            ExpressionError,
            r'a tuple of terms, not a term\n.*\(x,\) = lftj\.vars\("x"\)',
        ),
        (lambda: r(b.vars("x y"), y), ExpressionError, r"r\(\*terms\)"),
        (lambda: x + b.vars("y"), ExpressionError, "a tuple of terms"),
        (lambda: r(y, y) & (b.vars("y") == x), ExpressionError, "a tuple of terms"),
        (lambda: r(np.array([1, 2]), y), ValueTypeError, "a ndarray cannot be a constant"),
        (
            lambda: r(b.call("strlen", x, y), y),
            ArityError,
            r"error\[E121\]: strlen takes 1 argument",
        ),
        (lambda: b.vars(["x", "y"]), ExpressionError, r'vars\("x y"\)'),
        (lambda: Predicate(5), ExpressionError, "5 cannot name a relation"),
        (lambda: (x < 3) <= r(x, y), ExpressionError, "more than atoms"),
        (lambda: r(x, y) == 3, ExpressionError, "has no value"),
        (lambda: r(r(x, y), 1), ExpressionError, "a term is expected"),
        (lambda: r(r, 1), ExpressionError, "a term is expected"),
        (lambda: F[x] + 1, ExpressionError, r"write \(F\[x\] == v\)"),
        (lambda: F[x] != 1, ExpressionError, r"write \(F\[x\] == v\)"),
        (lambda: y < F[x], ExpressionError, r"write the condition F\[x\] == v"),
        (lambda: r(F[x], 1), ExpressionError, r"F\[x\] == v"),
        (lambda: F(x, y), ExpressionError, r"write F\[…\] == value"),
        (lambda: r[x], ExpressionError, r"write r\(…\)"),
        (lambda: r(x), ArityError, "r takes 2 arguments, found 1"),
        (lambda: e(x, y), ArityError, r"e takes 3 arguments \(src, dst, w\), found 2"),
        (lambda: F[x, y], ArityError, "F takes 1 argument, found 2"),
        (lambda: e(x, src=y), ArityError, "given twice"),
        (lambda: e(sorce=x), UnknownNameError, "no column sorce"),
        (lambda: r(src=x), UnknownNameError, "not known here"),
        (lambda: b.vars("count"), ExpressionError, "count_"),
        (lambda: b.vars("x-y"), ExpressionError, "cannot name a variable"),
        (lambda: Predicate("my table"), ExpressionError, "cannot name a relation"),
        (lambda: Predicate("contains"), ExpressionError, "contains_"),
        (lambda: b.agg("cat", x), ExpressionError, "not an aggregate"),
        (lambda: b.aggregate("sun", x, r(x, y)), ExpressionError, "did you mean sum"),
        (lambda: b.aggregate("sum", r(x, y)), ExpressionError, "needs a term"),
        (lambda: b.aggregate("count", x, y, r(x, y)), ExpressionError, "takes no argument or one"),
        (lambda: b.aggregate("last", x, r(x, y)), ExpressionError, "takes at least 2 arguments"),
        (lambda: r(None, 1), NullValueError, "lftj._"),
        (lambda: r(float("nan"), 1), NullValueError, "NaN"),
        (lambda: r(float("inf"), 1), ValueRangeError, "infinite"),
        (lambda: r(2**63, 1), ValueRangeError, "64 bits"),
        (lambda: r(decimal.Decimal("NaN"), 1), NullValueError, "not a number"),
        (
            lambda: r(pd.Timestamp("2013-01-01 00:00:00.000000001"), 1),
            ValueRangeError,
            "nanoseconds",
        ),
        (lambda: r(np.datetime64(1, "ns"), 1), ValueTypeError, "datetime64"),
        (lambda: r(np.datetime64("NaT"), 1), NullValueError, "None"),
        (lambda: r(pd.NaT, 1), NullValueError, "None"),
        (lambda: r(pd.NA, 1), NullValueError, "None"),
        (lambda: r([1], 1), ValueTypeError, "list"),
    ],
)
def test_mistakes_say_what_to_write(
    mistake: Callable[[], object], error: type[LftjError], message: str
):
    with pytest.raises(error, match=message):
        mistake()


def test_deep_expressions_are_an_error():
    deep = x
    for _number in range(5000):
        deep = deep + 1
    with pytest.raises(ParseError, match="levels deep"):
        b.rule(r(x, deep), r(x, y))
    assert "too deeply" in repr(deep)


@pytest.mark.parametrize(
    ("value", "constant"),
    [
        (np.int32(7), 7),
        (np.float64(1.5), 1.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (pd.Timestamp("2013-01-31 12:00"), datetime.datetime(2013, 1, 31, 12)),
    ],
)
def test_values_of_other_libraries_become_plain(value: object, constant: object):
    made = to_tree(value)
    assert made == tree.Constant(constant)  # type: ignore[arg-type]
    assert type(made.value) is type(constant)  # type: ignore[attr-defined]


def test_numpy_scalars_may_stand_on_either_side():
    assert to_tree(np.int64(5) + x) == to_tree(5 + x)
    assert to_tree(np.int64(5) < x) == to_tree(x > 5)
    assert to_tree(x < np.int64(5)) == to_tree(x < 5)


def test_constants_of_different_types_differ():
    one, one_float, true = tree.Constant(1), tree.Constant(1.0), tree.Constant(True)
    assert len({one, one_float, true, tree.Constant(1)}) == 3
    assert tree.Constant(0.0) != tree.Constant(-0.0)


def test_conversion():
    assert to_tree(r(x, 1)) == tree.Atom("r", (tree.Variable("x"), tree.Constant(1)))
    assert to_tree(r(x, y) & r(y, x)) == tree.Body((*r(x, y).literals, *r(y, x).literals))
    assert to_tree(x) == tree.Variable("x")
    assert to_tree(r(x, y).literals[0]) == r(x, y).literals[0]


def test_a_relation_is_not_a_sequence():
    with pytest.raises(TypeError):
        iter(F)  # type: ignore[call-overload]


def test_handles_can_subclass():
    class Handle(Predicate):
        def __init__(self) -> None:
            super().__init__("h", columns=("id", "name"))

    h = Handle()
    assert repr(h(id=1)) == "h(1, _)"
    assert (h.name, h.arity, h.columns) == ("h", 2, ("id", "name"))


def test_a_rule_shows_its_text():
    assert repr(r(x, y) <= e(x, y, 1)) == "<Rule r(x, y) :- e(x, y, 1).>"


PLAIN = {
    "cat": (x, y, "z"), "strlen": (x,), "substr": (x, 0, 1), "to_string": (x,), "to_number": (x,),
    "to_unsigned": (x,), "to_float": (x,), "to_date": (x,), "year": (x,), "month": (x,),
    "day": (x,), "round_": (x, 2), "range_": (0, x), "band": (x, 1), "bor": (x, 1), "bxor": (x, 1),
    "bnot": (x,), "bshl": (x, 1), "bshr": (x, 1), "bshru": (x, 1), "land": (x, 1), "lor": (x, 1),
    "lxor": (x, 1), "lnot": (x,), "contains": ("a", x), "match": ("a", x), "count": (),
    "sum_": (x,), "mean": (x,), "min_": (x,), "max_": (x, y), "concat": (x, ", ", y),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_functions_by_their_names_in_rules(name: str):
    """`lftj.fn` makes the trees of the functions with an underscore, and describes itself."""
    made, plain = getattr(lftj.fn, name.rstrip("_")), getattr(lftj, name)
    assert to_tree(made(*PLAIN[name])) == to_tree(plain(*PLAIN[name]))
    assert made.__doc__.endswith(".")
    assert name.rstrip("_") in dir(lftj.fn)
    assert str(inspect.signature(made)).startswith("(")


def test_functions_by_name_are_all_there():
    named = {name for name, each in FUNCTIONS.items() if each.precedence is None or each.word}
    assert set(dir(lftj.fn)) == named | AGGREGATES.keys()
    assert {name.rstrip("_") for name in PLAIN} < set(dir(lftj.fn))
    assert str(to_tree(lftj.fn.lower(x))) == "lower(x)"
    assert str(to_tree(lftj.fn.starts_with("a", x))) == 'starts_with("a", x)'
    assert to_tree(lftj.fn.min(x, y, 3)) == to_tree(lftj.min_(x, y, 3))
    with pytest.raises(AttributeError, match="there is no function 'strlenn': did you mean strlen"):
        lftj.fn.strlenn(x)
    with pytest.raises(lftj.ArityError):
        lftj.fn.substr(x, 1)
    with pytest.raises(TypeError):
        lftj.fn.contains(x)
    assert not hasattr(lftj.fn, "neg")


CONDITIONALS = {
    "r(x, y) :- e(x, y, if_1), y = if(if_1 > 0, 1, 2).":
        "r(x, y) :- e(x, y, if_1), (if_1 > 0, y = 1 ; !(if_1 > 0), y = 2).",
    "r(x, if(x = y, 1, 2)) :- e(x, y, if_1).":
        "r(x, if_2) :- e(x, y, if_1), (x = y, if_2 = 1 ; !(x = y), if_2 = 2).",
    "r(x, sum(if(r(y, _), y, 0))) :- e(x, y, _).":
        "r(x, sum(if_1)) :- e(x, y, _), (r(y, _), if_1 = y ; !( r(y, _) ), if_1 = 0).",
    "r(x, n) :- e(x, _, _), n = sum if((y > 0, y < 9), y, 0) : { e(x, y, _) }.":
        "r(x, n) :- e(x, _, _), n = sum if_1 : { e(x, y, _), "
        "(y > 0, y < 9, if_1 = y ; !( y > 0, y < 9 ), if_1 = 0) }.",
    "r(x, y) :- e(x, y, _), !r(x, if(x < y, x, y)).":
        "r(x, y) :- e(x, y, _), !( r(x, if_1), (x < y, if_1 = x ; !(x < y), if_1 = y) ).",
}  # fmt: skip


@pytest.mark.parametrize("text", CONDITIONALS)
def test_a_conditional_is_a_disjunction(text: str):
    assert parse(text) == parse(CONDITIONALS[text])
    assert parse(str(parse(text))) == parse(text)


def test_conditionals_in_python():
    made = b.rule(r(x, lftj.fn.if_((x > 0) & e(x, y, _), abs(x), y)), e(x, y, _))
    assert made == parse("r(x, if((x > 0, e(x, y, _)), abs(x), y)) :- e(x, y, _).").clauses[0]
    assert str(to_tree(lftj.fn.if_(x > 0, 1, 2))) == "if(x > 0, 1, 2)"
    assert hasattr(lftj.fn, "if_")
    with pytest.raises(TypeError):
        lftj.fn.if_(x > 0, 1)
