# SPDX-License-Identifier: Apache-2.0
"""Reading of the rows of each group in their order, by aggregates: of an end, of how many different
ones there are, of what lies at a share of them, or of all.

A group of n assignments has them at the places 0 … n − 1. Place s · (n − 1) has the share s of the
others before it; between two of them the value is so much between theirs. Nothing is rounded before
the end [Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, type 7; discrete: type 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import compress
from typing import NamedTuple, Protocol

import numpy as np

from lftj.errors import ValueRangeError
from lftj.scantree.frozen import frozen
from lftj.types import Type, codes_to_floats, floats_to_codes

_EXACT_FLOAT = 1 << 53
"""Whole numbers below are floats."""
_MOST = 1 << 62
_FINITE = float(np.finfo(np.float64).max) / 2

Name = Callable[[int], str]


class Runs(NamedTuple):
    """Values in order, as codes, with their counts: run r is [starts[r], starts[r + 1]). A value
    may stand there more than once.
    """

    values: np.ndarray
    counts: np.ndarray
    starts: np.ndarray

    @property
    def firsts(self) -> np.ndarray:
        """Mark the first of equal values in each run."""
        new = np.ones(len(self.values), np.bool_)
        new[1:] = self.values[1:] != self.values[:-1]
        new[self.starts] = True
        return new


class Ordered(Protocol):
    """The rows of groups in their order, which `lftj.heads` has as columns or keeps in a tree.

    `sizes`: the number of assignments of each group. `function`: the aggregate, `type`: that of its
    value, `share`: its second argument, where that is a constant. `name` calls a group in messages.
    """

    sizes: np.ndarray
    function: str
    type: Type
    share: object
    name: Name

    def end(self, *, last: bool) -> np.ndarray:
        """The codes of the values at an end."""
        ...

    def different(self) -> np.ndarray:
        """The number of different values."""
        ...

    def at(self, places: np.ndarray) -> np.ndarray:
        """The codes of the values at these places, one of each group, below 0 of one without rows.
        Not for values behind keys.
        """
        ...

    def whole(self) -> Runs:
        """All values of the groups that have some. O(rows) of these groups."""
        ...


class InOrder:
    """The reading of an aggregate. `by_share`: rows are found by their number, which a second
    argument says or the record. `counted`: a value that is there twice counts twice.
    """

    by_share: bool = False
    counted: bool = False

    @property
    def end(self) -> bool | None:
        """True for the last row, False for the first; None where it reads no end."""
        return None

    def read(self, rows: Ordered) -> np.ndarray:
        """The codes of the results; what they say of groups without rows has no meaning."""
        raise NotImplementedError


@frozen
class End(InOrder):
    """The value of the first row, or of the last."""

    last: bool

    @property
    def end(self) -> bool:
        """The end that it reads."""
        return self.last

    def read(self, rows: Ordered) -> np.ndarray:
        """O(log n) each."""
        return rows.end(last=self.last)


class Different(InOrder):
    """The number of different values."""

    def read(self, rows: Ordered) -> np.ndarray:
        """O(log n) each."""
        return rows.different()


@frozen
class AtShare(InOrder):
    """The value that has a share of the rows before it, or what lies `between` the two at the
    place. `of`: the share, where that is no argument.
    """

    of: Fraction | None = None
    between: bool = False
    by_share = counted = True

    def read(self, rows: Ordered) -> np.ndarray:
        """O(log n) each."""
        share = share_of(rows.share) if self.of is None else self.of
        if not self.between:
            return rows.at(_at(share, rows.sizes))
        found = _around(share, rows.sizes)
        low = rows.at(found.first)
        apart = bool((found.second != found.first).any())
        return between(
            found, low, rows.at(found.second) if apart else low, rows.type, rows.function, rows.name
        )


class MostFrequent(InOrder):
    """The value that is there most often, of several the first one."""

    counted = True

    def read(self, rows: Ordered) -> np.ndarray:
        """O(rows) of each group."""
        runs = rows.whole()
        values, counts, starts = runs
        found = np.zeros(len(rows.sizes), np.int64)
        if not len(starts):
            return found
        first = np.flatnonzero(runs.firsts)
        often, starts = np.add.reduceat(counts, first), np.searchsorted(first, starts)
        most = np.maximum.reduceat(often, starts)
        group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(first))))
        at = np.flatnonzero(often == most[group])
        at = at[np.searchsorted(group[at], np.arange(len(starts)))]
        found[rows.sizes > 0] = values[first[at]]
        return found


def share_of(written: object) -> Fraction:
    """A share as it is written: 0.1 is a tenth, not the float next to it."""
    return Fraction(repr(written))


class Read(NamedTuple):
    """Rows that are read of groups: the numbers of two rows, below 0 of a group without rows, and
    how far the value lies from the first to the second, `over` of `parts`.
    """

    first: np.ndarray
    second: np.ndarray
    over: np.ndarray
    parts: int


def _numbers(share: Fraction, sizes: np.ndarray) -> np.ndarray:
    """Sizes that can be multiplied by a share."""
    fits = int(sizes.max(initial=0)) * max(share.numerator, 1) < _MOST
    return sizes if fits else sizes.astype(object)


def _at(share: Fraction, sizes: np.ndarray) -> np.ndarray:
    """The place of the least value for which the share of all is not greater."""
    found = np.maximum(-(-_numbers(share, sizes) * share.numerator // share.denominator), 1) - 1
    return np.where(sizes > 0, found, -1).astype(np.int64)


def _around(share: Fraction, sizes: np.ndarray) -> Read:
    """The two places that have the share between them."""
    part, parts = share.numerator, share.denominator
    whole = np.maximum(_numbers(share, sizes) - 1, 0) * part
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
