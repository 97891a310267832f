"""Compiled arithmetic on decimals and on the calendar agrees exactly with Python's own decimals and
dates.
"""

from __future__ import annotations

import datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj

RULES = """
.decl price(id: number, p: decimal(18,2), q: number)
.decl total(id: number, t: decimal(18,2))
.decl product(id: number, t: decimal(18,3))
.decl converted(id: number, f: float, n: number)
.decl rounded(id: number, none: decimal(18,0), one: decimal(18,1))
.decl more(id: number, four: decimal(18,4), of_int: decimal(18,1))
total(i, p * q) :- price(i, p, q).
product(i, p * decimal("0.3")) :- price(i, p, _).
converted(i, to_float(p), to_number(p)) :- price(i, p, _).
rounded(i, round(p, 0), round(p, 1)) :- price(i, p, _).
more(i, round(p, 4), round(q, 1)) :- price(i, p, q).
"""
SMALL = st.decimals(
    -(10**13) + 1, 10**13 - 1, places=2, allow_nan=False
)  # a thousand times as much fits
LARGE = st.integers(-(10**18) + 1, 10**18 - 1).map(lambda cents: Decimal(f"{cents}e-2"))


def priced(rows: list[tuple[int, Decimal, int]]) -> lftj.Workspace:
    """A workspace with the rules and these prices."""
    ws = lftj.connect()
    ws.add_rules(RULES)
    ws.load("price", rows)
    return ws


def places(value: Decimal | int, number: int) -> Decimal:
    """Rounded, halves away from zero."""
    with localcontext(prec=50):
        return Decimal(value).quantize(Decimal(1).scaleb(-number), ROUND_HALF_UP)


@given(st.lists(st.tuples(SMALL, st.integers(-1000, 1000)), min_size=1, max_size=8, unique=True))
@settings(max_examples=2 * settings().max_examples)
def test_products_and_roundings(values: list[tuple[Decimal, int]]):
    rows = [(number, *value) for number, value in enumerate(values)]
    ws = priced(rows[1:])
    ws.load("price", rows[:1])
    assert set(ws["total"].fetchall()) == {(i, p * q) for i, p, q in rows}
    assert set(ws["product"].fetchall()) == {(i, p * Decimal("0.3")) for i, p, _ in rows}
    assert set(ws["converted"].fetchall()) == {(i, float(p), int(p)) for i, p, _ in rows}
    assert set(ws["rounded"].fetchall()) == {(i, places(p, 0), places(p, 1)) for i, p, _ in rows}
    assert set(ws["more"].fetchall()) == {(i, places(p, 4), places(q, 1)) for i, p, q in rows}
    assert ws.verify() == []


@given(st.lists(LARGE, min_size=1, max_size=20))
@settings(max_examples=100)
def test_floats_of_long_decimals_are_correctly_rounded(values: list[Decimal]):
    ws = lftj.connect()
    ws.add_rules(
        ".decl d(x: decimal(18,2)) .decl f(x: decimal(18,2), y: float) f(x, to_float(x)) :- d(x)."
    )
    ws.load(
        "d",
        [
            (value,)
            for value in {*values, Decimal("90071992547409.93"), Decimal("-9007199254740993.00")}
        ],
    )
    for exact, found in ws["f"].fetchall():
        assert found == float(exact)


@pytest.mark.parametrize("scale", [0, 1, 9, 17, 18])
def test_floats_of_decimals_of_any_scale(scale: int):
    ws = lftj.connect()
    ws.add_rules(
        f".decl d(x: decimal(18,{scale})) .decl f(x: decimal(18,{scale}), y: float) f(x, "
        f"to_float(x)) :- d(x)."
    )
    codes = [
        1,
        7,
        2**53 - 1,
        2**53 + 1,
        10**18 - 1,
        3**36,
        123456789012345678,
        *(2**k + 2 ** (k - 53) for k in range(54, 60)),
    ]
    ws.load("d", [(Decimal(f"{sign}{code}e-{scale}"),) for code in codes for sign in ("", "-")])
    assert len(ws["f"]) == 2 * len(codes)
    assert all(found == float(exact) for exact, found in ws["f"].fetchall())


@pytest.mark.parametrize(
    "expression",
    ["p * q", "p * p", 'p * decimal("10.00")', "round(p, 5)", "round(q, 9)"],
)
def test_what_has_more_than_18_digits_is_an_error_and_changes_nothing(expression: str):
    ws = lftj.connect()
    ws.add_rules(
        f".decl price(p: decimal(16,2), q: number) .decl r(q: number) r(q) :- price(p, q), "
        f"{expression} > 0."
    )
    ws.load("price", [(Decimal("1.00"), 1)])
    with pytest.raises(lftj.ValueRangeError):
        ws.load("price", [(Decimal("99999999999999.99"), 10**12)])
    assert ws["r"].fetchall() == [(1,)]
    assert ws.verify() == []


EXAMPLES = [
    datetime.date.min,
    datetime.date.max,
    *(
        datetime.date(y, m, d)
        for y in (4, 1600, 1900, 1970, 2000, 2024)
        for m, d in ((2, 28), (3, 1))
    ),
]


def test_every_part_of_a_date():
    days = {
        datetime.date.fromordinal(number) for number in range(1, datetime.date.max.toordinal(), 97)
    } | {*EXAMPLES}
    days |= {datetime.date(year, 12, 31) for year in range(1, 10000, 7)} | {
        datetime.date(year, 2, 29) for year in range(4, 9999, 400)
    }
    ws = lftj.connect()
    ws.add_rules("""
        .decl d(x: date)
        .decl parts(x: date, y: number, m: number, d: number)
        parts(x, year(x), month(x), day(x)) :- d(x).
    """)
    ws.load("d", [(day,) for day in days])
    assert set(ws["parts"].fetchall()) == {(day, day.year, day.month, day.day) for day in days}


@given(st.lists(st.datetimes(), min_size=1, max_size=20, unique=True))
@settings(max_examples=30)
def test_every_part_of_a_timestamp(times: list[datetime.datetime]):
    ws = lftj.connect()
    t = ws.relation("t", {"x": datetime.datetime})
    parts = ws.view(
        "parts", {"x": datetime.datetime, "day": datetime.date, "y": int, "m": int, "d": int}
    )
    (x,) = lftj.vars("x")
    ws.add_rule(parts(x, lftj.to_date(x), lftj.year(x), lftj.month(x), lftj.day(x)) <= t(x))
    ws.load(t, [(time,) for time in times])
    ws.load(t, [(datetime.datetime.min,), (datetime.datetime.max,)])
    times += [datetime.datetime.min, datetime.datetime.max]
    assert set(ws["parts"].fetchall()) == {
        (time, time.date(), time.year, time.month, time.day) for time in times
    }


def test_years_and_roundings_move_with_the_least_value_of_a_cycle():
    ws = lftj.connect()
    ws.add_rules("""
        .decl hop(x: number, y: number, factor: decimal(4,2))
        .decl cost(x: number, c: decimal(18,2))
        cost(1, min(decimal("100.00"))) :- true.
        cost(y, min(round(c * decimal("1.05"), 2) + f)) :- cost(x, c), hop(x, y, f).
    """)
    ws.load(
        "hop",
        [
            (1, 2, Decimal("1.00")),
            (1, 3, Decimal("0.50")),
            (3, 2, Decimal("0.01")),
            (2, 1, Decimal("0.00")),
        ],
    )
    assert sorted(ws["cost"].fetchall()) == [
        (1, Decimal("100.00")),
        (2, Decimal("106.00")),
        (3, Decimal("105.50")),
    ]
    with ws.transaction() as tx:
        tx.delete("hop", [(1, 2, Decimal("1.00"))])
    assert sorted(ws["cost"].fetchall()) == [
        (1, Decimal("100.00")),
        (2, Decimal("110.79")),
        (3, Decimal("105.50")),
    ]
    assert ws.verify() == []
