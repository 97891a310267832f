# SPDX-License-Identifier: Apache-2.0
"""A growing set of rows packed into one word each: a bitmap where the domain is dense, open
addressing where it is not.

Row (c₀, c₁, …) packs to Σ (cᵢ − lowᵢ) · 2^shiftᵢ, which keeps the order of rows. New rows are
appended, packed, to `fresh`.

Threads that add to one set at the same time (`shared`) each have a `fresh` of their own. A row that
is not there is put in by an atomic exchange, so that one of them finds it new; rows that are there,
which most candidates are, cost no more than with one thread.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.hash_kernels import slot_of
from lftj.scantree.jit import claim, compiled, inlined, load, store

EMPTY = 0  # a slot holds a packed row plus one, so that a fresh table is one the system has zeroed
BLOCK = 128  # rows whose slots are fetched together


@inlined
def pack_block(rows, first, last, picks, lows, highs, shifts, block):
    """Pack rows [first, last) into `block`, a column at a time; a negative number when a value lies
    outside the ranges.
    """
    outside = 0
    for column in range(picks.size):
        low, shift = load(lows, column), load(shifts, column)
        span = load(highs, column) - low
        values = rows[load(picks, column), first:last]
        if column == 0:
            for i in range(last - first):
                value = values[i] - low
                outside |= value | (span - value)
                block[i] = value << shift
        else:
            for i in range(last - first):
                value = values[i] - low
                outside |= value | (span - value)
                block[i] |= value << shift
    return outside


@inlined
def touch(block, first, last, slots, shift):
    """Read the slots of the packed rows [first, last), so that the waits for memory overlap; gives
    a sum of no use.
    """
    total = 0
    for i in range(first, last):
        total += load(slots, slot_of(load(block, i), shift))
    return total


@inlined
def mark(bits, packed, shared):
    """Set the bit of a row: whether it was set."""
    at, bit = packed >> 6, 1 << (packed & 63)
    word = load(bits, at)
    if not shared:
        store(bits, at, word | bit)
        return (word >> (packed & 63)) & 1
    while word & bit == 0:
        found = claim(bits, at, word, word | bit)
        if found == word:
            return 0
        word = found
    return 1


@inlined
def put(slots, packed, shift, shared):
    """Put a row into the hash table: whether it was there."""
    mask = (1 << (64 - shift)) - 1
    entry = packed + 1
    slot = slot_of(packed, shift)
    found = load(slots, slot)
    while found != entry:
        if found == EMPTY:
            if not shared:
                store(slots, slot, entry)
                return 0
            found = claim(slots, slot, EMPTY, entry)
            if found == EMPTY:
                return 0
        else:
            slot = (slot + 1) & mask
            found = load(slots, slot)
    return 1


@compiled
def add_dense(rows, first, picks, lows, highs, shifts, bits, shared, fresh, count):
    """Add rows [first, n): (rows taken, new ones, a sum). Stops before a block with a row out of
    range. `fresh` has room for all.
    """
    block = np.empty(BLOCK, np.int64)
    while first < rows.shape[1]:
        last = min(first + BLOCK, rows.shape[1])
        if pack_block(rows, first, last, picks, lows, highs, shifts, block) < 0:
            break
        for i in range(last - first):
            packed = load(block, i)
            store(fresh, count, packed)
            count += 1 - mark(bits, packed, shared)
        first = last
    return first, count, 0


@compiled
def add_sparse(rows, first, picks, lows, highs, shifts, slots, shift, shared, fresh, count):
    """As `add_dense`, with a hash table of 2^(64 − shift) slots that has room for all."""
    block = np.empty(BLOCK, np.int64)
    total = 0
    while first < rows.shape[1]:
        last = min(first + BLOCK, rows.shape[1])
        if pack_block(rows, first, last, picks, lows, highs, shifts, block) < 0:
            break
        total += touch(block, 0, last - first, slots, shift)
        for i in range(last - first):
            packed = load(block, i)
            store(fresh, count, packed)
            count += 1 - put(slots, packed, shift, shared)
        first = last
    return first, count, total


@compiled
def fill(packed, slots, shift):
    """Put packed rows, none of which is there, into a hash table with room for them; as
    `add_sparse` gives a sum.
    """
    total = 0
    for first in range(0, packed.size, BLOCK):
        last = min(first + BLOCK, packed.size)
        total += touch(packed, first, last, slots, shift)
        for i in range(first, last):
            put(slots, load(packed, i), shift, False)
    return total


@compiled
def unpack(packed, lows, shifts, out):
    """The columns of packed rows, into `out` (shape columns × n). Shifts descend to 0."""
    for column in range(lows.size):
        low = load(lows, column)
        shift = load(shifts, column)
        mask = (1 << (load(shifts, column - 1) - shift)) - 1 if column > 0 else -1
        for row in range(packed.size):
            out[column, row] = ((load(packed, row) >> shift) & mask) + low


@compiled
def bounds(rows, picks, lows, highs):
    """Widen lows and highs to hold all rows."""
    for column in range(picks.size):
        at = picks[column]
        for row in range(rows.shape[1]):
            lows[column] = min(lows[column], rows[at, row])
            highs[column] = max(highs[column], rows[at, row])


@compiled
def append_numbers(packed, numbers, counts, width, out):
    """Packed rows with a last column of `width` bits, into `out`: `numbers[0]` for the first
    `counts[0]` rows, `numbers[1]` for the next `counts[1]` …
    """
    row = 0
    for i in range(numbers.size):
        number = load(numbers, i)
        for _ in range(load(counts, i)):
            store(out, row, (load(packed, row) << width) | number)
            row += 1


@compiled
def reordered(packed, shifts, order, moved, out):
    """Rows packed by `shifts` packed anew: column `order[i]` at shift `moved[i]`, into `out`."""
    for row in range(packed.size):
        store(out, row, 0)
    for i in range(order.size):
        column = load(order, i)
        shift, to = load(shifts, column), load(moved, i)
        mask = (1 << (load(shifts, column - 1) - shift)) - 1 if column > 0 else -1
        for row in range(packed.size):
            store(out, row, load(out, row) | (((load(packed, row) >> shift) & mask) << to))
