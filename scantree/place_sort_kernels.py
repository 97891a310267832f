# SPDX-License-Identifier: Apache-2.0
"""Compiled passes of sorting rows by what comes first in them: a column into words, and words whose
rows begin alike into order.
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, load, store
from lftj.scantree.word_sort_kernels import begin_runs, count_digits, is_constant, take_over


@compiled
def spread(column):
    """The least and the greatest value of a column of some rows, and the bits in which its values
    differ.
    """
    low = high = first = load(column, 0)
    differing = 0
    for row in range(column.size):
        value = load(column, row)
        low = min(low, value)
        high = max(high, value)
        differing |= value ^ first
    return low, high, differing


@compiled
def add_field(words, distances, kept, dropped):
    """Move each word up by `kept` bits, below 64, and put there the distance of its row, without
    `dropped` low bits.
    """
    mask = (1 << kept) - 1
    for row in range(words.size):
        store(words, row, (load(words, row) << kept) | ((load(distances, row) >> dropped) & mask))


@compiled
def sort_ties(words, bits, rows, places, patience):
    """Bring rows that begin alike into order, and write the places of all rows.

    `words` ascend; the low `bits` of each are the place of its row in `rows` (columns × rows). In
    words that are alike above these bits places ascend. Words are moved one by one: False when that
    takes more than `patience` steps.
    """
    mask = (1 << bits) - 1
    for at in range(words.size):
        word = load(words, at)
        place = word & mask
        to = at
        while to > 0:
            before = load(words, to - 1)
            if before >> bits != word >> bits:
                break
            column = 0
            other = before & mask
            while column < rows.shape[0] and rows[column, other] == rows[column, place]:
                column += 1
            if column == rows.shape[0] or rows[column, other] < rows[column, place]:
                break
            store(words, to, before)
            store(places, to, other)
            to -= 1
            patience -= 1
        store(words, to, word)
        store(places, to, place)
        if patience < 0:
            return False
    return True


@compiled
def sort_places(words, places, word_scratch, place_scratch, width, digits):
    """As `sort_digits` from bit 0 on, and `places` along with the words."""
    mask = (1 << width) - 1
    ends = count_digits(words, 0, width, digits)
    source, target = words, word_scratch
    riding, riding_to = places, place_scratch
    moves = 0
    for digit in range(digits):
        shift, first = digit * width, digit << width
        if is_constant(words, shift, mask, ends, first):
            continue
        begin_runs(ends, first, first + mask + 1, 0)
        for i in range(words.size):
            word = load(source, i)
            at = first + ((word >> shift) & mask)
            place = load(ends, at)
            store(target, place, word)
            store(riding_to, place, load(riding, i))
            store(ends, at, place + 1)
        source, target = target, source
        riding, riding_to = riding_to, riding
        moves += 1
    if moves & 1:
        take_over(words, word_scratch)
        take_over(places, place_scratch)
