"""One table of the functors at their edges: arguments, and the value or that there is none."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

FAILS = "no value"
"""Expected of arguments for which a functor has no value: an error."""

INF = math.inf
LEAST, MOST = -(2**63), 2**63 - 1
DAY, TIME = datetime.date, datetime.datetime


class Apart(NamedTuple):
    """An expectation that SQL need not meet: `docs/second-opinions.md` says so."""

    expected: Any


@dataclass(frozen=True)
class Case:
    """An expression over `a`, `b` and `c`, or a condition (`result` None), and what it comes to.
    `sql`: whether it can be said in SQL.
    """

    types: tuple[str, ...]
    expression: str
    result: str | None
    rows: Mapping[tuple[Any, ...], Any]
    sql: bool = True

    def __str__(self) -> str:
        return f"{self.expression} of {', '.join(self.types)}"


def _of(kind: str, expression: str, rows: Mapping[tuple[Any, ...], Any]) -> Case:
    many = len(next(iter(rows)))
    return Case((kind,) * many, expression, kind, rows)


_SHIFTED = ((1, 0), (1, 63), (1, 64), (1, 65), (1, -1), (-8, 1), (-8, 64), (-8, -1), (5, 2**62),
    (LEAST, 63), (MOST, 1), (1, 9007199254740993))  # fmt: skip
INTS = (
    _of("number", "a + b", {(1, 2): 3, (MOST, 0): MOST, (MOST, 1): FAILS, (LEAST, -1): FAILS}),
    _of("number", "a - b", {(1, 2): -1, (LEAST, 1): FAILS, (0, LEAST): FAILS, (-1, LEAST): MOST}),
    _of("number", "a * b", {(3, -4): -12, (2**62, 2): FAILS, (LEAST, -1): FAILS, (LEAST, 1): LEAST,
        (3037000500, 3037000500): FAILS}),
    _of("number", "a / b", {(7, 2): 3, (-7, 2): -3, (7, -2): -3, (-7, -2): 3, (1, 0): FAILS,
        (0, 0): FAILS, (LEAST, -1): FAILS, (LEAST, 1): LEAST, (MOST, -1): -MOST}),
    _of("number", "a % b", {(7, 3): 1, (-7, 3): -1, (7, -3): 1, (1, 0): FAILS, (LEAST, -1): 0,
        (LEAST, 2): 0, (LEAST, MOST): -1, (MOST, LEAST): MOST}),
    Case(("number", "number"), "a ^ b", "number", {(2, 10): 1024, (-2, 63): LEAST, (2, 63): FAILS,
        (1, 2**62): 1, (-1, MOST): -1, (0, 0): 1, (0, MOST): 0, (2, 2**62): FAILS, (2, -1): FAILS,
        (1, -1): FAILS, (10, 19): FAILS}, sql=False),
    _of("number", "a ^ 2", {(-3,): 9, (2**32,): FAILS, (LEAST,): FAILS}),
    _of("number", "-a", {(3,): -3, (MOST,): -MOST, (LEAST,): FAILS}),
    _of("number", "abs(a)", {(3,): 3, (-3,): 3, (0,): 0, (MOST,): MOST, (-MOST,): MOST,
        (LEAST,): FAILS}),
    _of("number", "abs(a - b) + abs(b)", {(3, 5): 7, (5, -3): 11, (MOST, -1): FAILS}),
    _of("number", "min(a, b, 5)", {(7, 9): 5, (LEAST, MOST): LEAST}),
    _of("number", "max(a, b, 5)", {(-7, 2): 5, (LEAST, MOST): MOST}),
    _of("number", "a bshl b", dict(zip(_SHIFTED,
        (1, LEAST, 1, 2, LEAST, -16, -8, 0, 5, 0, -2, 2), strict=True))),
    _of("number", "a bshr b", dict(zip(_SHIFTED,
        (1, 0, 1, 0, 0, -4, -8, -1, 5, -1, 2**62 - 1, 0), strict=True))),
    _of("number", "a bshru b", dict(zip(_SHIFTED,
        (1, 0, 1, 0, 0, 2**63 - 4, -8, 1, 5, 1, 2**62 - 1, 0), strict=True))),
    _of("number", "a band b", {(12, 10): 8, (-1, LEAST): LEAST}),
    _of("number", "a bor b", {(12, 10): 14, (1, LEAST): LEAST + 1}),
    _of("number", "a bxor b", {(12, 10): 6, (-1, LEAST): MOST}),
    _of("number", "bnot a", {(0,): -1, (LEAST,): MOST}),
    _of("number", "a land b", {(2, 3): 1, (LEAST, 0): 0}),
    _of("number", "a lor b", {(0, 0): 0, (LEAST, 0): 1}),
    _of("number", "a lxor b", {(5, 7): 0, (LEAST, 0): 1}),
    _of("number", "lnot a", {(0,): 1, (LEAST,): 0}),
    _of("number", "ord(a)", {(LEAST,): LEAST, (8,): 8}),
    _of("number", "as(a, number)", {(LEAST,): LEAST}),
    Case(("number",), "as(a, unsigned)", "unsigned", {(0,): 0, (MOST,): MOST, (-1,): FAILS}),
    Case(("number",), "to_unsigned(a)", "unsigned", {(0,): 0, (MOST,): MOST, (LEAST,): FAILS}),
    Case(("number",), "to_float(a)", "float", {(MOST,): 2.0**63, (LEAST,): -(2.0**63),
        (2**53 + 1,): 2.0**53}),
    Case(("number",), "to_string(a)", "symbol", {(LEAST,): str(LEAST), (0,): "0"}),
)  # fmt: skip
UNSIGNED = (
    _of("unsigned", "a - b", {(2, 1): 1, (1, 1): 0, (1, 2): FAILS}),
    _of("unsigned", "a + 1", {(0,): 1, (MOST,): FAILS}),
    _of("unsigned", "a * b", {(2**62, 1): 2**62, (2**62, 2): FAILS}),
    _of("unsigned", "a / b", {(7, 2): 3, (1, 0): FAILS}),
    _of("unsigned", "a % b", {(7, 2): 1, (MOST, 2): 1, (1, 0): FAILS}),
    _of("unsigned", "-a", {(0,): 0, (1,): FAILS}),
    _of("unsigned", "abs(a)", {(0,): 0, (MOST,): MOST}),
    _of("unsigned", "bnot a", {(0,): FAILS, (MOST,): FAILS}),
    _of("unsigned", "a bshl b", {(1, 62): 2**62, (1, 63): FAILS, (1, 64): 1, (3, 63): FAILS}),
    _of("unsigned", "a bshr b", {(MOST, 62): 1, (5, 64): 5}),
    _of("unsigned", "a bshru b", {(MOST, 62): 1, (5, 64): 5}),
    _of("unsigned", "min(a, 3)", {(1,): 1, (MOST,): 3}),
    Case(("unsigned",), "as(a, number)", "number", {(MOST,): MOST}),
    Case(("unsigned",), "to_number(a)", "number", {(0,): 0, (MOST,): MOST}),
    Case(("unsigned",), "to_string(a)", "symbol", {(MOST,): str(MOST)}),
)  # fmt: skip
FLOATS = (
    _of("float", "a + b", {(0.1, 0.2): 0.1 + 0.2, (1e308, 1e308): Apart(FAILS), (INF, 1.0): INF,
        (INF, -INF): Apart(FAILS), (-0.0, -0.0): 0.0}),
    _of("float", "a - b", {(1.0, 1.0): 0.0, (INF, INF): Apart(FAILS), (-1e308, 1e308):
        Apart(FAILS)}),
    _of("float", "a * b", {(-0.0, 3.0): 0.0, (1e300, 1e300): Apart(FAILS), (INF, 0.0):
        Apart(FAILS), (INF, -2.0): -INF, (5e-324, 0.5): 0.0}),
    _of("float", "a / b", {(1.0, 3.0): 1.0 / 3.0, (1.0, -0.0): FAILS,
        (1.0, INF): 0.0, (1e308, 1e-10): Apart(FAILS), (INF, INF): Apart(FAILS)}),
    _of("float", "a % b", {(7.5, 2.0): 1.5, (-7.5, 2.0): -1.5, (-2.0, 2.0): 0.0, (1.0, 0.0): FAILS,
        (INF, 2.0): Apart(FAILS), (3.0, INF): 3.0}),
    _of("float", "a ^ b", {(2.0, 0.5): 2.0**0.5, (0.0, 0.0): 1.0, (-8.0, 3.0): -512.0,
        (-8.0, 0.5): Apart(FAILS), (0.0, -1.0): Apart(FAILS), (10.0, 400.0): Apart(FAILS),
        (INF, -1.0): 0.0}),
    _of("float", "-a", {(0.0,): 0.0, (INF,): -INF, (1.5,): -1.5}),
    _of("float", "abs(a)", {(-0.0,): 0.0, (-INF,): INF, (INF,): INF, (-1.5,): 1.5,
        (-5e-324,): 5e-324}),
    _of("float", "min(a, 1) / 2", {(3.0,): 0.5, (-INF,): -INF}),
    _of("float", "max(a, b)", {(-0.0, 0.0): 0.0, (-INF, INF): INF}),
    _of("float", "a + 7 / 2", {(0.0,): 3.5}),
    Case(("float",), "to_number(a)", "number", {(2.9,): 2, (-2.9,): -2, (1e19,): FAILS,
        (-(2.0**63),): LEAST, (2.0**63,): FAILS, (INF,): FAILS}),
    Case(("float",), "to_unsigned(a)", "unsigned", {(2.9,): 2, (-0.5,): 0, (-1.0,): FAILS,
        (1e19,): FAILS}),
    Case(("float",), "to_string(a)", "symbol", {(1.0,): "1", (0.1,): "0.1", (-0.0,): "0",
        (1e-05,): "1e-05", (1e300,): "1e+300", (1e16,): Apart("10000000000000000")}),
)  # fmt: skip
_PRICE = "decimal(18,2)"
_WHOLE = "decimal(18,0)"
_NINES = Decimal("9" * 16 + ".99")
DECIMALS = (
    _of(_PRICE, "a + b", {(Decimal("0.10"), Decimal("0.25")): Decimal("0.35"),
        (_NINES, Decimal("0.01")): FAILS, (-_NINES, Decimal("-0.01")): FAILS}),
    _of(_PRICE, "a - b", {(_NINES, Decimal("-0.01")): FAILS, (_NINES, _NINES): Decimal("0.00")}),
    _of(_PRICE, "(a + b) - b", {(_NINES, Decimal("0.01")): FAILS, (_NINES, Decimal("0.00")):
        _NINES}),
    _of(_PRICE, "-a", {(_NINES,): -_NINES}),
    _of(_PRICE, "abs(a)", {(-_NINES,): _NINES, (Decimal("0.00"),): Decimal("0.00"),
        (Decimal("-0.01"),): Decimal("0.01")}),
    _of(_PRICE, "a * 3", {(Decimal("0.25"),): Decimal("0.75"), (_NINES,): FAILS}),
    Case((_PRICE, _PRICE), "a * b", "decimal(18,4)", {
        (Decimal("0.10"), Decimal("0.25")): Decimal("0.0250"),
        (Decimal("90000000.00"), Decimal("90000000.00")): FAILS}),
    _of(_PRICE, "round(a * b, 2)", {(Decimal("0.05"), Decimal("0.10")): Decimal("0.01"),
        (Decimal("-0.05"), Decimal("0.10")): Decimal("-0.01"),
        (Decimal("90000000.00"), Decimal("90000000.00")): FAILS}),
    Case((_PRICE,), "round(a, 4)", "decimal(18,4)", {(Decimal("0.12"),): Decimal("0.1200"),
        (_NINES,): FAILS}),
    Case((_PRICE,), "round(a, 0)", "decimal(18,0)", {(Decimal("0.50"),): Decimal(1),
        (Decimal("-0.50"),): Decimal(-1), (Decimal("0.49"),): Decimal(0)}),
    Case(("number",), "round(a, 1)", "decimal(18,1)", {(7,): Decimal("7.0"), (10**17,): FAILS,
        (MOST,): FAILS}),
    Case((_PRICE,), "to_string(min(a, 1))", "symbol", {(Decimal("3.00"),): "1.00",
        (Decimal("0.50"),): "0.50"}),
    Case((_PRICE,), "to_string(-a * 1)", "symbol", {(Decimal("0.00"),): "0.00"}),
    _of(_PRICE, 'round(a * (max(decimal("0.5"), 2) + (decimal("0.05") + 1)), 2)',
        {(Decimal("0.05"),): Decimal("0.15")}),
    _of(_PRICE, 'round(a * round(decimal("0.5") * (1 - decimal("0.05")), 2), 2)',
        {(Decimal("1.25"),): Decimal("0.60")}),
    Case((_PRICE,), "to_number(a)", "number", {(Decimal("-1.99"),): -1, (_NINES,): 10**16 - 1}),
    Case((_PRICE,), "to_unsigned(a)", "unsigned", {(Decimal("-0.99"),): 0, (Decimal("-1.00"),):
        FAILS, (_NINES,): 10**16 - 1}),
    Case((_PRICE,), "to_float(a)", "float", {(Decimal("0.10"),): 0.1, (_NINES,): float(_NINES)}),
)  # fmt: skip
_MORE = "decimal(10,4)"
SCALES = (
    Case((_PRICE, _MORE), "a < b", None, {(Decimal("1.00"), Decimal("1.0001")): True,
        (Decimal("1.01"), Decimal("1.0099")): False, (Decimal("1.00"), Decimal("1.0000")): False}),
    Case((_MORE, _PRICE), "a = b", None, {(Decimal("1.0050"), Decimal("1.01")): False,
        (Decimal("1.0100"), Decimal("1.01")): True}),
    Case((_PRICE,), 'a != decimal("1.005")', None, {(Decimal("1.01"),): True}),
    Case((_PRICE, "number"), 'a >= decimal("0.9") * b', None, {(Decimal("0.90"), 1): True,
        (Decimal("0.89"), 1): False}),
    Case((_PRICE, "number"), "a = b", None, {(Decimal("2.00"), 2): True,
        (Decimal("2.01"), 2): False}),
)  # fmt: skip
DATES = (
    Case(("date", "number"), "a + b", "date", {(DAY(2013, 1, 31), 1): DAY(2013, 2, 1),
        (DAY(9999, 12, 31), 0): DAY(9999, 12, 31), (DAY(9999, 12, 31), 1): FAILS,
        (DAY(1, 1, 1), -1): FAILS, (DAY(2013, 1, 1), 9 * 10**6): FAILS,
        (DAY(2013, 1, 1), 10**9): FAILS, (DAY(2013, 1, 1), MOST): FAILS,
        (DAY(2013, 1, 1), LEAST): FAILS}),
    Case(("date", "number"), "a - b", "date", {(DAY(1, 1, 2), 1): DAY(1, 1, 1),
        (DAY(1, 1, 1), 1): FAILS, (DAY(2013, 1, 1), LEAST): FAILS, (DAY(2013, 1, 1), MOST): FAILS}),
    Case(("date", "date"), "a - b", "number", {(DAY(9999, 12, 31), DAY(1, 1, 1)): 3652058,
        (DAY(1, 1, 1), DAY(9999, 12, 31)): -3652058}),
    Case(("timestamp", "number"), "a + b", "timestamp", {
        (TIME(2013, 1, 1), 1): TIME(2013, 1, 1, 0, 0, 0, 1), (TIME(9999, 12, 31, 23, 59, 59,
        999999), 1): FAILS, (TIME(2013, 1, 1), 9 * 10**17): FAILS, (TIME(2013, 1, 1), LEAST): FAILS,
        (TIME(2013, 1, 1), MOST): FAILS}),
    Case(("timestamp", "number"), "a - b", "timestamp", {
        (TIME(2013, 1, 1), 1): TIME(2012, 12, 31, 23, 59, 59, 999999), (TIME(1, 1, 1), 1): FAILS,
        (TIME(2013, 1, 1), LEAST): FAILS, (TIME(2013, 1, 1), MOST): FAILS}),
    Case(("timestamp", "number"), "a + hours(b)", "timestamp", {
        (TIME(2013, 1, 1), 3): TIME(2013, 1, 1, 3), (TIME(2013, 1, 1), -1): TIME(2012, 12, 31, 23),
        (TIME(9999, 12, 31, 23), 1): FAILS, (TIME(2013, 1, 1), MOST): FAILS,
        (TIME(2013, 1, 1), LEAST): FAILS, (TIME(1, 1, 1), -1): FAILS}),
    Case(("timestamp", "number"), "a - minutes(b)", "timestamp", {
        (TIME(2013, 1, 1), 1): TIME(2012, 12, 31, 23, 59), (TIME(1, 1, 1), 1): FAILS,
        (TIME(2013, 1, 1), 2**62): FAILS}),
    Case(("timestamp", "number"), "a + days(b) + hours(1)", "timestamp", {
        (TIME(2012, 2, 28), 1): TIME(2012, 2, 29, 1), (TIME(2013, 1, 1), 10**9): FAILS}),
    Case(("date", "number"), "a + days(b)", "date", {(DAY(2012, 2, 28), 2): DAY(2012, 3, 1),
        (DAY(9999, 12, 31), 1): FAILS, (DAY(2013, 1, 1), MOST): FAILS}),
    Case(("date", "number"), "a - days(b + 1)", "date", {(DAY(2012, 3, 1), 0): DAY(2012, 2, 29),
        (DAY(1, 1, 1), 0): FAILS, (DAY(2013, 1, 1), MOST): FAILS}),
    _of("number", "days(a) + hours(a) + minutes(1)", {(1,): 90_060_000_000, (0,): 60_000_000,
        (-1,): -89_940_000_000, (MOST,): FAILS, (2**55,): FAILS}),
    Case(("timestamp", "timestamp"), "a - b", "number", {
        (TIME(9999, 12, 31), TIME(1, 1, 1)): 315537811200000000}),
    Case(("date",), "year(a)", "number", {(DAY(1, 1, 1),): 1, (DAY(9999, 12, 31),): 9999}),
    Case(("timestamp",), "month(a)", "number", {(TIME(2012, 2, 29, 23, 59),): 2}),
    Case(("date",), "day(a)", "number", {(DAY(2012, 2, 29),): 29, (DAY(1900, 2, 28),): 28}),
    Case(("timestamp",), "to_date(a)", "date", {(TIME(1969, 12, 31, 23),): DAY(1969, 12, 31),
        (TIME(1, 1, 1),): DAY(1, 1, 1)}),
    Case(("timestamp",), "to_string(a)", "symbol", {(TIME(2013, 1, 1),): "2013-01-01 00:00:00",
        (TIME(2013, 1, 1, 0, 0, 0, 1),): "2013-01-01 00:00:00.000001"}),
    Case(("date",), "to_string(a)", "symbol", {(DAY(1, 1, 1),): "0001-01-01"}),
)  # fmt: skip
_NUMBERS: dict[tuple[Any, ...], Any] = {
    ("7",): 7, ("-12",): -12, ("+3",): 3, (" 7 ",): 7, ("007",): 7, (str(LEAST),): LEAST,
    (str(MOST),): MOST, ("0x1f",): Apart(31), ("-0x10",): Apart(-16), ("0XFF",): FAILS,
    ("0b101",): Apart(5), ("0b12",): FAILS, ("0x",): FAILS, ("",): FAILS, ("x",): FAILS,
    ("1_0",): FAILS, ("٣",): FAILS, ("1.0",): FAILS, ("- 1",): FAILS, ("--1",): FAILS,
    (str(MOST + 1),): FAILS, ("0x8000000000000000",): FAILS, ("9" * 500,): FAILS,
}  # fmt: skip
STRINGS = (
    Case(("symbol",), "to_number(a)", "number", _NUMBERS),
    Case(("symbol",), "to_unsigned(a)", "unsigned", {key: value for key, value in _NUMBERS.items()
        if "-" not in key[0]} | {("-1",): FAILS, ("-0",): 0}),
    Case(("symbol",), "to_float(a)", "float", {("1e3",): 1000.0, ("-0",): 0.0, (".5",): 0.5,
        ("5.",): 5.0, (" 1 ",): 1.0, ("nan",): FAILS, ("inf",): FAILS, ("1e999",): FAILS,
        ("1_0.5",): FAILS, ("٣",): FAILS, ("0x1p3",): FAILS, ("",): FAILS}, sql=False),
    Case(("symbol",), "strlen(a)", "number", {("",): 0, ("äß😀",): 3, ("e\u0301",): 2}),
    Case(("symbol", "symbol"), "cat(a, b)", "symbol", {("", ""): "", ("ä", "😀"): "ä😀"}),
    Case(("symbol", "symbol"), 'a + b + "x"', "symbol", {("", ""): "x", ("ä", "b"): "äbx"}),
    Case(("symbol", "number", "number"), "substr(a, b, c)", "symbol", {
        ("hello", 1, 3): "ell", ("hello", 3, 99): "lo", ("hello", 5, 1): "", ("hello", 9, 1): "",
        ("hello", -1, 2): "", ("hello", 1, -2): "", ("äß😀", 1, 1): "ß", ("", 0, 1): "",
        ("hello", 0, 0): "", ("hello", 1, 2**31): "ello", ("hello", 2**31, 1): ""}),
    Case(("symbol", "symbol"), "min(a, b)", "symbol", {("b", "ä"): "b", ("", "a"): "",
        ("\uffff", "😀"): "\uffff"}),
    Case(("symbol", "symbol"), "max(a, b)", "symbol", {("b", "ä"): "ä", ("", "a"): "a",
        ("\uffff", "😀"): "😀"}),
    Case(("bool",), "to_string(a)", "symbol", {(True,): "true", (False,): "false"}),
    Case(("symbol", "symbol"), "contains(a, b)", None, {("", ""): True, ("", "x"): True,
        ("ß", "äß😀"): True, ("x", ""): False}),
    Case(("symbol",), 'match("[[:digit:]]+", a)', None, {("12",): True, ("٣",): False,
        ("",): False}),
    Case(("symbol",), 'match("h.*o", a)', None, {("hello",): True, ("hello\n",): False,
        ("h\no",): False, ("othello",): False}),
    Case(("symbol",), r'match("[\\w.]+@\\d", a)', None, {("a.b@1",): True, ("ä@1",): False}),
)  # fmt: skip
NEW = (
    Case(("symbol",), "lower(a)", "symbol", {("ÄbC",): "äbc", ("",): "", ("İ",): Apart("i̇"),
        ("ΑΣ",): Apart("ας")}),
    Case(("symbol",), "upper(a)", "symbol", {("äbC",): "ÄBC", ("",): "", ("ß",): Apart("SS")}),
    Case(("symbol",), "trim(a)", "symbol", {(" \t\n\v\f\r a b\r\n ",): "a b", ("\u00a0a",):
        "\u00a0a", (" ",): "", ("",): ""}),
    Case(("symbol", "symbol", "symbol"), "replace(a, b, c)", "symbol", {("aaa", "aa", "b"): "ba",
        ("äß", "ß", "ss"): "äss", ("abc", "", "x"): "abc", ("", "a", "b"): "", ("abc", "b", ""):
        "ac"}),
    Case(("symbol",), 'replace(a, "aa", "b")', "symbol", {("aaa",): "ba", ("",): ""}),
    Case(("symbol", "symbol"), "starts_with(a, b)", None, {("", ""): True, ("ä", "äb"): True,
        ("b", "äb"): False, ("ab", "a"): False}),
    Case(("symbol", "symbol"), "ends_with(a, b)", None, {("", ""): True, ("b", "äb"): True,
        ("", "x"): True, ("ä", "äb"): False, ("ab", "b"): False}),
    Case(("symbol",), '!starts_with("ä", a)', None, {("äb",): False, ("",): True}),
    Case(("symbol",), '!ends_with("ä", a)', None, {("bä",): False, ("",): True}),
    Case(("timestamp",), "hour(a)", "number", {(TIME(1, 1, 1),): 0, (TIME(1969, 12, 31, 23, 59),):
        23, (TIME(9999, 12, 31, 5),): 5}),
    Case(("timestamp",), "minute(a)", "number", {(TIME(1, 1, 1),): 0,
        (TIME(1969, 12, 31, 23, 59, 59, 999999),): 59}),
    Case(("timestamp",), "weekday(a)", "number", {(TIME(1969, 12, 31, 23, 59),): 3,
        (TIME(1, 1, 1),): 1}),
    Case(("date",), "weekday(a)", "number", {(DAY(1970, 1, 1),): 4, (DAY(2024, 2, 29),): 4,
        (DAY(1, 1, 1),): 1, (DAY(9999, 12, 31),): 5, (DAY(2023, 1, 1),): 7}),
    _of("float", "floor(a)", {(1.5,): 1.0, (-1.5,): -2.0, (-0.0,): 0.0, (INF,): INF, (1e300,):
        1e300}),
    _of("float", "ceil(a)", {(1.5,): 2.0, (-0.5,): 0.0, (-INF,): -INF}),
    _of("float", "round(a)", {(0.5,): 1.0, (-2.5,): -3.0, (-0.4,): 0.0, (0.49999999999999994,): 0.0,
        (2.0**52 - 0.5,): 2.0**52, (INF,): INF, (-1e300,): -1e300}),
    _of("float", "round(a, 2)", {(2.675,): 2.68, (1.005,): 1.01, (-0.285,): -0.29, (1e-7,): 0.0,
        (2.0**52 - 0.5,): 2.0**52 - 0.5, (-INF,): -INF, (123456.7895,): 123456.79}),
    _of("float", "round(a, 18)", {(0.1,): 0.1, (4503599627370495.5,): 4503599627370495.5}),
    Case(("float",), "to_number(round(a))", "number", {(2.5,): 3, (-1e300,): FAILS}),
    Case((_PRICE,), "floor(a)", _WHOLE, {(Decimal("1.50"),): Decimal(1), (Decimal("-0.01"),):
        Decimal(-1), (_NINES,): Decimal("9" * 16), (Decimal("-2.00"),): Decimal(-2)}),
    Case((_PRICE,), "ceil(a)", _WHOLE, {(Decimal("1.01"),): Decimal(2), (Decimal("-0.99"),):
        Decimal(0), (_NINES,): Decimal(10**16), (Decimal("2.00"),): Decimal(2)}),
    Case((_PRICE,), "round(a)", _WHOLE, {(Decimal("1.50"),): Decimal(2), (Decimal("-2.50"),):
        Decimal(-3)}),
    Case(("number", "number", "number"), "date(a, b, c)", "date", {(2012, 2, 29): DAY(2012, 2, 29),
        (1, 1, 1): DAY(1, 1, 1), (9999, 12, 31): DAY(9999, 12, 31), (2013, 2, 29): FAILS,
        (2013, 13, 1): FAILS, (2013, 1, 0): FAILS, (0, 1, 1): FAILS, (10000, 1, 1): FAILS,
        (MOST, 1, 1): FAILS, (2013, LEAST, 1): FAILS}),
    _of("float", "sqrt(a)", {(4.0,): 2.0, (2.0,): math.sqrt(2.0), (-0.0,): 0.0, (INF,): INF,
        (-1.0,): Apart(FAILS)}),
    _of("float", "exp(a)", {(0.0,): 1.0, (1.0,): Apart(math.exp(1.0)), (-INF,): 0.0, (710.0,):
        Apart(FAILS), (-1000.0,): 0.0}),
    _of("float", "ln(a)", {(1.0,): 0.0, (10.0,): Apart(math.log(10.0)), (INF,): INF, (0.0,):
        Apart(FAILS), (-1.0,): Apart(FAILS)}),
    Case(("float",), "sqrt(4) + a", "float", {(1.0,): 3.0}),
)  # fmt: skip
RANGES = (
    Case(("number", "number"), "range(a, b)", "number", {(0, 3): [0, 1, 2], (3, 0): [3, 2, 1],
        (4, 4): [], (MOST - 1, MOST): [MOST - 1]}),
    Case(("number", "number", "number"), "range(a, b, c)", "number", {(0, 7, 3): [0, 3, 6],
        (0, 7, -1): [], (4, 7, 0): [4], (4, 4, 0): [], (7, 0, -3): [7, 4, 1]}),
    Case(("unsigned", "unsigned"), "range(a, b)", "unsigned", {(2, 0): [2, 1], (0, 2): [0, 1]}),
    Case(("float", "float", "float"), "range(a, b, c)", "float", {(0.0, 0.3, 0.1): [0.0, 0.1, 0.2],
        (1.0, 0.0, -0.5): [1.0, 0.5], (1.0, 2.0, 0.0): [1.0], (1.0, 2.0, -1.0): [],
        (0.0, 1.0, 1e-300): FAILS, (1e300, 2e300, 1.0): FAILS}, sql=False),
    Case(("number", "number"), "range(a, b) ", "number", {(0, 2**62): Apart(FAILS)}),
)  # fmt: skip
CONDITIONALS = (
    _of("number", "if(b != 0, a / b, 0)", {(7, 2): 3, (1, 0): 0, (LEAST, 0): 0,
        (LEAST, -1): FAILS}),
    _of("number", "if(a > 9, a - 1, a + 1)", {(MOST,): MOST - 1, (9,): 10, (LEAST,): LEAST + 1}),
    _of("number", "if(a < b, a, b) + if(a > b, if(b != 0, a / b, 0), b % 3)", {(7, 2): 5,
        (4, 0): 0, (2, 7): 3, (MOST, MOST): FAILS}),
    _of("number", "if((a != 0, b / a > 1), b / a, if((a = 0 ; b = 0), -1, 0))", {(2, 5): 2,
        (0, 5): Apart(-1), (5, 2): 0, (3, 0): -1, (-1, LEAST): Apart(FAILS)}),
    _of("unsigned", "if(a >= b, a - b, b - a)", {(5, 2): 3, (2, 5): 3, (MOST, 0): MOST}),
    _of("float", "if(a >= 0, sqrt(a), -1)", {(4.0,): 2.0, (-1.0,): -1.0, (INF,): INF}),
    Case(("symbol",), 'if(match("-?[0-9]{1,9}", a), to_number(a), -1)', "number",
        {("12",): 12, ("x",): -1, ("",): -1, ("-7",): -7}),
    Case(("symbol",), 'if(!match("a+", a), "no", a + a)', "symbol", {("aa",): "aaaa", ("",): "no"}),
    Case(("date", "number"), "if(b < 100000, a + days(b), a)", "date", {
        (DAY(2012, 2, 28), 1): DAY(2012, 2, 29), (DAY(2012, 2, 28), MOST): DAY(2012, 2, 28),
        (DAY(9999, 12, 31), 1): FAILS}),
)  # fmt: skip

CASES = (
    *INTS, *UNSIGNED, *FLOATS, *DECIMALS, *SCALES, *DATES, *STRINGS, *NEW, *RANGES, *CONDITIONALS,
)  # fmt: skip
