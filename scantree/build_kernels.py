# SPDX-License-Identifier: Apache-2.0
"""Bulk load: sorted rows to leaves, leaves to index levels, left to right. O(n).

None of these checks for memory but `build_in_room`: someone makes sure beforehand that the worst
case fits.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled, load, store
from lftj.scantree.packing_kernels import INT64_MAX, KEY_BITS
from lftj.scantree.page_kernels import (
    ENTRIES,
    FAN_CAPACITY,
    GRANTED,
    LEAF_CAPACITY,
    MAX_HEIGHT,
    NEXT_WORD,
    WIDTH,
    leaf_column,
    new_index,
    new_leaf,
    set_entry,
    words_of_index,
    words_of_leaf,
)

_FILL = 0.9  # of a leaf at bulk load: the first changes after a load then find room


@compiled
def load_fill(layout):
    """Rows that bulk load puts on a leaf."""
    return max(1, int(layout[LEAF_CAPACITY] * _FILL))


@compiled
def words_packed(layout, rows):
    """Words of the pages that a bulk load fills."""
    pages = -(-rows // load_fill(layout))
    words = pages * words_of_leaf(layout)
    while pages > 1:
        pages = -(-pages // layout[FAN_CAPACITY])
        words += pages * words_of_index(layout)
    return words


@compiled
def words_to_load(layout, rows):
    """No fewer words than a bulk load takes."""
    leaves = rows // load_fill(layout) + 1
    index_pages = leaves // (layout[FAN_CAPACITY] - 1) + MAX_HEIGHT + 2
    return leaves * words_of_leaf(layout) + index_pages * words_of_index(layout)


@compiled
def write_leaf(memory, layout, data, first, last):
    """A leaf of rows [first, last) of `data` (shape width × n)."""
    leaf = new_leaf(memory, layout)
    for column in range(layout[WIDTH]):
        base = leaf_column(leaf, column)
        for row in range(first, last):
            store(memory, base + row - first, data[column, row])
    memory[leaf + ENTRIES] = last - first
    return leaf


@compiled
def write_index(memory, layout, pages, first, last, level):
    """An index page over pages[first:last]."""
    parent = new_index(memory, layout, level)
    for i in range(first, last):
        set_entry(memory, layout, parent, i - first, pages[i])
    memory[parent + ENTRIES] = last - first
    return parent


@compiled
def raise_levels(memory, layout, pages, count, level):
    """Index levels over the first `count` of `pages`, which lie at `level`, until one is left:
    (root, height). `pages` is overwritten.
    """
    fan = layout[FAN_CAPACITY]
    while count > 1:
        level += 1
        parents = (count + fan - 1) // fan
        for i in range(parents):
            # parent i is written where only pages stand that it or parents before it have taken in
            pages[i] = write_index(
                memory, layout, pages, count * i // parents, count * (i + 1) // parents, level
            )
        count = parents
    return pages[0], level


@compiled
def build(memory, layout, data, fill):
    """A tree of the sorted, distinct rows in `data` (shape width × n), about `fill` rows a leaf:
    (root, height), (0, 0) without rows.

    The root carries no reference yet.
    """
    rows = data.shape[1]
    if rows == 0:
        return 0, 0
    fill = max(1, min(fill, layout[LEAF_CAPACITY]))
    count = (rows + fill - 1) // fill
    pages = np.empty(count, np.int64)
    for i in range(count):
        pages[i] = write_leaf(memory, layout, data, rows * i // count, rows * (i + 1) // count)
    return raise_levels(memory, layout, pages, count, 0)


@compiled
def build_in_room(memory, layout, data):
    """`build` with leaves as bulk load fills them, and the number of rows: (root, height, rows).
    Where the arena may lack room nothing happens, and the first is minus the words that it has to
    have.
    """
    words = words_to_load(layout, data.shape[1])
    if memory[NEXT_WORD] + words > memory[GRANTED]:
        return -words, 0, 0
    root, height = build(memory, layout, data, load_fill(layout))
    return root, height, data.shape[1]


@compiled
def take_leaves(memory, layout, rows, pages):
    """Leaves for so many rows, as evenly as can be, which are to be written to them."""
    for i in range(pages.size):
        leaf = new_leaf(memory, layout)
        memory[leaf + ENTRIES] = rows * (i + 1) // pages.size - rows * i // pages.size
        pages[i] = leaf


@compiled
def fill_leaves(memory, pages, column, values, places):
    """Write a column of the leaves: `values` at `places`, or all as they are where there are no
    places.
    """
    row = 0
    for page in pages:
        base = leaf_column(page, column)
        entries = memory[page + ENTRIES]
        if places.size > 0:
            for slot in range(entries):
                store(memory, base + slot, load(values, load(places, row + slot)))
        else:
            for slot in range(entries):
                store(memory, base + slot, load(values, row + slot))
        row += entries


@compiled
def fill_packed(memory, pages, packed, dropped, lows, widths):
    """Write leaves of packed rows, which hold their columns' distances from `lows`, less the
    `dropped` bits of every value.
    """
    first = 0
    for page in pages:
        entries = memory[page + ENTRIES]
        shift = 0
        for column in range(lows.size - 1, -1, -1):
            base = leaf_column(page, column)
            mask = INT64_MAX >> (KEY_BITS - widths[column])
            low = lows[column]
            bits = dropped[column]
            for slot in range(entries):
                word = load(packed, first + slot)
                store(memory, base + slot, (((word >> shift) & mask) + low) << bits)
            shift += widths[column]
        first += entries
