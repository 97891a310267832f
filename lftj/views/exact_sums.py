# SPDX-License-Identifier: Apache-2.0
"""Exact sums of whole numbers in columns: as int64 where nothing can overflow, else as Python's."""

from __future__ import annotations

import operator
from functools import cache

import numpy as np

from lftj.scantree import Monoid

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
def summing(column: int) -> Monoid[int]:
    """Exact sums of a column of rows."""

    def lifted(columns: list[np.ndarray]) -> int:
        return int(exact(columns[column], len(columns[column])).sum())

    return Monoid.of_rows(0, lifted, operator.add)
