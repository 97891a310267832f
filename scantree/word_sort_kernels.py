# SPDX-License-Identifier: Apache-2.0
"""Radix sort of words, from the lowest digit to the highest: each pass keeps the order of words
with equal digits.

[Knuth, The Art of Computer Programming 3, section 5.2.5, algorithm R]
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled, inlined, load, store


@compiled
def ascending(words):
    """Check that words ascend; stop at the first that does not."""
    for i in range(1, words.size):
        if load(words, i) < load(words, i - 1):
            return False
    return True


@inlined
def count_digits(words, low, width, digits):
    """Count the values of each digit: 2^width counts for the lowest digit, then those of the
    next.
    """
    mask = (1 << width) - 1
    counts = np.zeros(digits << width, np.int64)
    for i in range(words.size):
        word = load(words, i) >> low
        for digit in range(digits):
            at = (digit << width) + (word & mask)
            store(counts, at, load(counts, at) + 1)
            word >>= width
    return counts


@inlined
def is_constant(words, shift, mask, counts, first):
    """Test for a digit that is the same in all words, by the counts of its values."""
    return load(counts, first + ((load(words, 0) >> shift) & mask)) == words.size


@inlined
def begin_runs(counts, first, last, place):
    """Make each of the counts [first, last) the place where the run of its value begins, the first
    one at `place`.
    """
    for at in range(first, last):
        count = load(counts, at)
        store(counts, at, place)
        place += count


@inlined
def move_to_runs(source, count, shift, mask, ends, first, target):
    """Move source[:count] to `target`, each to the end of its digit's run; `ends[first + digit]`
    says where that is, and moves on.
    """
    for i in range(count):
        word = load(source, i)
        at = first + ((word >> shift) & mask)
        place = load(ends, at)
        store(target, place, word)
        store(ends, at, place + 1)


@inlined
def take_over(words, source):
    """Write source over words. (`words[:] = source` would have a message about shapes compiled, for
    seconds.)
    """
    for i in range(words.size):
        store(words, i, load(source, i))


@inlined
def sort_between(words, scratch, low, width, digits):
    """Sort words by so many digits of `width` bits each, the lowest of them at bit `low`: the
    number of moves to the other of the two arrays and back.
    """
    mask = (1 << width) - 1
    ends = count_digits(words, low, width, digits)
    source, target = words, scratch
    moves = 0
    for digit in range(digits):
        shift, first = low + digit * width, digit << width
        if is_constant(words, shift, mask, ends, first):
            continue
        begin_runs(ends, first, first + mask + 1, 0)
        move_to_runs(source, words.size, shift, mask, ends, first, target)
        source, target = target, source
        moves += 1
    return moves


@compiled
def sort_digits(words, scratch, low, width, digits):
    """Sort words by so many digits of `width` bits each, the lowest of them at bit `low`. `scratch`
    is as long, and overwritten.
    """
    if sort_between(words, scratch, low, width, digits) & 1:
        take_over(words, scratch)


# Words in runs by their highest digit: each run then stays in the cache while it is sorted, and
# runs are sorted by several threads.


@compiled
def count_values(words, shift, counts):
    """Add up how often each value of the highest digit, which begins at bit `shift`, occurs."""
    for i in range(words.size):
        digit = load(words, i) >> shift
        store(counts, digit, load(counts, digit) + 1)


@compiled
def move_words(words, shift, ends, target):
    """Move words to `target`, each to the end of the run of its highest digit; `ends` move on."""
    move_to_runs(words, words.size, shift, (1 << (63 - shift)) - 1, ends, 0, target)


@compiled
def sort_runs(source, target, ends, first, last, low, width, digits):
    """Sort each of the runs [first, last) of `source`, which end where `ends` says, into `target`,
    as `sort_digits`. Both are overwritten.
    """
    for run in range(first, last):
        end = load(ends, run)
        begin = load(ends, run - 1) if run > 0 else 0
        if begin < end:
            words = source[begin:end]
            if sort_between(words, target[begin:end], low, width, digits) & 1 == 0:
                take_over(target[begin:end], words)
