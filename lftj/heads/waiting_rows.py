# SPDX-License-Identifier: Apache-2.0
"""Rows that wait for their groups: put aside as they come, then sorted by them and given back in
pieces that several threads add up.

A word is sorted for each row. The columns of its group are in the high bits; below them are the
other columns where these fit, else the number of the row, by which they are read. So the rows
themselves are copied once or not at all, and no order among the rows of a group is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from lftj.scantree.packing_kernels import KEY_BITS, unpack_rows
from lftj.scantree.rows import sorted_by
from lftj.scantree.sharing import ALONE, SPAN, Threads, equal_spans
from lftj.scantree.word_sort import sort_words

ONCE = np.ones(1, np.int64)
"""Counts of rows that all count once."""
_PIECE = SPAN
"""Rows of a piece, about: what is made of them stays in the cache."""
_BLOCK = 1 << 15  # rows that are packed at a time, so that what is between stays in the cache

Piece = Callable[[], np.ndarray]
"""Maker of some rows in the order of their groups: a line for each column, one for their counts."""


class WaitingRows:
    """Rows whose first `width` columns, one at least, are those of their group."""

    def __init__(self, width: int):
        self._width = width
        self._clear()

    def _clear(self) -> None:
        self._matrices: list[np.ndarray] = []
        self._counts: list[np.ndarray] = []
        self.rows = 0
        """Number of rows."""
        self.nbytes = 0
        """Bytes that they take."""

    def add(self, columns: Sequence[np.ndarray], counts: np.ndarray) -> None:
        """Copy rows, which count as `counts` has it, or `ONCE`."""
        self._take(np.array(columns), counts if counts is ONCE else counts.copy())

    def absorb(self, other: WaitingRows) -> None:
        """Take the rows of another behind these."""
        for matrix, counts in zip(other._matrices, other._counts, strict=True):
            self._take(matrix, counts)

    def _take(self, matrix: np.ndarray, counts: np.ndarray) -> None:
        self._matrices.append(matrix)
        self._counts.append(counts)
        self.rows += matrix.shape[1]
        self.nbytes += matrix.nbytes + counts.nbytes

    def pieces(self, threads: Threads = ALONE) -> list[Piece]:
        """All rows in order of their groups, in pieces that end where a group does; none waits any
        more. O(n log n). Each is to be asked for once, on any thread.
        """
        matrices, counts = self._matrices, self._counts
        self._clear()  # rows may go as soon as they are packed
        once = all(each is ONCE for each in counts)
        if not once:
            matrices = [
                np.concatenate([matrix, np.broadcast_to(each, (1, matrix.shape[1]))])
                for matrix, each in zip(matrices, counts, strict=True)
            ]
        rows = sum(matrix.shape[1] for matrix in matrices)
        lows, widths = _spread(matrices, threads)
        groups, place = sum(widths[: self._width]), (rows - 1).bit_length()
        packed = sum(widths) <= KEY_BITS
        if not packed and (not self._width or groups + place > KEY_BITS):
            whole = sorted_by(np.concatenate(matrices, axis=1), self._width, threads)
            return [lambda: _counted(whole, once)]
        kept = len(widths) if packed else self._width
        others = sum(widths[self._width :]) if packed else place
        words = _packed(matrices, lows[:kept], widths[:kept], 0 if packed else place, threads)
        behind = [] if packed else _joined(matrices, self._width, threads)
        del matrices
        if groups:
            sort_words(words, groups + others, others, threads)
        low, wide = np.array(lows[:kept]), np.array(widths[:kept])

        def piece(span: tuple[int, int]) -> np.ndarray:
            here = words[slice(*span)]
            found = np.empty((len(widths), here.size), np.int64)
            unpack_rows(here if packed else here >> others, low, wide, False, found[:kept])
            if not packed:
                places = here & ((1 << others) - 1)
                for column, into in zip(behind, found[kept:], strict=True):
                    column.take(places, out=into, mode="clip")
            return _counted(found, once)

        return [lambda span=span: piece(span) for span in _whole_groups(words, others)]


def _counted(rows: np.ndarray, once: bool) -> np.ndarray:
    return np.concatenate([rows, np.ones((1, rows.shape[1]), np.int64)]) if once else rows


def _spread(matrices: Sequence[np.ndarray], threads: Threads) -> tuple[list[int], list[int]]:
    """The least value of each column, and the bits of the values' distances from it."""
    found = threads.together(
        lambda matrix: (matrix.min(axis=1).tolist(), matrix.max(axis=1).tolist()), matrices
    )
    lows = [min(each) for each in zip(*(low for low, _ in found), strict=True)]
    highs = [max(each) for each in zip(*(high for _, high in found), strict=True)]
    return lows, [(high - low).bit_length() for low, high in zip(lows, highs, strict=True)]


def _starts(matrices: Sequence[np.ndarray]) -> list[int]:
    return [0, *np.cumsum([matrix.shape[1] for matrix in matrices]).tolist()]


def _packed(
    matrices: Sequence[np.ndarray],
    lows: Sequence[int],
    widths: Sequence[int],
    place: int,
    threads: Threads,
) -> np.ndarray:
    """A word of each row's first columns, one at least, the first in the highest bits, and in so
    many low bits, if any, its number.
    """
    starts = _starts(matrices)
    words = np.empty(starts[-1], np.int64)

    def pack(number: int) -> None:
        matrix = matrices[number]
        for first in range(0, matrix.shape[1], _BLOCK):
            lines = matrix[:, first : first + _BLOCK]
            begin = starts[number] + first
            into = words[begin : begin + lines.shape[1]]
            np.subtract(lines[0], lows[0], out=into)
            for line, low, width in zip(lines[1:], lows[1:], widths[1:], strict=False):
                into <<= width
                into |= line - low
            if place:
                into <<= place
                into |= np.arange(begin, begin + into.size)

    threads.together(pack, range(len(matrices)))
    return words


def _joined(matrices: Sequence[np.ndarray], first: int, threads: Threads) -> np.ndarray:
    """The columns from number `first` on, as one matrix."""
    starts = _starts(matrices)
    whole = np.empty((len(matrices[0]) - first, starts[-1]), np.int64)

    def copy(number: int) -> None:
        whole[:, starts[number] : starts[number + 1]] = matrices[number][first:]

    threads.together(copy, range(len(matrices)))
    return whole


def _whole_groups(words: np.ndarray, others: int) -> list[tuple[int, int]]:
    """Spans of sorted words that end where a group does; all but `others` bits are the group's."""
    cuts = [0]
    for _, last in equal_spans(words.size, max(1, words.size // _PIECE)):
        greatest = int(words[last - 1]) | ((1 << others) - 1)
        cuts.append(last + int(np.searchsorted(words[last:], greatest, side="right")))
    return [(first, last) for first, last in pairwise(cuts) if first < last]
