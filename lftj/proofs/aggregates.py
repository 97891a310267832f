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


FOLDS: dict[str, Callable[[list[Value]], Value | None]] = {
    "sum": _sum,
    "mean": _mean,
    "min": min,
    "max": max,
    "stddev": _deviation,
    "any": any,
}
"""Aggregates of one value of each assignment, of which there are some."""
OF_NOTHING: Mapping[str, Value] = {"count": 0, "sum": 0, "any": False}
BEST = ("min", "max", "any")
"""Aggregates whose value is the least or greatest of the group."""
OF_FLOATS = ("mean", "stddev")
"""Aggregates whose value is a float, whatever they are of; that of others is of their argument's
kind.
"""


def fold(function: str, rows: Arguments, users: Mapping[str, UserFold]) -> Value | None:
    """The aggregate over the argument tuples of all assignments of a group; None where the group
    has no result.
    """
    if function == "count":
        return len(rows)
    if not rows:
        return OF_NOTHING.get(function)
    if function in users:
        return users[function](rows)
    if function == "concat":
        return _concatenation(rows)
    found = FOLDS[function]([row[0] for row in rows])
    return None if found is None else held(found, None)
