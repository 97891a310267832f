"""Arithmetic that once gave wrong values."""

from __future__ import annotations

from decimal import Decimal

import pytest

import lftj
from lftj.errors import ValueRangeError

TOP = 2**63 - 1


@pytest.mark.parametrize(
    ("expression", "row"),
    [
        ("x * y", (4, 2**62)),
        ("x * y", (2**32, 2**32)),
        ("x * y", (-1, -TOP - 1)),
        ("(x + y) * 3", (2, 2**62)),
        ("x + x * y", (3, 2**62)),
        ("x + y", (TOP, 1)),
        ("x - y", (-TOP, 2)),
        ("-x", (-TOP - 1, 0)),
        ("x ^ y", (3, 40)),
    ],
)
def test_overflow_is_an_error_in_compiled_code_too(expression: str, row: tuple[int, int]):
    # The compiler may assume that integers do not overflow, and then drops a test that looks at the
    # result.
    workspace = lftj.connect()
    workspace.relation("n", {"x": int, "y": int})
    workspace.add_rules(f".decl r(z: number) r(z) :- n(x, y), z = {expression}.")
    with pytest.raises(ValueRangeError):
        workspace.load("n", [row])
    assert not workspace["n"]


def test_an_aggregate_may_be_compared_with_a_variable_that_an_atom_binds():
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl n(x: number) n(1). n(2). .decl r(x: number) r(x) :- n(x), x = max y : { n(y) }."
    )
    assert workspace["r"].fetchall() == [(2,)]


@pytest.mark.parametrize(
    ("type_", "value", "expression"),
    [
        ("date", 'date("9999-12-31")', "x + n"),
        ("date", 'date("0001-01-01")', "x - n"),
        ("timestamp", 'timestamp("9999-12-31 23:59:59.999999")', "x + n"),
        ("timestamp", 'timestamp("0001-01-01")', "x - n"),
        ("decimal(18,2)", 'decimal("5000000000000000.00")', "x + x"),
        ("decimal(18,0)", 'decimal("-999999999999999999")', "x - one"),
    ],
)
def test_a_value_that_its_type_could_not_show_is_an_error(type_: str, value: str, expression: str):
    # Codes have room for more than dates from year 1 to 9999 and decimals of 18 digits.
    workspace = lftj.connect()
    one = 'decimal("1")' if type_.endswith("0)") else value
    workspace.add_rules(
        f".decl r(x: {type_}) .decl v(x: {type_}, one: {type_}, n: number) r({expression}) :- v(x, "
        f"one, n), n > 0."
    )
    workspace.add_rules(f"v({value}, {one}, 0).")
    with pytest.raises(ValueRangeError):
        workspace.add_rules(f"v({value}, {one}, 1).")
    assert not workspace["r"]


@pytest.mark.parametrize(
    "rule",
    ["total(s) :- s = sum d : { n(_, d) }.", "total(sum(d)) :- n(_, d).", "total(d) :- n(_, d)."],
)
def test_a_decimal_that_is_too_long_for_its_column_is_an_error(rule: str):
    # Decimals of one scale have codes alike, so rules take them for one another; a sum has more
    # digits than what it adds.
    workspace = lftj.connect()
    workspace.add_rules(
        f".decl n(x: number, d: decimal(18, 2)) .decl total(s: decimal(6, 2)) {rule}"
    )
    workspace.load("n", [(1, Decimal("9999.00"))])
    before = workspace["total"].fetchall()
    with pytest.raises(
        ValueRangeError, match=r"total.s is decimal\(6,2\), and a rule derives (19999|10000)\.00"
    ) as caught:
        workspace.load("n", [(2, Decimal("10000.00"))])
    assert caught.value.code == "E220"
    assert "more digits" in (caught.value.hint or "")
    assert workspace["total"].fetchall() == before == [(Decimal("9999.00"),)]


@pytest.mark.parametrize("type_", ["date", "timestamp"])
def test_min_and_max_compare_dates_too(type_: str):
    # The table of operators was asked for dates as terms of a sum before it was asked for `min` and
    # `max`.
    workspace = lftj.connect()
    first, last = (f'{type_}("{day}")' for day in ("1969-12-31", "2013-01-31"))
    workspace.add_rules(f".decl n(x: {type_}, y: {type_}) n({first}, {last}). n({last}, {first}).")
    workspace.add_rules(
        f".decl r(x: {type_}, y: {type_}) r(min(x, y), max(x, y, {first})) :- n(x, y)."
    )
    assert workspace["r"].fetchall() == [min(workspace["n"].fetchall())]


@pytest.mark.parametrize("body", ["x > p, x = p * q", "x = p * q, z = x, z > p"])
def test_a_product_is_compared_with_its_places(body: str):
    # The comparison gave the variable the places of the column.
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl n(p: decimal(8,2), q: decimal(8,2)) .decl r(x: decimal(18,4))\n"
        f'n(decimal("0.50"), decimal("1.01")). n(decimal("0.50"), 1). r(x) :- n(p, q), {body}.'
    )
    assert workspace["r"].fetchall() == [(Decimal("0.5050"),)]
    assert workspace.verify() == []


def test_a_variable_that_an_equation_binds_keeps_its_places():
    program = """.decl n(x: decimal(8,4)) .decl m(x: decimal(8,2)) .decl r(x: decimal(8,2))
        r(z) :- n(x), z = x, !m(z)."""
    with pytest.raises(lftj.ProgramErrors, match=r"round\(…, 4\) of the other side is exact"):
        lftj.connect().add_rules(program)
