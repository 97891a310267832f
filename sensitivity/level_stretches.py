# SPDX-License-Identifier: Apache-2.0
"""Compose the stretches of single levels into the stretch of an evaluation.

Under each context a level takes some steps and has some matches. Of two stretches one after the
other, the second one's steps are taken for each match of the first. So the estimate of a stretch
of any length is put together from O(log levels) kept ones, and an evaluation that differs from
another at a few levels is estimated without going through the others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_MOST = 1e300
"""Estimates stop here: what is beyond has no meaning, and ∞ · 0 has no value."""


class Stretch(NamedTuple):
    """Per context before some levels: the steps taken in them, and the contexts behind them."""

    steps: float
    matches: float

    def then(self, other: Stretch) -> Stretch:
        """Both, one after the other."""
        return Stretch(
            min(self.steps + self.matches * other.steps, _MOST),
            min(self.matches * other.matches, _MOST),
        )


NOTHING = Stretch(0.0, 1.0)


class Stretches:
    """The stretches of a row of levels, in a tree of compositions. O(levels) to make."""

    def __init__(self, levels: Sequence[Stretch]) -> None:
        self._size = 1
        while self._size < len(levels):
            self._size *= 2
        padding = [NOTHING] * (self._size - len(levels))
        self._tree = [NOTHING] * self._size + [*levels, *padding]
        for node in range(self._size - 1, 0, -1):
            self._tree[node] = self._tree[2 * node].then(self._tree[2 * node + 1])

    def between(self, begin: int, end: int) -> Stretch:
        """The levels from `begin` on that are before `end`. O(log levels)."""
        front, back = NOTHING, NOTHING
        left, right = begin + self._size, end + self._size
        while left < right:
            if left & 1:
                front = front.then(self._tree[left])
                left += 1
            if right & 1:
                right -= 1
                back = self._tree[right].then(back)
            left, right = left // 2, right // 2
        return front.then(back)

    def replaced(self, begin: int, end: int, others: Iterable[tuple[int, Stretch]]) -> Stretch:
        """As `between`, with other stretches at some levels, given in ascending order. O(others ·
        log levels).
        """
        whole = NOTHING
        for level, stretch in others:
            if begin < level:
                whole = whole.then(self.between(begin, level))
            whole, begin = whole.then(stretch), level + 1
        return whole.then(self.between(begin, end)) if begin < end else whole


def first_missing(levels: Sequence[int], begin: int) -> int:
    """The first level from `begin` on that is not among these, which ascend."""
    at = bisect_left(levels, begin)
    low, high = at, len(levels)
    while low < high:
        middle = (low + high) // 2
        if levels[middle] - begin == middle - at:
            low = middle + 1
        else:
            high = middle
    return begin + low - at
