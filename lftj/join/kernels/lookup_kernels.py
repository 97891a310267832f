# SPDX-License-Identifier: Apache-2.0
"""Tables that find a row by the values of some of its columns, and what is computed in rows that
were found.

A table finds by place, where one column's values lie close together, else by hashing. It holds
numbers of rows, NOWHERE where there is none; `times[row]` says how many rows have the same values
as one that it holds.
"""

from __future__ import annotations

from lftj.join.kernels.expression_kernels import compute
from lftj.join.kernels.layout_kernels import BINDINGS, FAILURE, STACK
from lftj.scantree.jit import compiled, inlined, load, store

NOWHERE = -1
_MULTIPLIER = 0x1E3779B97F4A7C15  # odd, and its bits are in no order
_HASH = (1 << 63) - 1


@compiled
def place_rows(values, low, table, times):
    """Put each row at the place of its value, counted from `low`; of rows with one value the first.
    The number of those left out.
    """
    again = 0
    for row in range(values.size):
        place = load(values, row) - low
        first = load(table, place)
        if first == NOWHERE:
            store(table, place, row)
        else:
            store(times, first, load(times, first) + 1)
            again += 1
    return again


@compiled
def find_placed(values, low, table, kept, found):
    """Look up values in a placed table: for each one found its number in `kept` and the row in
    `found`. Return how many there are; the rest is undefined.
    """
    many = 0
    high = low + (table.size - 1)  # added up so, it stays in a word
    for number in range(values.size):
        value = load(values, number)
        row = load(table, value - low) if low <= value <= high else NOWHERE
        store(kept, many, number)
        store(found, many, row)
        many += row != NOWHERE
    return many


@compiled
def keep_same(sought, values, kept, found, many):
    """Keep, of the first `many` of `kept` and `found`, those whose value is that of the row found,
    moved to the front; return how many.
    """
    left = 0
    for place in range(many):
        number, row = load(kept, place), load(found, place)
        store(kept, left, number)
        store(found, left, row)
        left += load(sought, number) == load(values, row)
    return left


@compiled
def mark_runs(values, low, runs):
    """Mark, for each value from `low` on, the position at which its run among ascending `values`
    begins; one word more has the end of the last run.
    """
    row = 0
    for place in range(runs.size - 1):
        store(runs, place, row)
        while row < values.size and load(values, row) - low == place:
            row += 1
    store(runs, runs.size - 1, row)


@compiled
def find_runs(values, low, runs, kept, found, ends):
    """Look up values that have a run: the number of each in `kept`, the position of its run in
    `found`, and its end. Return how many there are.
    """
    many = 0
    high = low + (runs.size - 2)
    for number in range(values.size):
        value = load(values, number)
        if low <= value <= high:
            begin, end = load(runs, value - low), load(runs, value - low + 1)
            store(kept, many, number)
            store(found, many, begin)
            store(ends, many, end)
            many += begin < end
    return many


@compiled
def keep_runs(kept, found, ends, many):
    """Keep, of the first `many`, those whose run is not empty, moved to the front; return how
    many.
    """
    left = 0
    for place in range(many):
        begin, end = load(found, place), load(ends, place)
        store(kept, left, load(kept, place))
        store(found, left, begin)
        store(ends, left, end)
        left += begin < end
    return left


@inlined
def slot_of(keys, number, mask):
    """First slot to search for the values in column `number` of a matrix, in a table of `mask` + 1
    slots, a power of two.
    """
    mixed = 0
    for line in range(keys.shape[0]):
        mixed ^= int(keys[line, number])  # a number without bounds where this is interpreted
        mixed = (
            (mixed ^ (mixed >> 32)) * _MULTIPLIER
        ) & _HASH  # whole numbers as floats differ in high bits alone
        mixed ^= mixed >> 32
    return mixed & mask


@inlined
def same_key(keys, number, others, other):
    """Compare a column of one matrix with a column of the other."""
    for line in range(keys.shape[0]):
        if keys[line, number] != others[line, other]:
            return False
    return True


@compiled
def hash_rows(keys, table, times):
    """As `place_rows`, for the columns of a matrix."""
    again = 0
    mask = table.size - 1
    for row in range(keys.shape[1]):
        slot = slot_of(keys, row, mask)
        while True:
            first = load(table, slot)
            if first == NOWHERE:
                store(table, slot, row)
                break
            if same_key(keys, row, keys, first):
                store(times, first, load(times, first) + 1)
                again += 1
                break
            slot = (slot + 1) & mask
    return again


@compiled
def find_hashed(sought, keys, table, kept, found):
    """As `find_placed`, for the columns of a matrix; `keys` are those of the rows in the table."""
    many = 0
    mask = table.size - 1
    for number in range(sought.shape[1]):
        slot = slot_of(sought, number, mask)
        row = load(table, slot)
        while row != NOWHERE and not same_key(sought, number, keys, row):
            slot = (slot + 1) & mask
            row = load(table, slot)
        store(kept, many, number)
        store(found, many, row)
        many += row != NOWHERE
    return many


@compiled
def keep_absent(kept, many, rows, absent):
    """The numbers below `rows` that are not among the first `many` of `kept`, which ascend, in
    `absent`; how many.
    """
    left = 0
    next_kept = 0
    for number in range(rows):
        if next_kept < many and load(kept, next_kept) == number:
            next_kept += 1
        else:
            store(absent, left, number)
            left += 1
    return left


@compiled
def add_up(places, times, totals):
    """Add to the total at each place what it is found `times`, which may be one number for all."""
    for number in range(places.size):
        place = load(places, number)
        store(totals, place, load(totals, place) + load(times, number if times.size > 1 else 0))


@compiled
def compute_rows(words, state, levels, inputs, offsets, text, values):
    """The value of the code at the beginning of `words` for each column of a matrix of bindings of
    these levels; False where one fails.
    """
    bindings, stack = load(state, BINDINGS), load(state, STACK)
    for row in range(values.size):
        for line in range(levels.size):
            store(state, bindings + load(levels, line), inputs[line, row])
        store(values, row, compute(words, state, 0, bindings, stack, offsets, text))
        if load(state, FAILURE) != 0:
            return False
    return True
