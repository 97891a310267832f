# SPDX-License-Identifier: Apache-2.0
"""Stabbing in a tree of intervals keyed (α…, a, b, γ…) whose index pages hold the maximum of b
[LFTJ-IVM 3.2].

The candidates for a stab are one range of rows, those with prefix α and a ≤ v. Among them every
subtree whose greatest b is less than v is passed by, so m hits cost O((m + 1) log n) pages.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.cursor_kernels import append_row
from lftj.scantree.jit import compiled, load
from lftj.scantree.page_kernels import (
    ENTRIES,
    KEYS,
    MAX_HEIGHT,
    SLOT_BITS,
    SLOT_MASK,
    WIDTH,
    index_column,
    leaf_column,
)
from lftj.scantree.seek_kernels import (
    END,
    compare_index_entry,
    compare_leaf_row,
    next_leaf,
    window_end,
)


@compiled
def bound(memory, root, height, columns, key, row, past):
    """The first position whose first `columns` key columns are ≥ those of column `row` of `key`, or
    > them when `past` is 1; or END.
    """
    page = root
    position = 0
    for level in range(height, 0, -1):
        low = 0
        high = load(memory, page + ENTRIES) - 1
        while low < high:
            middle = (low + high + 1) >> 1
            if compare_index_entry(memory, page, middle, columns, key, row) < past:
                low = middle
            else:
                high = middle - 1
        position |= low << (SLOT_BITS * level)
        page = load(memory, index_column(page, 0) + low)
    low = 0
    high = load(memory, page + ENTRIES)
    while low < high:
        middle = (low + high) >> 1
        if compare_leaf_row(memory, page, middle, columns, key, row) < past:
            low = middle + 1
        else:
            high = middle
    if low < load(memory, page + ENTRIES):
        return position | low
    return next_leaf(memory, root, height, position)


@compiled
def first_reaching(memory, page, maxima, child, low):
    """The first child from `child` on of an index page whose maximum is ≥ `low`, else the number of
    children.
    """
    entries = load(memory, page + ENTRIES)
    base = index_column(page, maxima)
    while child < entries and load(memory, base + child) < low:
        child += 1
    return child


@compiled
def next_reaching(memory, root, height, maxima, position, low):
    """The first leaf behind that of `position` with a b ≥ `low`, as a position, or END. O(fan · log
    n), no leaf is looked at.
    """
    pages = np.empty(MAX_HEIGHT + 1, np.int64)
    page = root
    for level in range(height, 0, -1):
        pages[level] = page
        page = load(memory, index_column(page, 0) + ((position >> (SLOT_BITS * level)) & SLOT_MASK))
    for level in range(1, height + 1):
        page = pages[level]
        shift = SLOT_BITS * level
        child = first_reaching(memory, page, maxima, ((position >> shift) & SLOT_MASK) + 1, low)
        if child < load(memory, page + ENTRIES):
            target = (((position >> (shift + SLOT_BITS)) << SLOT_BITS) | child) << shift
            for below in range(level - 1, 0, -1):
                page = load(memory, index_column(page, 0) + child)
                child = first_reaching(memory, page, maxima, 0, low)
                target |= child << (SLOT_BITS * below)
            return target
    return END


@compiled
def grown(numbers):
    """A copy with twice the room."""
    wider = np.empty(2 * numbers.size, np.int64)
    for i in range(numbers.size):
        wider[i] = numbers[i]
    return wider


@compiled
def overlap(memory, layout, root, height, prefix, queries, lows):
    """All intervals with the prefix in the first `prefix` rows of `queries`, a ≤ its last row and b
    ≥ `lows`, one column a query.

    Returns (rows as columns of an array, for each the number of its query, their number); queries
    in order, rows of each in key order.
    """
    out = np.empty((layout[WIDTH], 32), np.int64)
    query_of = np.empty(32, np.int64)
    found = 0
    maxima = 2 + layout[KEYS]
    for query in range(lows.size):
        low = lows[query]
        position = bound(memory, root, height, prefix, queries, query, 0)
        last = bound(memory, root, height, prefix + 1, queries, query, 1)
        while position < last:
            leaf = root
            for level in range(height, 0, -1):
                leaf = load(
                    memory, index_column(leaf, 0) + ((position >> (SLOT_BITS * level)) & SLOT_MASK)
                )
            ends = leaf_column(leaf, prefix + 1)
            for slot in range(position & SLOT_MASK, window_end(memory, leaf, position, last)):
                if load(memory, ends + slot) >= low:
                    out = append_row(memory, leaf, slot, out, found)
                    if found == query_of.size:
                        query_of = grown(query_of)
                    query_of[found] = query
                    found += 1
            position = next_reaching(memory, root, height, maxima, position, low)
    return out, query_of, found
