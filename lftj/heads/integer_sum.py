# SPDX-License-Identifier: Apache-2.0
"""Exact sums and means of integers and decimals: an Abelian group, so what was added can be taken
out again [LFTJ-IVM 2.3].

*State kept:* per group the exact total, 126 bits wide, and (elsewhere) the number of rows η.
*INSERT* of a value v adds v and 1, *ERASE* takes both away; the group vanishes at η = 0. Totals of
partitions merge by addition.

Only the published total has to fit: a sum may leave int64 on its way and come back. One that stays
outside is a `ValueRangeError`, never a wrap. A mean is the exact total over n, rounded once, as
Python divides integers; it needs no total that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from lftj.errors import ValueRangeError
from lftj.functions.aggregates import AGGREGATES
from lftj.heads.aggregate_shape import AggregateCall, CallShape
from lftj.heads.integer_sum_kernels import merge_totals, total_runs
from lftj.heads.kept import Advance, GroupChange
from lftj.scantree.frozen import frozen
from lftj.types import Type, floats_to_codes

_INT64_MIN = -(2**63)
_EXACT_FLOAT = 2**53
_FEW = 8
"""Up to so many totals Python's own integers are faster than NumPy's passes."""


class Totals(NamedTuple):
    """Exact totals `high · 2⁶³ + low` with 0 ≤ low < 2⁶³, one per group; canonical, so equal totals
    have equal parts.
    """

    high: np.ndarray
    low: np.ndarray

    def exact(self, group: int) -> int:
        """One total as a Python integer."""
        return (int(self.high[group]) << 63) + int(self.low[group])

    def fitting(self) -> np.ndarray:
        """Mark the totals that are int64 numbers."""
        return (self.high == 0) | (self.high == -1)

    def int64(self) -> np.ndarray:
        """The totals as int64; what does not fit is meaningless."""
        return np.where(self.high < 0, self.low + _INT64_MIN, self.low)

    def merged(self, other: Totals) -> Totals:
        """Total by total the sum of two: how a delta is applied and partitions are put together."""
        total = Totals(self.high.copy(), self.low.copy())
        merge_totals(*total, *other)
        return total


def grouped_totals(values: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> Totals:
    """Exact totals of runs of values; row i counts `counts[i]` times (negative: taken out), run r
    is [starts[r], starts[r + 1]).
    """
    high = np.empty(len(starts), dtype=np.int64)
    low = np.empty(len(starts), dtype=np.int64)
    total_runs(values, counts, starts, high, low)
    return Totals(high, low)


def means(totals: Totals, sizes: np.ndarray, scale: int = 0) -> np.ndarray:
    """float64 of each total over `sizes` · 10^scale, correctly rounded. Vectorised while both sides
    are exact as floats.
    """
    unit = 10**scale
    if len(sizes) <= _FEW:
        return np.array(
            [totals.exact(group) / (int(sizes[group]) * unit) for group in range(len(sizes))],
            dtype=np.float64,
        )
    whole = totals.int64()
    simple = (
        totals.fitting()
        & (np.abs(whole) <= _EXACT_FLOAT)
        & (whole != _INT64_MIN)
        & (sizes <= _EXACT_FLOAT // unit)
    )
    results = whole.astype(np.float64) / (np.where(simple, sizes, 1) * unit).astype(np.float64)
    for group in np.flatnonzero(~simple).tolist():
        results[group] = totals.exact(group) / (int(sizes[group]) * unit)
    return results


def published_sums(totals: Totals, result: Type, name: Callable[[int], str]) -> np.ndarray:
    """The totals as codes of their type. ValueRangeError for the first that leaves it; `name` is
    what messages call its group.
    """
    for group in _outside(totals, *_range(result))[:1]:
        raise _unfit(totals.exact(group), result, name(group))
    return totals.int64()


def checked_sums(sums: np.ndarray, result: Type, name: Callable[[int], str]) -> np.ndarray:
    """As `published_sums`, of exact sums as int64, or as numbers of Python's."""
    low, high = _range(result)
    for group in np.flatnonzero((sums < low) | (sums > high))[:1].tolist():
        raise _unfit(int(sums[group]), result, name(group))
    return sums.astype(np.int64, copy=False)


def _range(result: Type) -> tuple[int, int]:
    """The least and the greatest sum of a type."""
    if result.precision is not None:
        return 1 - 10**result.precision, 10**result.precision - 1
    return _INT64_MIN + result.optional, -_INT64_MIN - 1


def _unfit(exact: int, result: Type, group: str) -> ValueRangeError:
    scale = result.scale or 0
    shown = str(Decimal(f"{exact}e-{scale}")) if scale else f"{exact}"
    return outside_range(group, shown, str(result))


def integer_results(
    totals: Totals, call: AggregateCall | CallShape, sizes: np.ndarray, name: Callable[[int], str]
) -> np.ndarray:
    """The codes of a call's results: the totals, or these over the sizes of the groups."""
    if AGGREGATES[call.function].divided:
        return floats_to_codes(means(totals, sizes, call.types[0].scale or 0))
    return published_sums(totals, call.result, name)


def outside_range(group: str, shown: str, type: str) -> ValueRangeError:
    """The error for a sum that is none of its type's values."""
    hint = "sum to_float(…) of it, which rounds, or make the groups smaller"
    return ValueRangeError(f"sum {group} is {shown}, outside the range of {type}", hint=hint)


def _outside(totals: Totals, low: int, high: int) -> list[int]:
    """List the totals that are not in [low, high], int64 bounds."""
    if len(totals.high) <= _FEW:
        return [
            group for group in range(len(totals.high)) if not low <= totals.exact(group) <= high
        ]
    sums = totals.int64()
    return np.flatnonzero(~totals.fitting() | (sums < low) | (sums > high)).tolist()


# The kept state of `sum` and `mean` of ints and decimals: an exact total per group, in the head's
# own tree [LFTJ-IVM 2.3].

_INT64_MAX = 2**63 - 1


@frozen(slots=True)
class IntegerTotals:
    """Totals of the argument in column `arg`.

    A published sum is the total, so where the head publishes one, in value column `published` of
    its tree, nothing else is kept; else the total's two words are value columns `at` and `at + 1`.
    """

    arg: int
    published: int | None
    at: int

    @property
    def columns(self) -> tuple[int, ...]:
        """The value columns of the head's tree that hold totals and nothing else."""
        return () if self.published is not None else (self.at, self.at + 1)

    @property
    def memory(self) -> Mapping[str, int]:
        """Memory beyond the head's tree: none."""
        return {}

    def advanced(self, change: GroupChange) -> Advance:
        """Adds the net change of each group."""
        moved = (
            grouped_totals(change.column(self.arg), change.net, change.starts)
            if change.totals is None
            else Totals(*change.totals.integers[self.arg])
        )
        return self.holding(self.totals(change.before).merged(moved), change)

    def holding(self, totals: Totals, change: GroupChange) -> Advance:
        """The state of groups that have these totals after a change."""

        def results(call: CallShape) -> np.ndarray:
            return integer_results(totals, call, change.divisors, change.name)

        return Advance(
            self, [] if self.published is not None else [totals.high, totals.low], results
        )

    def totals(self, values: Sequence[np.ndarray]) -> Totals:
        """The totals of groups for which the head's tree holds these values."""
        if self.published is None:
            return Totals(values[self.at], values[self.at + 1])
        sums = values[self.published]
        return Totals(sums >> 63, sums & _INT64_MAX)
