# SPDX-License-Identifier: Apache-2.0
"""Aggregates of the values of one group."""

from __future__ import annotations

import decimal
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from lftj.proofs.kinds import EXACT, ArithmeticFailure, Value, held

Arguments = Sequence[tuple[Value, ...]]
UserFold = Callable[[Arguments], Value]


def _sum(values: list[Value]) -> Value:
    if infinite := {value for value in values if isinstance(value, float) and math.isinf(value)}:
        return sum(infinite)
    if any(isinstance(value, float) for value in values):
        return _rounded(sum(Fraction(value) for value in values))
    with decimal.localcontext(EXACT):
        return sum(values[1:], values[0])


def _rounded(total: Fraction | int) -> float:
    """The float nearest to an exact total: what `math.fsum` gives, but without its trouble with
    great parts that cancel.
    """
    try:
        return float(total)
    except OverflowError:
        raise ArithmeticFailure("a sum beyond the greatest float") from None


def _mean(values: list[Value]) -> float:
    total = _sum(values)
    if isinstance(total, decimal.Decimal):
        return float(Fraction(total) / len(values))
    return total / len(values)


def _deviation(values: list[Value]) -> float | None:
    """The square root of the exact variance, rounded once; None for a single value."""
    if len(values) < 2:
        return None
    if any(isinstance(value, float) and math.isinf(value) for value in values):
        raise ArithmeticFailure("the deviation of an infinite number")
    try:
        return float(statistics.stdev([Fraction(value) for value in values]))
    except OverflowError:
        raise ArithmeticFailure("a deviation beyond the greatest float") from None


def _concatenation(rows: Arguments) -> str:
    """Rows are (text, separator, order keys…): ascending by the keys, then by the text."""
    ordered = sorted(rows, key=lambda row: (row[2:], row[0]))
    separator = str(rows[0][1]) if len(rows[0]) > 1 else ""
    return separator.join(str(row[0]) for row in ordered)


def _sorted_by_keys(rows: list[tuple[Value, ...]]) -> list[tuple[Value, ...]]:
    return sorted(rows, key=lambda row: (row[1:], row[0]))


def _share(rows: list[tuple[Value, ...]]) -> Fraction:
    """The share as it is written: of 0.1 a tenth."""
    return Fraction(str(rows[0][1]))


def _quantile(values: list[Value], share: Fraction) -> Value:
    """Value at a share of the way from the first one to the last, exactly, then rounded."""
    values.sort()
    place = share * (len(values) - 1)
    low, high = values[math.floor(place)], values[math.ceil(place)]
    over = place - math.floor(place)
    infinite = [end for end in (low, high) if isinstance(end, float) and math.isinf(end)]
    if low == high or not over:
        exact = Fraction(low) if not infinite else None
    elif len(infinite) == 2:
        raise ArithmeticFailure("a number between the infinite ones")
    else:
        exact = None if infinite else Fraction(low) * (1 - over) + Fraction(high) * over
    if exact is None:
        return low if low == high or not over else infinite[0]
    if not isinstance(low, decimal.Decimal):
        return float(exact)
    exponent = low.as_tuple().exponent
    assert isinstance(exponent, int)
    whole = round(exact * 10**-exponent)  # half to even
    with decimal.localcontext(EXACT):
        return decimal.Decimal(whole).scaleb(exponent)


FOLDS: dict[str, Callable[[list[Value]], Value | None]] = {
    "sum": _sum,
    "mean": _mean,
    "min": min,
    "max": max,
    "stddev": _deviation,
    "any": any,
}
"""Aggregates of one value of each assignment, of which there are some."""
IN_ORDER: dict[str, Callable[[list[tuple[Value, ...]]], Value]] = {
    "count_distinct": lambda rows: len({row[0] for row in rows}),
    "arg_min": lambda rows: _sorted_by_keys(rows)[0][0],
    "first": lambda rows: _sorted_by_keys(rows)[0][0],
    "arg_max": lambda rows: _sorted_by_keys(rows)[-1][0],
    "last": lambda rows: _sorted_by_keys(rows)[-1][0],
    "median": lambda rows: _quantile([row[0] for row in rows], Fraction(1, 2)),
    "quantile": lambda rows: _quantile([row[0] for row in rows], _share(rows)),
    "quantile_disc": lambda rows: sorted(row[0] for row in rows)[
        max(math.ceil(_share(rows) * len(rows)), 1) - 1
    ],
    "mode": lambda rows: statistics.mode(sorted(row[0] for row in rows)),
}
"""Aggregates of all arguments of each assignment, of which there are some."""
OF_NOTHING: Mapping[str, Value] = {"count": 0, "sum": 0, "any": False, "count_distinct": 0}
BEST = ("min", "max", "any")
"""Aggregates whose value is the least or greatest of the group."""
OF_INTS = ("count", "count_distinct")
BETWEEN = ("median", "quantile")
"""Aggregates whose value is a float unless it is of decimals."""
AT_SHARES = ("quantile", "quantile_disc")
OF_FLOATS = ("mean", "stddev")
"""Aggregates whose value is a float, whatever they are of; that of others is of their argument's
kind.
"""


BUILT_IN = frozenset({*FOLDS, *IN_ORDER, "count", "concat"})
"""All aggregates but those of users."""


class _Nothing:
    """No result of a group."""


NOTHING: Value = _Nothing()


def fold(function: str, rows: Arguments, users: Mapping[str, UserFold]) -> Value:
    """The aggregate over the argument tuples of all assignments of a group that hold no NULL; of
    nothing but these NULL, or none counted. NOTHING where the group has no result.
    """
    there = [row for row in rows if None not in row]
    if function == "count":
        return len(there)
    if not rows:
        return OF_NOTHING.get(function, NOTHING)
    if not there:
        return 0 if function in OF_INTS else None
    rows = there
    if function in users:
        return users[function](rows)
    if function == "concat":
        return _concatenation(rows)
    if function in IN_ORDER:
        return held(IN_ORDER[function](list(rows)), None)
    found = FOLDS[function]([row[0] for row in rows])
    return NOTHING if found is None else held(found, None)
