"""Numbers in rules that are of the type their use asks for: what holds over `number` holds over
`unsigned` and `float`, and where constants and ranges alone bind a variable.
"""

from __future__ import annotations

import pytest

import lftj
from lftj.errors import ProgramErrors

DECLARED = """
.decl page(n: T)
.decl out(n: T)
.decl pair(a: T, b: T)
.decl text(t: symbol)
.decl f[x: T]: T
"""
FORMS = """
out(n + step) :- page(n), step = 2.
out(step) :- page(_), step = 2.
out(n + step) :- page(n), 2 = step.
out(n + a + b) :- page(n), a = 2, b = 3.
out(n + b) :- page(n), b = a, a = 2.
out(n + c) :- page(n), c = b, b = a, a = 2.
out(n + c) :- page(n), c = b + 1, b = 2.
out(n) :- page(n), a = 2, n > a.
out(n) :- page(n), a = 2, n != a.
out(a) :- a = 2, page(a).
out(n) :- page(n), a = 2, page(n + a).
out(n) :- page(n), a = 2, !page(n + a).
out(n) :- page(n), a = 5, !page(a).
out(n) :- n = range(3, 6).
out(n) :- n = range(3, 9, 2).
out(n) :- a = 3, b = 6, n = range(a, b).
out(n) :- page(p), n = range(p, 6).
out(n) :- page(p), n = range(0, p).
out(n + m) :- page(m), n = range(0, 3).
out(m) :- page(m), n = range(0, 3), n < m.
out(n) :- n = range(0, 5), page(n).
out(m) :- n = range(0, 5), m = n + 1.
out(m) :- n = range(0, 5), m = n * n.
out(m + 1) :- n = range(0, 5), m = n.
out(n) :- n = range(0, 5), !page(n).
out(range(0, 3)) :- page(_).
out(x) :- x = 2 + 3.
out(x * y) :- x = 2 + 6, y = 4, page(x).
out(max(n, a)) :- page(n), a = 2.
out(m) :- page(n), a = 2, m = max(a, n).
out(m) :- a = 2, b = 3, m = max(a, b).
out(s) :- s = sum 1 : { page(_) }.
out(s) :- s = sum x : { page(_), x = 2 }.
out(s) :- s = sum x * c : { page(x), c = 2 }.
out(s) :- c = 2, s = sum x * c : { page(x) }.
out(s) :- s = max x : { x = 3, page(_) }.
out(s + k) :- s = sum x : { page(x) }, k = 1.
out(k) :- k = 3, k < sum x : { page(x) }.
out(s) :- s = sum x : { x = range(0, 3) }.
out(s) :- page(n), s = max x : { x = range(0, 3), x < n }.
out(n) :- page(n), c = count : { page(_) }, c > 0.
out(x) :- ( x = 2 ; x = 3 ).
out(n + x) :- page(n), ( x = 2 ; x = 3 ).
out(x) :- ( page(x) ; x = 3 ).
out(x) :- ( x = 3 ; page(x) ).
out(y) :- ( x = 2 ; x = 3 ), y = x + 1.
out(y) :- ( x = 2 ; x = range(0, 3) ), y = x + 1.
out(y) :- page(n), ( x = 2, y = n + x ; y = n ).
out(n) :- page(n), ( x = 2, n > x ; n > 5 ).
out(n) :- page(n), !( page(m), k = 1, m > n + k ).
out(n) :- page(n), k = 1, !( page(m), m > n + k ).
out(sum(x)) :- page(_), x = 2.
out(sum(x * n)) :- page(n), x = 2.
out(max(x)) :- x = range(0, 4), page(x).
pair(x, y) :- page(x), y = 2.
pair(x, y) :- x = 1, y = x + 1.
out(as(x, T)) :- x = 2.
out(y) :- x = 2, y = as(x, T).
out(a) :- a = 0. out(n + k) :- out(n), k = 1, n < 5.
out(n + k) :- out(n), k = 1, m = 5, n < m. out(1).
out(n % k) :- page(n), k = 2.
out(n ^ k) :- page(n), k = 2.
out(k ^ n) :- n = 2, k = 3.
out(n / k) :- page(n), k = 2.
out(n band k) :- page(n), k = 2.
out(k bshl n) :- page(n), k = 1.
text(to_string(k)) :- k = 2, page(n), n > k.
out(n) :- page(n), l = strlen("ab"), l > 1.
out(x) :- m = max x : { page(x) }, k = 1, x = m.
out(x) :- x = 7.
f[x] = y :- page(x), y = 3.
out(v) :- x = 3, f[x] = v. f[3] = 4.
out(x), pair(x, x) :- x = 4.
out(n) :- page(n), a = 1, b = 2, a < b, n > a.
out(n) :- page(n), a = 1, b = 2, b > a, n > b.
out(n) :- page(n), a = 1, n * a < 3 * a + n.
out(n) :- page(n), a = 2, a = b, n > b.
out(n) :- n = range(0, 5), choice((), (n)).
out(k / m) :- k = 4, m = 2.
out(y) :- y = x / 2, x = 6.
out(n + k / m) :- page(n), k = 6, m = 3.
out(s) :- k = 2, s = sum x / k : { x = range(0, 9, 4) }.
""".strip().splitlines()
WHOLE = ("%", "/", "band", "bshl")
"""Operators that floats do not have, or that have other results there."""


def _rows(form: str, type: str, by: str) -> dict[str, list[tuple[object, ...]]]:
    pages = [(float(n) if type == "float" else n,) for n in (1, 2, 3, 8)]
    text = DECLARED.replace(": T", f": {type}") + form.replace("T", type)
    found = lftj.evaluate(text, {"page": pages}, by=by)
    return {name: sorted(map(tuple, rows)) for name, rows in found.items() if name != "page"}


@pytest.mark.parametrize("form", FORMS)
def test_a_rule_over_number_is_one_over_unsigned_and_float(form: str) -> None:
    expected = _rows(form, "number", "triejoin")
    assert any(expected.values())
    for type in ("unsigned", "float"):
        if (type == "float" and any(f"n {each} k" in form for each in WHOLE)) or "bshl" in form:
            continue
        for by in ("triejoin", "substitution"):
            assert _rows(form, type, by) == expected, (type, by)


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ("out(k / m) :- k = 1, m = 4.", [(0.25,)]),
        ("out(y) :- y = x / 2, x = 3.", [(1.5,)]),
        ("out(n) :- page(n), n < 3 / 2.", [(1.0,)]),
        ("out(s) :- k = 2, s = sum x / k : { x = range(0, 4) }.", [(3.0,)]),
        ("out(k ^ m) :- k = 2, m = -1.", [(0.5,)]),
        ("out(n) :- n = range(0, 1, 0.25), n > 0.5.", [(0.75,)]),
        ("out(x) :- x = 2, x < 2.5.", [(2.0,)]),
        ("out(as(x, float) / 4) :- x = 2.", [(0.5,)]),
        ("out(to_float(k / m)) :- k = 1, m = 2.", [(0.0,)]),
        ("out(m) :- m = mean x : { x = range(0, 4) }.", [(1.5,)]),
    ],
)
def test_what_stands_for_floats_is_computed_so(rule: str, rows: list[tuple[float]]) -> None:
    for by in ("triejoin", "substitution"):
        assert _rows(rule, "float", by)["out"] == rows, by


def test_proofs_of_such_rules_hold() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED.replace(": T", ": float"))
    workspace.add_rules("out(n + k / m) :- page(n), k = 1, m = 2, !page(k / m).")
    workspace.load("page", [(1.0,)])
    proof = workspace.explain("out", (1.5,))
    assert proof is not None
    lftj.check_proof(proof, {"page": [(1.0,)]})


MIXED = """
.decl i(n: number)
.decl u(n: unsigned)
.decl v(n: float)
.decl d(n: decimal(10, 2))
.decl t(n: date)
.decl hi(n: number)
.decl hv(n: float)
.decl hd(n: decimal(10, 2))
.decl ht(n: date)
"""


@pytest.mark.parametrize(
    "rule",
    [
        "hd(n + k) :- d(n), k = 2.",
        "hd(k) :- d(n), k = 2, n > k.",
        "hd(k) :- d(k), k = 2.",
        "hd(n * k) :- d(n), k = 2.",
        "hd(s) :- s = sum k : { d(_), k = 2 }.",
        "ht(n + k) :- t(n), k = 2.",
        "ht(e) :- t(n), e = n - k, k = 2.",
        "hi(e) :- t(n), t(m), e = n - m + k, k = 2.",
        "hi(k) :- t(n), t(m), n - m < k, k = 2.",
        "hi(to_number(k)), hv(k) :- k = 2.",
        'hd(k) :- k = decimal("0.50"), j = 2, d(k + j).',
    ],
)
def test_decimals_and_dates_have_their_own_arithmetic(rule: str) -> None:
    lftj.connect().add_rules(MIXED + rule)


@pytest.mark.parametrize(
    "rule",
    [
        "hi(k) :- k = 2, i(k), v(k).",
        "hi(n) :- k = 2, i(n), n > k, v(m), m > k.",
        "hv(k) :- k = 2, i(k).",
        "hi(k) :- k = 2, v(n), n < k.",
        "hv(n) :- n = range(0, 3), i(n).",
        "hi(k) :- k = 2.5.",
        "hi(k) :- k = 2, v(n), n < k + 1.",
        "hv(k + j) :- k = 2, j = 3, i(j).",
        "ht(k) :- k = 2.",
    ],
)
def test_one_number_is_of_one_type(rule: str) -> None:
    with pytest.raises(ProgramErrors) as caught:
        lftj.connect().add_rules(MIXED + rule)
    assert {error.code for error in caught.value.errors} == {"E130"}


BRANCHES = """
.decl i(n: number)
.decl u(n: unsigned)
.decl v(n: float)
.decl name(t: symbol)
.decl h(n: number)
.decl text(t: symbol)
.decl both(n: number, t: symbol)
i(3). u(4). v(2.5). name("a").
"""


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ("h(as(x, number)) :- ( i(x) ; u(x) ).", [(3,), (4,)]),
        ("h(as(x, number)) :- ( u(x) ; i(x) ).", [(3,), (4,)]),
        ("h(y) :- ( i(x) ; u(x) ), y = as(x, number), y > 3.", [(4,)]),
        ("h(as(x, number) + 1) :- ( i(x) ; u(x) ), x > 3.", [(5,)]),
        ("h(as(x, number)) :- ( i(x) ; u(x), v(z), z > 3.0 ).", [(3,)]),
        ("text(to_string(x)) :- ( i(x) ; v(x) ; name(x) ).", [("2.5",), ("3",), ("a",)]),
        ("both(n, to_string(x)) :- ( i(x) ; v(x) ), h(n).", [(7, "2.5"), (7, "3")]),
        ("h(n) :- ( i(x) ; v(x) ), n = to_number(x).", [(2,), (3,)]),
        ("h(count : { i(_) }) :- ( i(x) ; v(x) ), x > 2.", [(1,)]),
    ],
)
def test_branches_may_bind_a_variable_of_several_types(
    rule: str, rows: list[tuple[object]]
) -> None:
    relation = rule.partition("(")[0]
    given = "h(7). " if relation == "both" else ""
    for by in ("triejoin", "substitution"):
        assert sorted(lftj.evaluate(BRANCHES + given + rule, by=by)[relation]) == rows, by


def test_proofs_of_such_branches_hold() -> None:
    workspace = lftj.connect()
    workspace.add_rules(BRANCHES + "h(as(x, number) + 1) :- ( i(x) ; u(x) ), x > 3.")
    proof = workspace.explain("h", (5,))
    assert proof is not None
    lftj.check_proof(proof, {"i": [(3,)], "u": [(4,)]})
    assert workspace.why_not("h", (4,)) is not None
    with workspace.transaction() as tx:
        tx.delete("u", [(4,)])
    assert list(workspace["h"]) == []


@pytest.mark.parametrize(
    "rule",
    [
        "h(x) :- ( i(x) ; u(x) ).",
        "h(sum(as(x, number))) :- ( i(x) ; u(x) ).",
        "h(1) :- ( i(x) ; u(x) ), i(x).",
    ],
)
def test_a_variable_outside_of_branches_is_of_one_type(rule: str) -> None:
    with pytest.raises(ProgramErrors) as caught:
        lftj.connect().add_rules(BRANCHES + rule)
    assert {error.code for error in caught.value.errors} == {"E130"}
