# SPDX-License-Identifier: Apache-2.0
"""Cutting the work of one rule into parts: ranges of its leading variable that cost about the same.

The input is an estimate, one weight per value of the leading variable, from all values or from a
sample. A key that outweighs a part is *heavy*: it gets a part to itself, or several, cut by ranges
of the second variable. All ranges together cover every value, those that were not in the sample
too, so an estimate that is wrong costs balance and never an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]
Weights = NDArray[np.float64]
SecondKeys = Callable[[int], tuple[Keys, Weights]]
"""Function from a heavy key to the distinct values of the second variable under it, ascending, with
their weights.
"""

_HALVINGS = 8  # of the interval in which the least capacity is searched for
_FIRST, _LAST = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class KeyRange:
    """One part: leading keys with low ≤ key < high, None where open. A piece of a single key has
    the same for the second variable.

    `weight` is what the part was estimated to cost.
    """

    low: int | None
    high: int | None
    second_low: int | None = None
    second_high: int | None = None
    weight: float = 0.0

    @property
    def divides_key(self) -> bool:
        """True when this is only a piece of one heavy key."""
        return self.second_low is not None or self.second_high is not None


def split(
    keys: Keys,
    weights: Weights,
    parts: int,
    second: SecondKeys | None = None,
    *,
    low: int | None = None,
    high: int | None = None,
) -> list[KeyRange]:
    """Ranges that together hold every key with low ≤ key < high, in ascending order, the heaviest
    as light as can be.

    `keys` ascend strictly and lie in that range; `weights` are what each costs, positive. There are
    at most `parts` ranges, beside those of no weight next to a key that is cut. Without `second` a
    heavy key stays whole. O(parts · log² keys).
    """
    if parts < 1:
        raise ValueError(f"parts is a number of at least 1, found {parts}")
    if len(keys) != len(weights):
        raise ValueError(f"{len(keys)} keys with {len(weights)} weights")
    if parts == 1 or not len(keys):
        return [KeyRange(low, high, weight=float(np.sum(weights)))]
    line = _Line(keys, np.concatenate(([0.0], np.cumsum(weights))), second is not None)
    return _cover(line.filled(_least_capacity(line, parts)), line, second, low, high)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Keys first up to last by their place; a heavy key is cut into `cuts` parts."""

    first: int
    last: int
    cuts: int = 1


@dataclass(frozen=True, slots=True)
class _Line:
    """The keys side by side, each as long as it is heavy; ends[i] is where key i begins."""

    keys: Keys
    ends: Weights
    divisible: bool

    def filled(self, capacity: float, most: int | None = None) -> list[_Piece]:
        """Pieces filled up to the capacity from left to right, heavy keys apart. Stops when there
        are more than `most`.
        """
        pieces: list[_Piece] = []
        first = count = 0
        while first < len(self.keys) and (most is None or count <= most):
            last = int(np.searchsorted(self.ends, self.ends[first] + capacity, side="right")) - 1
            cuts = 1
            if last <= first:
                last = first + 1
                cuts = (
                    int(-(-(self.ends[last] - self.ends[first]) // capacity))
                    if self.divisible
                    else 1
                )
            pieces.append(_Piece(first, last, cuts))
            first, count = last, count + cuts
        return pieces

    def fits(self, capacity: float, parts: int) -> bool:
        """Test whether `parts` parts of this capacity hold everything."""
        return sum(piece.cuts for piece in self.filled(capacity, parts)) <= parts


def _least_capacity(line: _Line, parts: int) -> float:
    """The least capacity, to half a percent, with which the line takes no more than
    `parts` parts.
    """
    low = float(line.ends[-1]) / parts
    high = 2 * low
    while not line.fits(high, parts):
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if line.fits(middle, parts):
            high = middle
        else:
            low = middle
    return high


def _cover(
    pieces: Sequence[_Piece],
    line: _Line,
    second: SecondKeys | None,
    low: int | None,
    high: int | None,
) -> list[KeyRange]:
    """The ranges of these pieces, without a gap between them: a key that has no weight goes with a
    neighbour that is not cut.
    """
    ranges: list[KeyRange] = []
    start = low
    for number, piece in enumerate(pieces):
        weight = float(line.ends[piece.last] - line.ends[piece.first])
        following = int(line.keys[piece.last]) if number + 1 < len(pieces) else high
        if piece.cuts == 1 or second is None:
            ranges.append(KeyRange(start, following, weight=weight))
            start = following
            continue
        key = int(line.keys[piece.first])
        if (_FIRST if start is None else start) != key:
            ranges.append(KeyRange(start, key))
        start = key + 1 if key < _LAST else None
        ranges += _cut(key, start, *second(key), piece.cuts, weight)
    if start != high:
        ranges.append(KeyRange(start, high))
    return ranges


def _cut(
    key: int, after: int | None, keys: Keys, weights: Weights, cuts: int, weight: float
) -> list[KeyRange]:
    """A heavy key by ranges of the second variable."""
    pieces = split(keys, weights, cuts)
    total = sum(piece.weight for piece in pieces) or 1.0
    return [
        KeyRange(key, after, piece.low, piece.high, weight * piece.weight / total)
        for piece in pieces
    ]
