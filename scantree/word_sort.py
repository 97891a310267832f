# SPDX-License-Identifier: Apache-2.0
"""Sorting words by their digits: random words take a sixth to an eighth of the time of a sort that
compares them.

A comparison of random words sends the processor the wrong way every other time; moving a word to
where its digit belongs never does. Nor do the vector instructions that NumPy sorts with on some
processors, in place, and where these are faster words are left to them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from time import perf_counter

import numpy as np

from lftj.scantree.buffer_pool import give_back, unfilled
from lftj.scantree.sharing import ALONE, SPAN, Threads, spans
from lftj.scantree.word_sort_kernels import (
    ascending,
    count_values,
    move_words,
    sort_digits,
    sort_runs,
)

FEW = 1 << 9
"""Words below which comparing them is as fast."""

_TRIED, _TRIED_BITS, _TRIES = 1 << 12, 40, 3

_WIDEST = 10
"""Bits of a digit: with more, the ends of the 2^bits runs that words are moved to do not stay in
the nearest cache.
"""


_RUN = 15
"""Bits of the number of words of a run: with what they are moved to they stay in a core's cache."""


def sort_words(words: np.ndarray, bits: int, low: int = 0, threads: Threads = ALONE) -> None:
    """Bring words, each at least 0 and less than 2^bits, into ascending order, in place.

    `low`: words that are equal but for so many low bits are in order already. O(n · bits), and as
    much memory again; O(n) when they ascend. `threads` help with many words.
    """
    if words.size < FEW:
        words.sort()
    elif not ascending(words):
        by_numpy = numpy_is_faster()
        if words.size >= 2 * SPAN and bits > low and (threads.workers > 1 or not by_numpy):
            _sort_by_runs(words, bits, low, threads, by_numpy)
        elif by_numpy:
            words.sort()
        else:
            _sort_digits(words, bits, low)


def _sort_by_runs(words: np.ndarray, bits: int, low: int, threads: Threads, by_numpy: bool) -> None:
    """Sort words by their highest digit, then the run of each value of it."""
    top = min(_WIDEST, words.size.bit_length() - _RUN, bits - low)
    shift, parts = bits - top, [words[slice(*span)] for span in spans(words.size, threads)]
    counts = np.zeros((len(parts), 1 << top), np.int64)
    threads.together(lambda part: count_values(parts[part], shift, counts[part]), range(len(parts)))
    behind = np.cumsum(counts.T.reshape(-1)).reshape(-1, len(parts)).T
    ends, moved = np.ascontiguousarray(behind - counts), unfilled(words.size)
    threads.together(
        lambda part: move_words(parts[part], shift, ends[part], moved), range(len(parts))
    )
    runs = ends[-1]

    def sort(first: int, last: int) -> None:
        if by_numpy:
            for begin, end in pairwise([0, *runs[:last].tolist()][first:]):
                moved[begin:end].sort()
                words[begin:end] = moved[begin:end]
        else:
            sort_runs(moved, words, runs, first, last, low, *digits_of(shift - low))

    cuts = np.searchsorted(runs, [last for _, last in spans(words.size, threads)])
    cuts[-1] = runs.size
    threads.together(lambda piece: sort(*piece), list(pairwise([0, *cuts.tolist()])))
    give_back(moved)


def _sort_digits(words: np.ndarray, bits: int, low: int = 0) -> None:
    scratch = unfilled(words.size)
    sort_digits(words, scratch, low, *digits_of(bits - low))
    give_back(scratch)


@cache
def numpy_is_faster() -> bool:
    """Measure whether NumPy sorts some random words faster than `_sort_digits`, on this processor.
    Tried once, for less than a millisecond.
    """
    given = np.random.default_rng(0).integers(0, 1 << _TRIED_BITS, _TRIED)

    def took(sort: Callable[[np.ndarray], None]) -> float:
        best = float("inf")
        for _ in range(_TRIES):
            words = given.copy()
            began = perf_counter()
            sort(words)
            best = min(best, perf_counter() - began)
        return best

    return took(np.ndarray.sort) < took(lambda words: _sort_digits(words, _TRIED_BITS))


def digits_of(bits: int) -> tuple[int, int]:
    """Width and number of digits."""
    digits = max(1, -(-bits // _WIDEST))
    return -(-bits // digits), digits
