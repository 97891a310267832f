# SPDX-License-Identifier: Apache-2.0
"""a₁ ⊕ … ⊕ aₘ over a range of rows from the aggregates that index pages hold [LFTJ-IVM 3.1.1].
O(page + fan · log n).
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, load
from lftj.scantree.page_kernels import (
    ENTRIES,
    KEYS,
    MIN,
    SLOT_BITS,
    SLOT_MASK,
    SUM,
    index_column,
    leaf_column,
)
from lftj.scantree.seek_kernels import END, window_end


@compiled
def next_page(memory, root, height, position, level):
    """The first position of the page after the one at `level` on the path to `position`, or END."""
    page = root
    turn = 0
    for at in range(height, level, -1):
        child = (position >> (SLOT_BITS * at)) & SLOT_MASK
        if child + 1 < load(memory, page + ENTRIES):
            turn = at
        page = load(memory, index_column(page, 0) + child)
    if turn == 0:
        return END
    shift = SLOT_BITS * turn
    return ((position >> shift) + 1) << shift


@compiled
def entry_run(memory, root, height, position, last):
    """The longest run of entries of one page that begins at `position` and ends at or before
    `last`: (page, level, first, stop).
    """
    page = root
    for level in range(height, 0, -1):
        shift = SLOT_BITS * level
        child = (position >> shift) & SLOT_MASK
        if position & ((1 << shift) - 1) == 0:
            same_page = (position >> (shift + SLOT_BITS)) == (last >> (shift + SLOT_BITS))
            stop = (last >> shift) & SLOT_MASK if same_page else load(memory, page + ENTRIES)
            if stop > child:
                return page, level, child, stop
        page = load(memory, index_column(page, 0) + child)
    return page, 0, position & SLOT_MASK, window_end(memory, page, position, last)


@compiled
def accumulate(memory, base, entries, operator, total, empty):
    """`total` ⊕ the words from `base` on; just these when `empty`."""
    for i in range(entries):
        value = load(memory, base + i)
        if empty:
            total = value
            empty = False
        elif operator == SUM:
            total += value
        elif operator == MIN:
            total = min(total, value)
        else:
            total = max(total, value)
    return total


@compiled
def scan_range(memory, layout, root, height, first, last, column, aggregate, operator):
    """⊕ over `column` of the rows in [first, last), which are not none; `aggregate` is its number
    among the tree's aggregates.
    """
    total = 0
    position = first
    while position < last:
        page, level, low, stop = entry_run(memory, root, height, position, last)
        base = (
            leaf_column(page, column)
            if level == 0
            else index_column(page, 2 + layout[KEYS] + aggregate)
        )
        total = accumulate(memory, base + low, stop - low, operator, total, position == first)
        if stop < load(memory, page + ENTRIES):
            position += (stop - low) << (SLOT_BITS * level)
        else:
            position = next_page(memory, root, height, position, level)
    return total
