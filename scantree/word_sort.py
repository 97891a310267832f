"""Sorting words by their digits: random words take a sixth to an eighth of the time of a sort that compares them.

A comparison of random words sends the processor the wrong way every other time; moving a word to where its digit belongs never does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scantree.word_sort_kernels import ascending, sort_digits, sort_places

_FEW = 1 << 9
"""Words below which comparing them is as fast."""

_WIDEST = 10
"""Bits of a digit: with more, the ends of the 2^bits runs that words are moved to do not stay in the nearest cache."""


def sort_words(words: np.ndarray, bits: int, low: int = 0) -> None:
    """Bring words, each at least 0 and less than 2^bits, into ascending order, in place.

    `low`: words that are equal but for so many low bits are in order already. O(n · bits), and as much memory again; O(n) when they ascend.
    """
    if words.size < _FEW:
        words.sort()
    elif not ascending(words):
        sort_digits(words, np.empty_like(words), low, *_digits(bits - low))


def settled_bits(order: Sequence[int], widths: Sequence[int]) -> int:
    """The `low` bits of rows that came in ascending order and were packed anew, column `order[i]`, of `widths[i]` bits, in place i.

    They are those of the last columns that follow one another as before: among rows that agree on the columns in front of these, their
    order decided before, too.
    """
    first = len(order) - 1
    while first > 0 and order[first - 1] < order[first]:
        first -= 1
    return sum(widths[first:])


def places_in_order(columns: Sequence[np.ndarray]) -> np.ndarray:
    """The positions of rows of int64 columns in ascending order of the rows; equal rows keep their order. O(n · bits of a row)."""
    if len(columns[0]) < _FEW:
        return np.lexsort(columns[::-1])
    places = np.arange(len(columns[0]), dtype=np.int64)
    words_moved, places_moved = np.empty((2, places.size), np.int64)
    for column in reversed(columns):
        low = int(column.min())
        if bits := (int(column.max()) - low).bit_length():
            # wraps where the range takes 64 bits: its digits are right all the same
            words, (width, digits) = column.take(places) - np.int64(low), _digits(bits)
            sort_places(words, places, words_moved, places_moved, width, digits)
    return places


def _digits(bits: int) -> tuple[int, int]:
    """Width and number of digits."""
    digits = max(1, -(-bits // _WIDEST))
    return -(-bits // digits), digits
