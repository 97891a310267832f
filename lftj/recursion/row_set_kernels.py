"""A growing set of rows packed into one word each: a bitmap where the domain is dense, open addressing where it is not.

Row (c₀, c₁, …) packs to Σ (cᵢ − lowᵢ) · strideᵢ, which keeps the order of rows. New rows are appended, packed, to `fresh`.
"""

from __future__ import annotations

import numpy as np

from scantree.jit import compiled, inlined, load, store

EMPTY = -1
OUT_OF_RANGE = -1
_MULTIPLIER = -7046029254386353131  # 2⁶⁴ / golden ratio, as a signed word


@inlined
def slot_of(packed, shift):
    """Fibonacci hashing: the top bits of a product."""
    return ((packed * _MULTIPLIER) >> shift) & ((1 << (64 - shift)) - 1)


@inlined
def pack(rows, row, picks, lows, highs, strides):
    """The packed row, or OUT_OF_RANGE when a value lies outside the ranges."""
    packed = 0
    for column in range(picks.size):
        value = rows[load(picks, column), row]
        if value < load(lows, column) or value > load(highs, column):
            return OUT_OF_RANGE
        packed += (value - load(lows, column)) * load(strides, column)
    return packed


@compiled
def add_dense(rows, first, picks, lows, highs, strides, bits, fresh, count):
    """Add rows [first, n): (rows taken, new ones). Stops early at a row out of range. `fresh` has room for all."""
    for row in range(first, rows.shape[1]):
        packed = pack(rows, row, picks, lows, highs, strides)
        if packed < 0:
            return row, count
        word = load(bits, packed >> 6)
        bit = 1 << (packed & 63)
        if word & bit == 0:
            store(bits, packed >> 6, word | bit)
            store(fresh, count, packed)
            count += 1
    return rows.shape[1], count


@compiled
def add_sparse(rows, first, picks, lows, highs, strides, slots, shift, fresh, count):
    """As `add_dense`, with a hash table of 2^(64 − shift) slots that has room for all."""
    mask = slots.size - 1
    for row in range(first, rows.shape[1]):
        packed = pack(rows, row, picks, lows, highs, strides)
        if packed < 0:
            return row, count
        slot = slot_of(packed, shift)
        found = load(slots, slot)
        while found != EMPTY and found != packed:
            slot = (slot + 1) & mask
            found = load(slots, slot)
        if found == EMPTY:
            store(slots, slot, packed)
            store(fresh, count, packed)
            count += 1
    return rows.shape[1], count


@compiled
def rehash(old, slots, shift):
    """Move every row of a hash table to a larger one."""
    mask = slots.size - 1
    for i in range(old.size):
        packed = load(old, i)
        if packed != EMPTY:
            slot = slot_of(packed, shift)
            while load(slots, slot) != EMPTY:
                slot = (slot + 1) & mask
            store(slots, slot, packed)


@compiled
def list_bits(bits, out):
    """The packed rows in a bitmap, ascending, into `out`, which has room for all."""
    count = 0
    for i in range(bits.size):
        word = load(bits, i)
        if word == 0:
            continue
        for bit in range(64):
            if (word >> bit) & 1:
                out[count] = (i << 6) + bit
                count += 1
    return count


@compiled
def unpack(packed, lows, strides, out):
    """The columns of packed rows, into `out` (shape columns × n). Strides descend, the last is 1."""
    for row in range(packed.size):
        rest = load(packed, row)
        for column in range(lows.size):
            stride = load(strides, column)
            part = rest // stride if stride != 1 else rest
            rest -= part * stride
            out[column, row] = part + load(lows, column)


@compiled
def bounds(rows, picks, lows, highs):
    """Widen lows and highs to hold all rows."""
    for column in range(picks.size):
        at = picks[column]
        for row in range(rows.shape[1]):
            lows[column] = min(lows[column], rows[at, row])
            highs[column] = max(highs[column], rows[at, row])


def empty_slots(count: int) -> np.ndarray:
    """A hash table without rows."""
    return np.full(count, EMPTY, np.int64)
