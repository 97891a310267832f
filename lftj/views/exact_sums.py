# SPDX-License-Identifier: Apache-2.0
"""Exact sums of whole numbers in columns: as int64 where nothing can overflow, else as Python's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache

import numpy as np

from lftj.scantree import Monoid
from lftj.types import NULL_CODE

_SMALL = 1 << 62


def exact(values: np.ndarray, times: int) -> np.ndarray:
    """The same numbers, as ones that do not overflow when so many are added."""
    most = max(-int(values.min(initial=0)), int(values.max(initial=0)))
    return values if most * times < _SMALL else values.astype(object)


def sum_of(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The sums of two columns, row by row."""
    return exact(one, 2) + exact(other, 2)


def sums_between(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The sums of ranges of a column."""
    whole = exact(values, len(values))
    sums = np.concatenate((np.zeros(1, whole.dtype), np.cumsum(whole)))
    return sums[np.maximum(first, last)] - sums[first]


def cumulated(steps: np.ndarray, runs: np.ndarray, run: np.ndarray) -> np.ndarray:
    """Sums up to each place of a run; `run` is the number of each one's run."""
    whole = exact(steps, len(steps))
    sums = np.cumsum(whole)
    return sums - (sums[runs] - whole[runs])[run]


def backwards(runs: np.ndarray, run: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The runs of an array that is read backwards."""
    ends = np.append(runs[1:], len(run))
    return (len(run) - ends)[::-1], (len(runs) - 1 - run)[::-1]


@cache
def summing(column: int, lift: Callable[[np.ndarray], np.ndarray]) -> Monoid[int]:
    """Exact sums of what is lifted of a column of rows."""

    def lifted(columns: list[np.ndarray]) -> int:
        values = lift(columns[column])
        return int(exact(values, len(values)).sum())

    return Monoid.of_rows(0, lifted, operator.add)


@cache
def valued(column: int, *, last: bool) -> Monoid[tuple[int, ...] | None]:
    """The first row, or the last, of which a column is not NULL."""
    side = -1 if last else 0

    def lifted(columns: list[np.ndarray]) -> tuple[int, ...] | None:
        found = np.flatnonzero(columns[column] != NULL_CODE)
        return tuple(int(each[found[side]]) for each in columns) if len(found) else None

    def combined(
        one: tuple[int, ...] | None, other: tuple[int, ...] | None
    ) -> tuple[int, ...] | None:
        first, second = (other, one) if last else (one, other)
        return second if first is None else first

    return Monoid.of_rows(None, lifted, combined)


# ── what values add ───────────────────────────────────────────────────────────────────────────────
def themselves(values: np.ndarray) -> np.ndarray:
    """Values of a column without NULL."""
    return values


def those_there(values: np.ndarray) -> np.ndarray:
    """Values, 0 in the place of NULL."""
    return np.where(values == NULL_CODE, 0, values)


def ones_of(values: np.ndarray) -> np.ndarray:
    """1 for each value, 0 for NULL."""
    return (values != NULL_CODE).astype(np.int64)
