"""Radix sort of words, from the lowest digit to the highest: each pass keeps the order of words
with equal digits.

[Knuth, The Art of Computer Programming 3, section 5.2.5, algorithm R]
"""

from __future__ import annotations

import numpy as np

from scantree.jit import compiled, inlined, load, store


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


@compiled
def sort_digits(words, scratch, low, width, digits):
    """Sort words by so many digits of `width` bits each, the lowest of them at bit `low`. `scratch`
    is as long, and overwritten.
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
    if moves & 1:
        take_over(words, scratch)
