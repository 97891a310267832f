# SPDX-License-Identifier: Apache-2.0
"""A growing set of rows with proof counts: open addressing over rows that lie one behind the other
in the order in which they came.

Row i is entries[i · (width + 1)] … and then its count. Rows of one iteration lie together, so that
their number tells whether a row that is already there came in this iteration, and counts its proof,
or earlier, and does not. A slot holds a row's number plus one; 0 is empty.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.hash_kernels import mix, slot_of
from lftj.scantree.jit import compiled, fetch, inlined, load, store

BLOCK = 64  # rows that are looked up together


@inlined
def same_row(entries, at, rows, row, picks):
    """Compare the entry at this word with row number `row`."""
    for column in range(picks.size):
        if load(entries, at + column) != rows[picks[column], row]:
            return False
    return True


@compiled
def look_ahead(rows, first, last, picks, slots, shift, entries, block):
    """Put the home slots of rows [first, last) into `block`, and fetch them and the entries they
    lead to, so that the waits for memory overlap.
    """
    for row in range(first, last):
        hashed = 0
        for column in range(picks.size):
            hashed = mix(hashed, rows[picks[column], row])
        slot = slot_of(hashed, shift)
        store(block, row - first, slot)
        fetch(slots, slot)
    for place in range(last - first):
        entry = load(slots, load(block, place))
        fetch(entries, max(0, entry - 1) * (picks.size + 1))


@compiled
def add_proofs(rows, picks, slots, shift, entries, count, fresh):
    """Add rows whose last line is their number of proofs; `entries` and `slots` have room for all.
    The new number of entries.

    Entries from number `fresh` on are of the present iteration.
    """
    width = picks.size
    mask = slots.size - 1
    proofs = rows.shape[0] - 1
    block = np.empty(BLOCK, np.int64)
    for first in range(0, rows.shape[1], BLOCK):
        last = min(first + BLOCK, rows.shape[1])
        look_ahead(rows, first, last, picks, slots, shift, entries, block)
        for row in range(first, last):
            slot = load(block, row - first)
            entry = load(slots, slot)
            while entry != 0 and not same_row(entries, (entry - 1) * (width + 1), rows, row, picks):
                slot = (slot + 1) & mask
                entry = load(slots, slot)
            if entry == 0:
                at = count * (width + 1)
                for column in range(width):
                    store(entries, at + column, rows[picks[column], row])
                store(entries, at + width, rows[proofs, row])
                count += 1
                store(slots, slot, count)
            elif entry > fresh:
                at = (entry - 1) * (width + 1) + width
                store(entries, at, load(entries, at) + rows[proofs, row])
    return count


@compiled
def rehash(entries, width, count, slots, shift):
    """Fill an empty table of slots with all entries."""
    mask = slots.size - 1
    block = np.empty(BLOCK, np.int64)
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        for entry in range(first, last):
            hashed = 0
            for column in range(width):
                hashed = mix(hashed, load(entries, entry * (width + 1) + column))
            slot = slot_of(hashed, shift)
            store(block, entry - first, slot)
            fetch(slots, slot)
        for entry in range(first, last):
            slot = load(block, entry - first)
            while load(slots, slot) != 0:
                slot = (slot + 1) & mask
            store(slots, slot, entry + 1)
