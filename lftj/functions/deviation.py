# SPDX-License-Identifier: Apache-2.0
"""The sample standard deviation, from the exact sums of values and of their squares: any history
and any parts lead to the same state, and only the value is rounded, once.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from lftj.errors import ValueRangeError
from lftj.functions.fold import UNIT, Fold, State, Summands, negated, summed, units
from lftj.types import Type

_HALF = 1 << 31
_SMALL, _LARGE = 2.0**-480, 2.0**500
_SCALE = 537
"""Exponent by which floats whose squares have no exact halves as doubles are moved: half a unit."""


def deviation(type: Type) -> Fold:
    """The state over ints, floats or decimals: how many values, how many of them are infinite, the
    sum of the others, and of their squares.
    """
    if type.name == "float":
        return Fold(
            zero=(0, 0, 0, 0),
            lift=_of_float,
            combine=summed,
            inverse=negated,
            finish=partial(_root_of_variance, unit=1 << UNIT),
            words=(1, 1, 34, 68),
            summands=_of_floats,
        )
    scale = type.scale or 0
    return Fold(
        zero=(0, 0, 0, 0),
        lift=lambda value: _of_number(int(value * 10**scale)),
        combine=summed,
        inverse=negated,
        finish=partial(_root_of_variance, unit=10**scale),
        words=(1, 1, 2, 3),
        summands=_of_codes,
    )


def _of_number(number: int) -> State:
    return 1, 0, number, number * number


def _of_float(value: float) -> State:
    return (1, 1, 0, 0) if math.isinf(value) else _of_number(units(value))


def _root_of_variance(state: State, unit: int) -> float | None:
    size, infinite, total, squares = state
    if size < 2:
        return None
    if infinite:
        raise ValueRangeError("there is an infinite number in it, so it has no value")
    try:
        return _root(size * squares - total * total, size * (size - 1) * unit * unit)
    except OverflowError:
        raise ValueRangeError("it is beyond the greatest float") from None


def _root(numerator: int, denominator: int) -> float:
    """The float nearest to the square root of a fraction: the root has more digits than a float,
    and its last bit tells of all that are left out.
    """
    shift = (numerator.bit_length() - denominator.bit_length() - 2 * _DIGITS) // 2
    over, under = max(shift, 0), max(-shift, 0)
    scaled, divisor = numerator << 2 * under, denominator << 2 * over
    root = math.isqrt(scaled // divisor)
    root |= root * root * divisor != scaled
    return (root << over) / (1 << under)


_DIGITS = 60


# ── of whole columns ──────────────────────────────────────────────────────────────────────────────
def _of_codes(codes: np.ndarray) -> Summands:
    """Squares of 64 bits from products of 32: x is high · 2³² + low."""
    low = ((codes + _HALF) & 0xFFFF_FFFF) - _HALF
    high = (codes >> 32) + (low < 0)
    squares = ((high * high, 1 << 64), (high * low, 1 << 33), (low * low, 1))
    return ((np.ones_like(codes), 1),), (), ((codes, 1),), squares


def _of_floats(values: np.ndarray) -> Summands:
    """Squares as two doubles, their rounded value and the rest; very small and very large values
    are moved to where both are exact.
    """
    infinite = np.isinf(values)
    values = np.where(infinite, 0.0, values)
    sizes = np.abs(values)
    small, large = (sizes < _SMALL) & (sizes > 0.0), sizes > _LARGE
    squares = [*_squares(np.where(small | large, 0.0, values), 1 << UNIT)]
    if small.any():
        squares += _squares(np.where(small, values, 0.0) * 2.0**_SCALE, 1)
    if large.any():
        squares += _squares(np.where(large, values, 0.0) * 2.0**-_SCALE, 1 << 2 * UNIT)
    ones = np.ones(len(values), np.int64)
    return ((ones, 1),), ((infinite.astype(np.int64), 1),), ((values, 1),), squares


def _squares(values: np.ndarray, weight: int) -> list[tuple[np.ndarray, int]]:
    """Squares as the nearest doubles and what these leave [Dekker, A Floating-Point Technique for
    Extending the Available Precision, 1971].
    """
    split = values * (2.0**27 + 1.0)
    high = split - (split - values)
    low = values - high
    nearest = values * values
    rest = ((high * high - nearest) + 2.0 * high * low) + low * low
    return [(nearest, weight), (rest, weight)]
