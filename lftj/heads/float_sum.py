"""Exact sums of doubles: what is published is always `math.fsum` of the live values, whatever came and went before [LFTJ-IVM 2.3.4].

*State kept:* per group the exact total as a fixed-point number that spans all exponents of a double (a superaccumulator), how many +∞ and
−∞ are in it, and (elsewhere) the number of rows. *INSERT* adds the value to it, *ERASE* subtracts it; both are exact, so no history leaves
a trace: 1e16 + 1 − 1e16 is 1, and the state after an insert and its erase is, word for word, the state before. States of partitions merge
by addition. Only publishing rounds, once, to the nearest double, ties to even.

Limits. A total beyond the greatest double is a `ValueRangeError` where `math.fsum` raises OverflowError; unlike `math.fsum` a sum that
leaves the range on its way and comes back is fine. Infinities of one sign give that infinity, of both signs a `ValueRangeError`
(`math.fsum` raises ValueError). NaN never reaches a column.

A state takes 288 bytes; `float_totals` keeps the words of it that are not 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from lftj.errors import ValueRangeError
from lftj.heads.float_sum_kernels import (
    OVERFLOW,
    advance_states,
    divide_floats,
    sum_runs,
)

_UNIT = 1074
"""The total counts units of 2⁻¹⁰⁷⁴."""


def _units(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * ((1 << _UNIT) // denominator)


class ExactSum:
    """The exact sum of a bag of doubles, whose `parts` add up with those of others.

    `value()` is correctly rounded. About a microsecond an operation; whole columns go through `grouped_sums` and `advanced`.
    """

    __slots__ = ("_negative_infinities", "_positive_infinities", "_units")

    def __init__(self, values: Iterable[float] = ()):
        self._units = 0
        self._positive_infinities = 0
        self._negative_infinities = 0
        for value in values:
            self.add(value)

    def __repr__(self) -> str:
        return f"ExactSum({self._units} · 2⁻¹⁰⁷⁴, +∞ × {self._positive_infinities}, −∞ × {self._negative_infinities})"

    @property
    def parts(self) -> tuple[int, int, int]:
        """The finite total in units of 2⁻¹⁰⁷⁴, and how many +∞ and −∞ are in it: three numbers that add up as sums do."""
        return self._units, self._positive_infinities, self._negative_infinities

    @classmethod
    def of_parts(cls, units: int, positive: int, negative: int) -> ExactSum:
        """The sum with these parts."""
        found = cls()
        found._units, found._positive_infinities, found._negative_infinities = units, positive, negative
        return found

    def add(self, value: float, times: int = 1) -> None:
        """Add `value` `times` times; negative `times` take it out. Exact. NaN is a ValueRangeError."""
        if math.isnan(value):
            raise ValueRangeError("NaN cannot be summed", hint='leave the row out, or load with nulls="drop"')
        if value == math.inf:
            self._positive_infinities += times
        elif value == -math.inf:
            self._negative_infinities += times
        else:
            self._units += _units(value) * times

    def value(self) -> float:
        """The double nearest to the sum, ties to even. ValueRangeError when there is none (see the module)."""
        if self._positive_infinities and self._negative_infinities:
            raise ValueRangeError(status_message(None))
        if self._positive_infinities or self._negative_infinities:
            return math.inf if self._positive_infinities else -math.inf
        try:
            return self._units / (1 << _UNIT)  # int / int rounds correctly, at any size
        except OverflowError:
            raise ValueRangeError(status_message(OVERFLOW)) from None


# ── whole columns ─────────────────────────────────────────────────────────────────────────────────────────────────────
def status_message(status: int | None) -> str:
    """What a status other than EXACT means, as the end of a sentence."""
    if status == OVERFLOW:
        return "the sum is beyond the greatest float"
    return "the sum has both +inf and -inf in it, so it has no value"


def grouped_sums(codes: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the correctly rounded sums of runs of float codes, and a status for each (EXACT, OVERFLOW or NOT_A_NUMBER).

    Row i counts `counts[i]` times; run r is [starts[r], starts[r + 1]). O(rows), a few nanoseconds each.
    """
    sums = np.empty(len(starts), dtype=np.int64)
    status = np.empty(len(starts), dtype=np.int64)
    sum_runs(codes, counts, starts, sums, status)
    return sums, status


def published_float_sums(sums: np.ndarray, status: np.ndarray, function: str, name: Callable[[int], str]) -> np.ndarray:
    """The sums, if each is EXACT; else ValueRangeError for the first that is not, whose group `name` knows how to call."""
    if status.any():
        group = int(np.flatnonzero(status)[0])
        raise ValueRangeError(f"{function} {name(group)}: {status_message(int(status[group]))}")
    return sums


def float_means(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Codes of sums, given as codes, over sizes."""
    means = np.empty(len(sums), dtype=np.int64)
    divide_floats(sums, sizes, means)
    return means


def advanced(states: np.ndarray, codes: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States after the runs of a change, codes of their correctly rounded values, and a status for each.

    `states`: one row of STATE_WORDS per run, as the kernels lay them out; it stays as it is. Runs and statuses as in `grouped_sums`;
    negative counts subtract.
    """
    result = states.copy()
    sums = np.empty(len(states), dtype=np.int64)
    status = np.empty(len(states), dtype=np.int64)
    advance_states(result, codes, counts, starts, sums, status)
    return result, sums, status
