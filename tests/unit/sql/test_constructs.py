"""Each construct of the language: the engine and DuckDB find the same rows."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

import lftj

EDGES = {"e": [(1, 2), (2, 3), (3, 1), (3, 4), (1, 4)]}
INTEGERS = [
    (7, 2), (-7, 2), (7, -2), (-7, -2), (2**62, 3), (1 - 2**63, 1), (5, 0), (3, 63), (-1, 1),
]  # fmt: skip
TEXTS = [("abc", 3), ("it's", 1), ("é\\n", 2), ("12", 5), ("-7", 6), ("", 7), ("xb", 8)]
MOMENTS = [
    (datetime.date(2020, 2, 28), datetime.datetime(2021, 1, 1, 5, 6, 7, 123), 3),
    (datetime.date(1969, 12, 31), datetime.datetime(1960, 1, 1), -40),
]
MONEY = [
    (Decimal("1.25"), Decimal("2.50"), 1.5),
    (Decimal("-1.25"), Decimal("0.10"), -2.75),
    (Decimal("10.00"), Decimal("3.00"), 100000.0),
]

CASES: dict[str, tuple[str, dict[str, list[tuple[Any, ...]]]]] = {
    "choice in recursion": (
        """
        .decl edge(x: symbol, y: symbol)
        .decl parent(child: symbol, parent: symbol) choice-domain child
        parent("a", "").
        parent(y, x) :- parent(x, _), edge(x, y).
        """,
        {"edge": [tuple("ab"), tuple("ac"), tuple("bd"), tuple("cd"), tuple("da"), tuple("de")]},
    ),
    "choice of a rule": (
        """
        .decl likes(x: symbol, y: symbol)
        .decl one(x: symbol, y: symbol)
        one(x, y) :- likes(x, y), choice((x), (y)).
        .decl first(x: symbol)
        first(x) :- likes(x, _), choice((), (x)).
        """,
        {"likes": [("a", "b"), ("a", "a"), ("b", "z"), ("b", "é"), ("c", "~")]},
    ),
    "choice among candidates of several rules": (
        """
        .decl c(x: number, y: number) choice-domain x
        .decl e(x: number, y: number)
        c(x, y) :- e(x, y).
        c(y, x) :- e(x, y).
        """,
        EDGES,
    ),
    "choice among given rows": (
        """
        .decl c(x: number, y: number) choice-domain x
        .decl v(x: number)
        v(y) :- c(_, y).
        """,
        {"c": [(1, 2), (1, 1), (3, 1), (3, 0)]},
    ),
    "best values in a cycle": (
        """
        .decl e(x: number, y: number, c: number)
        .decl d(x: number, c: number)
        d(1, min(0)) :- e(1, _, _).
        d(y, min(c + w)) :- d(x, c), e(x, y, w).
        .decl far(m: number)
        far(max(c)) :- d(_, c).
        """,
        {"e": [(1, 2, 5), (1, 3, 1), (3, 2, 1), (2, 4, 1), (4, 1, 1)]},
    ),
    "relations in one cycle": (
        """
        .decl e(x: number, y: number)
        .decl odd(x: number, y: number)
        .decl even(x: number, y: number)
        odd(x, y) :- e(x, y).
        odd(x, z) :- even(x, y), e(y, z).
        even(x, z) :- odd(x, y), e(y, z).
        """,
        EDGES,
    ),
    "recursion that is not linear": (
        """
        .decl e(x: number, y: number)
        .decl t(x: number, y: number)
        t(x, y) :- e(x, y).
        t(x, z) :- t(x, y), t(y, z).
        t(x, y) :- t(y, x), e(x, _), !e(y, x).
        """,
        EDGES,
    ),
    "rows of a view's own": (
        """
        .decl e(x: number, y: number)
        .decl r(x: number, y: number)
        r(x, y) :- e(x, y).
        r(x, z) :- r(x, y), e(y, z).
        r(9, 1).
        """,
        {**EDGES, "r": [(0, 1)]},
    ),
    "unsigned numbers and bits": (
        """
        .decl u(a: unsigned, b: unsigned)
        .decl i(a: number, b: number)
        .decl r(a: unsigned, b: unsigned)
        r(a + b, a * b) :- u(a, b).
        .decl s(a: number, b: number, c: number, d: number, e: number, f: number)
        s(a, a band b, a bor b, a bxor b, bnot a, -a) :- i(a, b).
        .decl t(a: number, b: number, c: number, d: number)
        t(a, a bshl b, a bshr b, a bshru b) :- i(a, b), b >= 0.
        .decl w(a: number, b: number)
        w(a / b, a % b) :- i(a, b), b != 0.
        .decl x(a: number, b: number)
        x(a land b, a lxor b) :- i(a, b).
        x(a lor b, lnot a) :- i(a, b).
        .decl y(a: number)
        y(a ^ 3) :- i(a, _), a < 100, a > -100.
        """,
        {"u": [(1, 2), (5, 3)], "i": INTEGERS},
    ),
    "strings": (
        """
        .decl s(a: symbol, n: number)
        .decl r(a: symbol, l: number, p: symbol)
        r(cat(a, "-", to_string(n)), strlen(a), substr(a, 1, 2)) :- s(a, n).
        .decl m(a: symbol)
        m(a) :- s(a, _), match("[a-c]+", a).
        m(cat("no ", a)) :- s(a, _), !match("a.*", a), !contains("x", a).
        .decl c(a: symbol)
        c(a) :- s(a, _), contains("b", a).
        .decl n(x: number)
        n(to_number(a)) :- s(a, _), match("-?[0-9]+", a).
        .decl all(t: symbol)
        all(concat(a, ",", n)) :- s(a, n).
        .decl g(x: symbol, y: symbol)
        g(min(a, b), max(a, b)) :- s(a, x), s(b, y), x < y.
        """,
        {"s": TEXTS},
    ),
    "dates and timestamps": (
        """
        .decl d(a: date, t: timestamp, n: number)
        .decl r(a: date, b: date, t: timestamp, k: number, y: number, m: number, w: number)
        r(a + n, a - n, t + n, a - to_date(t), year(a), month(a), day(t)) :- d(a, t, n).
        .decl q(x: number)
        q(t - u) :- d(_, t, _), d(_, u, _).
        .decl s(x: symbol, y: symbol)
        s(to_string(a), to_string(t)) :- d(a, t, _).
        """,
        {"d": MOMENTS},
    ),
    "decimals and floats": (
        """
        .decl d(a: decimal(8,2), b: decimal(6,2), f: float)
        .decl r(x: decimal(10,2), y: decimal(14,4), z: decimal(8,1), g: float, s: symbol)
        r(a + b, a * b, round(a, 1), to_float(a) * f, to_string(a)) :- d(a, b, f).
        .decl t(x: decimal(18,2), m: float, k: decimal(8,2))
        t(sum(a), mean(a), min(a)) :- d(a, _, _).
        .decl u(x: number, s: symbol)
        u(to_number(f), to_string(f)) :- d(_, _, f).
        """,
        {"d": MONEY},
    ),
    "ranges": (
        """
        .decl e(a: number, b: number)
        .decl r(a: number, x: number)
        r(a, x) :- e(a, b), x = range(a, b).
        .decl q(a: number, x: number)
        q(a, x) :- e(a, b), x = range(a, b, 2).
        """,
        {"e": [(1, 4), (4, 1), (2, 2)]},
    ),
    "disjunctions that bind variables": (
        """
        .decl e(a: number)
        .decl r(a: number, x: number)
        r(a, x) :- e(a), (x = 1 ; x = a + 1 ; e(x), x > 2).
        .decl c(n: number)
        c(count()) :- e(a), (x = 1 ; x = 2 ; e(x)), x <= a.
        .decl v(n: number)
        v(count()) :- e(a), (e(b), b > 1 ; b = 7).
        """,
        {"e": [(1,), (2,), (3,)]},
    ),
    "bodies in bodies": (
        """
        .decl e(a: number, b: number)
        .decl r(a: number, n: number)
        r(a, n) :- e(a, _), n = sum m : { e(a, b), m = count : { e(b, _) } }.
        .decl s(a: number)
        s(a) :- e(a, _), !( e(a, b), !( e(b, _) ) ).
        .decl k(a: number, m: number)
        k(a, m) :- e(a, _), m = max b : { e(a, b) ; e(b, a) }.
        .decl o(a: number)
        o(m) :- m = min a : { e(a, 99) }.
        """,
        EDGES,
    ),
    "relations without columns": (
        """
        .decl f()
        .decl g()
        .decl e(x: number)
        .decl h(x: number)
        g() :- f(), e(_).
        h(x) :- e(x), g().
        h(7) :- !g().
        """,
        {"f": [()], "e": [(1,)]},
    ),
    "an aggregate in a negation that reads nothing else": (
        """
        .decl node(x: number)
        .decl edge(x: number, y: number)
        .decl word(x: symbol, y: symbol)
        .decl out(x: number)
        .decl in(x: number)
        out(x) :- node(x), m = count : { word("a", "a") }, !(edge(m, i), edge(i, i)).
        in(x) :- node(x), m = count : { word("a", "a") }, (edge(m, i), edge(i, i) ; node(9)).
        """,
        {"node": [(0,)], "edge": [(0, 1), (0, 2), (0, 0), (1, 0), (1, 1), (0, 3)]},
    ),
    "branches with variables of their own": (
        """
        .decl e(x: number, y: number)
        .decl n(x: number)
        .decl v(x: number, w: number)
        .decl c(x: number)
        v(x, w) :- (e(j, x), w = -y ; e(y, x), w = x + w), e(y, x), (n(w) ; e(i, 0), w = i ; w = y).
        c(m) :- n(x), m = count : { (n(i), e(i, k) ; e(j, x)) }.
        """,
        {"n": [(0,), (1,), (-1,)], "e": [(0, 1), (1, 0), (1, 1), (2, 0), (-1, 0)]},
    ),
    "branches that join almost the same": (
        """
        .decl edge(x: number, y: number)
        .decl tri(x: number, y: number, z: number)
        .decl weight(x: number, y: number)
        .decl event(x: number)
        .decl v(x: number, y: number)
        v(w, w), v(2, x) :-
            (weight(i, j), w = i band j ; weight(_, x), event(i), x != i, w = 1 band i),
            event(x), (edge(x, 0) ; tri(i1, i1, _), edge(i1, x)).
        """,
        {
            "edge": [(1, 1), (2, 0), (2, 2)],
            "tri": [(0, 2, 1), (3, 0, 1), (1, 1, 2)],
            "weight": [(0, 0), (1, 2), (2, 1), (3, 1), (2, 0), (0, 1), (2, 2), (2, 3)],
            "event": [(1,), (3,), (0,)],
        },
    ),
    "names that SQL has words for": (
        """
        .decl Order(From: number, to: number)
        .decl order(select: number, Select: number)
        order(x, y) :- Order(x, y).
        order(x, z) :- order(x, y), Order(y, z).
        """,
        {"Order": [(1, 2), (2, 3)]},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_duckdb_finds_the_rows_of_the_engine(case: str) -> None:
    program, facts = CASES[case]
    ours = lftj.evaluate(program, facts)
    theirs = lftj.evaluate(program, facts, by="sql-duckdb")
    for name, rows in ours.items():
        assert sorted(theirs[name].fetchall()) == sorted(rows.fetchall()), name
        assert theirs[name].types == rows.types


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        ("v(x * 4611686018427387904) :- e(x, _).", lftj.ValueRangeError),
        ("v(x / (y - 2)) :- e(x, y).", lftj.ValueRangeError),
        ("v(to_number(cat(to_string(x), \"x\"))) :- e(x, _).", lftj.ValueRangeError),
    ],
)  # fmt: skip
def test_values_that_leave_their_type_are_errors(rule: str, error: type[Exception]) -> None:
    program = f".decl e(x: number, y: number) .decl v(x: number) {rule}"
    with pytest.raises(error):
        lftj.evaluate(program, EDGES, by="sql-duckdb")


def test_an_unsigned_difference_below_zero_is_an_error() -> None:
    program = ".decl a(x: unsigned) .decl d(x: unsigned) d(x - y) :- a(x), a(y)."
    with pytest.raises(lftj.ValueRangeError, match="below zero"):
        lftj.evaluate(program, {"a": [(3,), (5,)]}, by="sql-duckdb")


def test_a_function_with_two_values_is_an_error() -> None:
    program = ".decl e(x: number, y: number) .decl F[x: number]: number F[x] = y :- e(x, y)."
    with pytest.raises(lftj.KeyViolationError, match="`F`"):
        lftj.evaluate(program, EDGES, by="sql-duckdb")
