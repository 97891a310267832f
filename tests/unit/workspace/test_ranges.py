"""Ranges of floats and of unsigned numbers, and `ord` of numbers."""

from __future__ import annotations

import pytest

import lftj


def _values(rule: str) -> list[object]:
    ws = lftj.connect()
    ws.add_rules(
        ".decl e(a: float, b: float) e(0.5, 2.0). e(1.0, 1.0). .decl f(x: float) .decl u(x: "
        "unsigned) .decl n(x: number) u(3).\n" + rule
    )
    return sorted(value for name in ("f", "n") for (value,) in ws[name].fetchall())


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("f(x) :- x = range(0.5, 3.0).", [0.5, 1.5, 2.5]),
        ("f(x) :- x = range(3.0, 0.5).", [1.0, 2.0, 3.0]),
        ("f(x) :- x = range(0.0, 0.3, 0.1).", [0.0, 0.1, 0.2]),
        ("f(x) :- x = range(0.0, 0.4, 0.1).", [0.0, 0.1, 0.2, 0.1 + 0.1 + 0.1]),
        ("f(x) :- x = range(1.0, 0.0, -0.5).", [0.5, 1.0]),
        ("f(x) :- x = range(1.0, 2.0, -0.5).", []),
        ("f(x) :- x = range(1.0, 2.0, 0.0).", [1.0]),
        ("f(x) :- x = range(2.0, 2.0).", []),
        ("f(x) :- e(a, b), x = range(a, b, 0.5).", [0.5, 1.0, 1.5]),
        ("n(to_number(x)) :- x = range(0u, 3u).", [0, 1, 2]),
        ("n(to_number(x)) :- u(y), x = range(y, 0).", [1, 2, 3]),
        ("n(ord(x)) :- u(x). n(ord(-4)) :- true.", [-4, 3]),
    ],
)
def test_ranges(rule: str, values: list[object]):
    assert _values(rule) == values


@pytest.mark.parametrize(
    "ends",
    [
        "0.0, 1.0e9",
        "0.0, 1.0, 1.0e-9",
        "1.0e16, 1.0e17, 1.0",
        "9007199254740990.0, 9007199254740996.0",
    ],
)
def test_ranges_without_end_are_refused(ends: str):
    with pytest.raises(lftj.ValueRangeError, match="has more than"):
        _values(f"f(x) :- x = range({ends}).")
