# SPDX-License-Identifier: Apache-2.0
"""Reading of the rows of each group in their order: of an end, of how many there are, or of what
lies at a share of them.

A group of n assignments has them at the places 0 … n − 1. Place s · (n − 1) has the share s of the
others before it; between two of them the value is so much between theirs. Nothing is rounded before
the end [Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, type 7; discrete: type 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import compress
from typing import NamedTuple

import numpy as np

from lftj.errors import ValueRangeError
from lftj.functions.aggregates import AGGREGATES
from lftj.functions.in_order import InOrder, Place, share_of
from lftj.heads.concatenation import order_in_groups
from lftj.types import Type, codes_to_floats, floats_to_codes
from lftj.types.dictionary import Dictionary

_EXACT_FLOAT = 1 << 53
"""Whole numbers below are floats."""
_MOST = 1 << 62
_FINITE = float(np.finfo(np.float64).max) / 2

Name = Callable[[int], str]


class Read(NamedTuple):
    """Rows that are read of groups: the numbers of two rows, below 0 of a group without rows, and
    how far the value lies from the first to the second, `over` of `parts`.
    """

    first: np.ndarray
    second: np.ndarray
    over: np.ndarray
    parts: int


def reading(function: str) -> InOrder | None:
    """The way a function reads rows in order; None for others."""
    known = AGGREGATES.get(function)
    return known.in_order if known is not None else None


def places_read(read: InOrder, constant: object, sizes: np.ndarray) -> Read:
    """The places that an aggregate at a share reads of groups of these sizes."""
    share = share_of(constant) if read.share is None else read.share
    part, parts = share.numerator, share.denominator
    numbers = sizes if int(sizes.max(initial=0)) * max(part, 1) < _MOST else sizes.astype(object)
    if read.place is Place.AT:
        found = np.maximum(-(-numbers * part // parts), 1) - 1
        first = np.where(sizes > 0, found, -1).astype(np.int64)
        return Read(first, first, np.zeros_like(first), parts)
    whole = np.maximum(numbers - 1, 0) * part
    over = whole % parts
    first = np.where(sizes > 0, whole // parts, -1).astype(np.int64)
    second = first + (over > 0) * (sizes > 0)
    return Read(first, second.astype(np.int64), over, parts)


def between(
    read: Read, low: np.ndarray, high: np.ndarray, type: Type, function: str, name: Name
) -> np.ndarray:
    """The codes of what lies between the values with these codes, which are of a type. Raises
    ValueRangeError, with the group as `name` calls it, between two infinite numbers.
    """
    if type.name == "float":
        found = _between_floats(read, codes_to_floats(low), codes_to_floats(high), function, name)
        return floats_to_codes(found)
    if type.name == "decimal":
        return _between_decimals(read, low, high)
    return floats_to_codes(_between_integers(read, low, high))


def _fits(read: Read, low: np.ndarray, high: np.ndarray, limit: int) -> bool:
    most = max(abs(int(end)) for each in (low, high) for end in (each.min(), each.max()))
    return most * read.parts < limit and read.over.dtype != object


def _weighed(read: Read, low: np.ndarray, high: np.ndarray, limit: int) -> np.ndarray:
    """`parts` times what lies between whole numbers, exactly."""
    over = read.over
    if not _fits(read, low, high, limit):
        low, high, over = low.astype(object), high.astype(object), over.astype(object)
    return low * (read.parts - over) + high * over


def _between_integers(read: Read, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    if not len(low):
        return np.empty(0, np.float64)
    return (_weighed(read, low, high, _EXACT_FLOAT) / read.parts).astype(np.float64)


def _between_decimals(read: Read, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Codes of decimals, rounded half to even."""
    if not len(low):
        return low
    weighed = _weighed(read, low, high, _MOST // 2)
    whole, rest = weighed // read.parts, 2 * (weighed % read.parts)
    up = (rest > read.parts) | ((rest == read.parts) & (whole % 2 == 1))
    return (whole + up).astype(np.int64)


def _between_floats(
    read: Read, low: np.ndarray, high: np.ndarray, function: str, name: Name
) -> np.ndarray:
    apart = (read.over > 0) & (low != high)
    found = low.copy()
    if read.parts == 2:  # the half of a sum that is rounded once
        sums = apart & (np.abs(low) < _FINITE) & (np.abs(high) < _FINITE)
        found[sums] = (low[sums] + high[sums]) / 2
        apart &= ~sums
    for group in np.flatnonzero(apart).tolist():
        share = Fraction(int(read.over[group]), read.parts)
        ends = float(low[group]), float(high[group])
        infinite = list(compress(ends, map(math.isinf, ends)))
        if len(infinite) == 2:
            what = "there is no number between the infinite ones in its middle"
            hint = "leave such rows out of the group"
            raise ValueRangeError(f"{function} {name(group)}: {what}", hint=hint)
        found[group] = (
            infinite[0]
            if infinite
            else float(Fraction(ends[0]) * (1 - share) + Fraction(ends[1]) * share)
        )
    return found


# ── of whole columns ──────────────────────────────────────────────────────────────────────────────
def grouped_in_order(
    function: str,
    args: Sequence[np.ndarray],
    types: Sequence[Type],
    counts: np.ndarray,
    starts: np.ndarray,
    dictionary: Dictionary,
    name: Name,
) -> np.ndarray:
    """The code of each run's result. `args` are the value, then the keys or the share. O(n log
    n).
    """
    read = reading(function)
    assert read is not None
    keys = [] if read.by_share else args[1:]
    key_types = [] if read.by_share else types[1:]
    order = order_in_groups([*keys, args[0]], [*key_types, types[0]], starts, dictionary)
    values, ends = args[0].take(order), np.append(starts[1:], len(counts))
    if read.place is Place.FIRST:
        return values.take(starts)
    if read.place is Place.LAST:
        return values.take(ends - 1)
    if read.place is Place.DIFFERENT:
        new = np.ones(len(values), np.int64)
        new[1:] = values[1:] != values[:-1]
        new[starts] = 1
        return np.add.reduceat(new, starts)
    units = np.cumsum(counts.take(order))
    before = np.append(0, units)[starts]
    constant = float(codes_to_floats(args[1][:1])[0]) if args[1:] else None
    places = places_read(read, constant, units[ends - 1] - before)
    first, second = (
        values.take(np.searchsorted(units, before + place, side="right"))
        for place in (places.first, places.second)
    )
    if read.place is Place.AT:
        return first
    return between(places, first, second, types[0], function, name)
