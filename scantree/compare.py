# SPDX-License-Identifier: Apache-2.0
"""The difference between rows that come in pieces and rows that are there, both in order.

No side is ever there as a whole: fresh memory for its columns would take longer than to compare
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.compare_kernels import CAME, FINAL, ROW, ROWS, SLOT, WENT, WORDS, compare

Matrix = NDArray[np.int64]
"""Columns × rows."""
Read = Callable[[int, Matrix, Matrix], None]
"""Writes the rows from a number on to a matrix; the other has rows that probably are the same."""

PIECE = 1 << 14
"""Rows that are compared at once; three columns of them stay in the second cache."""


class _Sides:
    """A stretch of the rows that come and a piece of those that are there, and what they lack."""

    def __init__(self, read: Read, rows: int, width: int, there: Iterator[Matrix]) -> None:
        self._read, self._left, self._there = read, rows, there
        self._rows = rows
        self._state = np.zeros(WORDS, np.int64)
        self._room = np.empty((width, min(rows, PIECE)), np.int64)
        self._before, self._places = np.empty(width, np.int64), np.empty((2, PIECE), np.int64)
        self._piece = nothing = np.empty((width, 0), np.int64)
        self.came, self.went = [nothing], [nothing]

    def fill(self) -> bool:
        """Have a row on both sides, where there are any; False where none comes any more."""
        state, slots = self._state, self._piece.shape[1]
        if state[SLOT] == slots and not state[FINAL]:
            following = next(self._there, None)
            self._piece = self._piece[:, :0].copy() if following is None else following
            state[SLOT], state[FINAL], slots = 0, following is None, self._piece.shape[1]
        if state[ROW] == state[ROWS]:
            beside = self._piece[:, int(state[SLOT]) :]
            size = min(self._left, beside.shape[1] or PIECE)
            self._read(self._rows - self._left, self._room[:, :size], beside)
            self._left -= size
            state[ROW], state[ROWS] = 0, size
        return bool(state[ROWS])

    def step(self, alone: int) -> bool:
        """Compare these rows; False where those that come do not ascend in so many columns."""
        state, (came, went) = self._state, self._places
        if not compare(self._room, self._piece, alone, state, self._before, came, went):
            return False
        if count := int(state[CAME]):
            self.came.append(self._room[:, came[:count]])
        if count := int(state[WENT]):
            self.went.append(self._piece[:, went[:count]])
        return True

    def end(self) -> None:
        """Note the rows that are there behind all that came."""
        self.went.append(self._piece[:, int(self._state[SLOT]) :].copy())
        self.went += [piece.copy() for piece in self._there]


def compared(
    read: Read, rows: int, width: int, alone: int, there: Iterator[Matrix]
) -> tuple[list[Matrix], list[Matrix]] | None:
    """The rows that come and are not there, and those that are there and do not come. O(n).

    `read` gives the `rows` that come, of so many columns; `there`: at most `PIECE` rows at a time
    in ascending order, of which no two are alike in the first `alone` columns. None where the rows
    that come do not ascend in these; that shows after a few where they are in another order.
    """
    sides = _Sides(read, rows, width, there)
    while sides.fill():
        if not sides.step(alone):
            return None
    sides.end()
    came, went = (np.concatenate(side, axis=1) for side in (sides.came, sides.went))
    return list(came), list(went)
