"""Arithmetic on constants: exact, or an error."""

from __future__ import annotations

import datetime
import decimal
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import ValueRangeError
from lftj.program.arithmetic import evaluate, holds
from lftj.types import DATE, FLOAT, INT, INT64_MAX, INT64_MIN, TIMESTAMP, Type
from lftj.types import decimal as decimal_type

D, T = datetime.date, datetime.datetime

CASES = [
    ("/", (7, 2), INT, 3), ("/", (-7, 2), INT, -3), ("/", (7, -2), INT, -3),
    ("/", (-7, -2), INT, 3),
    ("%", (7, 3), INT, 1), ("%", (-7, 3), INT, -1), ("%", (7, -3), INT, 1),
    ("%", (-7.5, 2.0), FLOAT, -1.5),
    ("^", (2, 10), INT, 1024), ("^", (-2, 63), INT, INT64_MIN), ("^", (1, 10**18), INT, 1),
    ("^", (2.0, 0.5), FLOAT, 2.0**0.5),
    ("neg", (3,), INT, -3), ("neg", (0.0,), FLOAT, 0.0), ("min", (2, 3), INT, 2),
    ("max", (2.5, 3.5), FLOAT, 3.5),
    ("band", (12, 10), INT, 8), ("bor", (12, 10), INT, 14), ("bxor", (12, 10), INT, 6),
    ("bnot", (0,), INT, -1),
    ("lxor", (5, 0), INT, 1), ("lxor", (5, 7), INT, 0),
    ("bshl", (1, 63), INT, INT64_MIN), ("bshl", (1, 64), INT, 1), ("bshr", (-8, 1), INT, -4),
    ("bshru", (-1, 63), INT, 1),
    ("land", (2, 3), INT, 1), ("land", (2, 0), INT, 0), ("lor", (0, 3), INT, 1),
    ("lnot", (5,), INT, 0), ("lnot", (0,), INT, 1),
    ("to_float", (3,), FLOAT, 3.0), ("to_int", (-2.9,), INT, -2),
    ("+", (D(2013, 1, 31), 1), DATE, D(2013, 2, 1)), ("-", (D(2013, 3, 1), D(2013, 2, 1)), INT, 28),
    ("-", (D(2013, 1, 1), 1), DATE, D(2012, 12, 31)),
    ("+", (T(2013, 1, 1), 10**6), TIMESTAMP, T(2013, 1, 1, 0, 0, 1)),
    ("-", (T(2013, 1, 2), T(2013, 1, 1)), INT, 86_400_000_000),
    ("+", (decimal.Decimal("0.10"), decimal.Decimal("0.25")), decimal_type(18, 2),
        decimal.Decimal("0.35")),
    ("*", (decimal.Decimal("0.10"), decimal.Decimal("0.25")), decimal_type(18, 4),
        decimal.Decimal("0.0250")),
    ("*", (3, decimal.Decimal("0.25")), decimal_type(18, 2), decimal.Decimal("0.75")),
    ("round", (decimal.Decimal("0.125"), 2), decimal_type(18, 2), decimal.Decimal("0.13")),
    ("round", (decimal.Decimal("-0.125"), 2), decimal_type(18, 2), decimal.Decimal("-0.13")),
    ("round", (decimal.Decimal("-0.5"), 3), decimal_type(18, 3), decimal.Decimal("-0.500")),
    ("round", (7, 1), decimal_type(18, 1), decimal.Decimal("7.0")),
    ("to_float", (decimal.Decimal("123456789012345.678"),), FLOAT, 123456789012345.678),
    ("to_int", (decimal.Decimal("-1.99"),), INT, -1),
    ("year", (D(1, 1, 1),), INT, 1), ("month", (T(2012, 2, 29, 23),), INT, 2),
    ("day", (D(2012, 2, 29),), INT, 29),
    ("to_date", (T(1969, 12, 31, 23),), DATE, D(1969, 12, 31)),
]  # fmt: skip

FAILURES = [
    ("+", (INT64_MAX, 1), INT, "E220"), ("*", (2**62, 2), INT, "E220"),
    ("neg", (INT64_MIN,), INT, "E220"),
    ("/", (INT64_MIN, -1), INT, "E220"),
    ("^", (10, 10**9), INT, "E220"), ("^", (2, -1), INT, "E222"), ("/", (1, 0), INT, "E221"),
    ("%", (1, 0), INT, "E221"),
    ("/", (1.0, 0.0), FLOAT, "E221"), ("%", (1.0, 0.0), FLOAT, "E221"),
    ("*", (1e300, 1e300), FLOAT, "E220"),
    ("^", (-8.0, 0.5), FLOAT, "E222"),
    ("^", (10.0, 400.0), FLOAT, "E220"), ("to_int", (1e19,), INT, "E220"),
    ("+", (D(9999, 12, 31), 1), DATE, "E220"),
    ("+", (decimal.Decimal("9" * 16 + ".99"), decimal.Decimal("1.00")), decimal_type(18, 2),
        "E220"),
    ("*", (decimal.Decimal("9" * 16 + ".99"), 2), decimal_type(18, 2), "E220"),
    ("round", (10**17, 1), decimal_type(18, 1), "E220"),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "values", "type", "expected"), CASES)
def test_value(operator: str, values: tuple[object, ...], type: Type, expected: object):
    found = evaluate(operator, values, type)
    assert found == expected
    assert found.__class__ is expected.__class__
    assert str(found) == str(expected)


@pytest.mark.parametrize(("operator", "values", "type", "code"), FAILURES)
def test_failure(operator: str, values: tuple[object, ...], type: Type, code: str):
    with pytest.raises(ValueRangeError) as caught:
        evaluate(operator, values, type)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("operator", "value", "type", "written"),
    [("to_int", 1e30, INT, "to_number(1e+30)"), ("neg", INT64_MIN, INT, f"-({INT64_MIN})")],
)
def test_failures_name_operations_as_rules_write_them(
    operator: str, value: object, type: Type, written: str
):
    with pytest.raises(ValueRangeError, match=re.escape(f"{written} is outside the range of int")):
        evaluate(operator, (value,), type)


@pytest.mark.parametrize(
    "context", [decimal.Context(prec=3), decimal.Context(prec=3, traps=[decimal.Inexact])]
)
def test_decimals_are_exact_whatever_the_context_of_the_caller(context: decimal.Context):
    price, cent = decimal.Decimal("12345.67"), decimal.Decimal("0.01")
    with decimal.localcontext(context):
        found = [
            evaluate("+", (price, cent), decimal_type(18, 2)),
            evaluate("neg", (price,), decimal_type(18, 2)),
        ]
    assert found == [decimal.Decimal("12345.68"), decimal.Decimal("-12345.67")]


integers = st.integers(INT64_MIN, INT64_MAX)


@given(integers, integers)
def test_quotient_and_remainder_belong_together(left: int, right: int):
    if right == 0 or (left, right) == (INT64_MIN, -1):
        return
    quotient, rest = evaluate("/", (left, right), INT), evaluate("%", (left, right), INT)
    assert isinstance(quotient, int)
    assert isinstance(rest, int)
    assert quotient * right + rest == left
    assert abs(rest) < abs(right)
    assert rest == 0 or (rest < 0) == (left < 0)


@given(integers, integers)
def test_comparisons_are_total(left: int, right: int):
    assert [holds(each, left, right) for each in ("<", "=", ">")].count(True) == 1
    assert holds("<=", left, right) is not holds(">", left, right)
    assert holds(">=", left, right) is not holds("<", left, right)
    assert holds("!=", left, right) is not holds("=", left, right)
