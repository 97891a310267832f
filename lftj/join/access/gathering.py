# SPDX-License-Identifier: Apache-2.0
"""Results found in blocks of rows, gathered: every row with its number of assignments, or a count
for each combination of values.

The second is done if the output values lie so close together that each combination has a place. A
million facts in some hundred groups are then never written as a million rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from lftj.join.kernels.lookup_kernels import add_up
from lftj.scantree.columns import Lines
from lftj.storage.delta import Columns
from lftj.storage.relation import Bounds

_SUMMED_ROWS = 4
"""Rows for each combination of values from which on counts are added up by place, not listed."""
_SUMMED_PLACES = 1 << 20
"""Places up to which counts are added up so; more do not stay in the processor's cache."""

# Which values of a range there are, a byte for each: whether a row has one of them is then found
# out by one load.
#
# That takes about a nanosecond a row, and so goes before anything that sorts rows or seeks among
# them.


def present_values(values: np.ndarray, low: int, size: int) -> np.ndarray:
    """One byte for each of the `size` values from `low` on, 1 where `values` has it. O(values +
    size); `values` may lie outside.
    """
    present = np.zeros(size, np.uint8)
    inside = values[(values >= low) & (values <= low + size - 1)]
    present[inside - low] = 1
    return present


Variables = Mapping[int, np.ndarray]
Held = Callable[[int], None]


class Gathering(Protocol):
    """Results found so far."""

    def add(self, found: Variables, many: int, times: np.ndarray | None) -> None:
        """Add so many rows, each once or as often as `times` has it."""
        ...

    def absorb(self, other: Any) -> None:
        """Take what another of the kind was given, behind what is here."""
        ...

    def rows(self) -> tuple[Columns, np.ndarray]:
        """The values asked for, and how many assignments each row stands for."""
        ...


Gathered = TypeVar("Gathered", bound=Gathering)
Making = Callable[[Held], Gathered]
"""Maker of what results are gathered in; that is to tell of the bytes that it takes."""


class Number:
    """Number of rows; without `count` only whether there are any."""

    def __init__(self, count: bool):
        self._count, self._total = count, 0

    def add(self, found: Variables, many: int, times: np.ndarray | None) -> None:
        """See `Gathering`."""
        self._total += many if times is None else int(times.sum())

    def absorb(self, other: Number) -> None:
        """See `Gathering`."""
        self._total += other._total

    def rows(self) -> tuple[Columns, np.ndarray]:
        """See `Gathering`."""
        return [], np.array([self._total if self._count else 1][: bool(self._total)], np.int64)


class Listed:
    """Rows as they come, `most` at most. `held` is told of the bytes that they take."""

    def __init__(self, needed: Sequence[int], most: int, held: Held):
        self._needed, self._held = needed, held
        self._behind: list[Listed] = []
        self._out = np.empty(
            (len(needed) + 1, most), np.int64
        )  # of which memory is taken as it is written to
        self._size = 0

    def add(self, found: Variables, many: int, times: np.ndarray | None) -> None:
        """See `Gathering`."""
        here = slice(self._size, self._size + many)
        for line, variable in zip(self._out, self._needed, strict=False):
            line[here] = found[variable]
        self._out[-1, here] = 1 if times is None else times
        self._size += many
        self._held(8 * self._size * len(self._out))

    def absorb(self, other: Listed) -> None:
        """See `Gathering`."""
        self._behind.append(other)

    def rows(self) -> tuple[Columns, np.ndarray]:
        """See `Gathering`."""
        if self._behind:
            whole = np.concatenate(
                [each._out[:, : each._size] for each in (self, *self._behind)], axis=1
            )
            return Lines(whole[:-1]), whole[-1]
        if self._size == self._out.shape[1]:
            return Lines(self._out[:-1]), self._out[-1]
        return [line[: self._size] for line in self._out[:-1]], self._out[-1, : self._size]


class Totals:
    """Each combination of values once, in ascending order. `bounds` hold all values asked for;
    without `count` each stands for one.
    """

    def __init__(self, needed: Sequence[int], bounds: Sequence[Bounds], count: bool):
        self._needed, self._bounds, self._count = needed, bounds, count
        self._totals = np.zeros(slots(bounds), np.int64)

    def add(self, found: Variables, many: int, times: np.ndarray | None) -> None:
        """See `Gathering`."""
        places = np.zeros(many, np.int64)
        for variable, (low, high) in zip(self._needed, self._bounds, strict=True):
            places *= high - low + 1
            places += found[variable]
            places -= low
        add_up(places, np.ones(1, np.int64) if times is None else times, self._totals)

    def absorb(self, other: Totals) -> None:
        """See `Gathering`."""
        self._totals += other._totals

    def rows(self) -> tuple[Columns, np.ndarray]:
        """See `Gathering`."""
        places = np.flatnonzero(self._totals)
        counts = self._totals[places] if self._count else np.ones(len(places), np.int64)
        columns: Columns = []
        for low, high in reversed(self._bounds):
            places, above_low = np.divmod(places, high - low + 1)
            columns.append(above_low + low)
        return columns[::-1], counts


def gathering(
    needed: Sequence[int],
    bounds: Sequence[Bounds] | None,
    rows: int,
    *,
    count: bool,
    held: Held,
) -> Gathering:
    """Choose a gathering for these variables of so many rows at most. `bounds`: two values of each
    that all lie between, where these are known.

    `held` is called with the bytes that are taken, and may raise LimitError.
    """
    if not needed:
        return Number(count)
    if bounds is not None and added_up(bounds, rows):
        held(8 * slots(bounds))
        return Totals(needed, bounds, count)
    return Listed(needed, rows, held)


def added_up(bounds: Sequence[Bounds], rows: int) -> bool:
    """Test for values that lie so close together that each combination has a place."""
    places = slots(bounds)
    return _SUMMED_ROWS * places <= rows and places <= _SUMMED_PLACES


def together(found: Sequence[Gathered]) -> Gathered:
    """Several of one kind as one; one at least."""
    for other in found[1:]:
        found[0].absorb(other)
    return found[0]


def slots(bounds: Sequence[Bounds]) -> int:
    """Number of combinations of values within these bounds."""
    return math.prod(high - low + 1 for low, high in bounds)
