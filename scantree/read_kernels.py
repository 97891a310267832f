# SPDX-License-Identifier: Apache-2.0
"""Reading many rows: ranges and point look-ups."""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled, fetch, inlined, load
from lftj.scantree.page_kernels import CACHE_LINE, ENTRIES, KEYS, WIDTH, index_column, leaf_column
from lftj.scantree.seek_kernels import (
    END,
    SLOT_BITS,
    SLOT_MASK,
    child_for,
    compare_index_entry,
    compare_leaf_row,
    gallop,
    leaf_at,
    lower_bound,
    next_leaf,
    slot_from,
    slot_in,
    window_end,
)

FETCHED = 2 * CACHE_LINE  # every so many rows of a column are fetched
AT_ONCE = 32  # keys that are looked up side by side


@compiled
def read_rows(memory, root, height, first, last, picks, out):
    """Copy the columns `picks` of the first rows in positions [first, last) to `out` (shape picks ×
    n, n rows at most). The position behind them. O(n + log).
    """
    position = first
    row = 0
    while row < out.shape[1]:
        leaf = leaf_at(memory, root, height, position)
        low = position & SLOT_MASK
        high = min(window_end(memory, leaf, position, last), low + out.shape[1] - row)
        for column in range(out.shape[0]):
            base = leaf_column(leaf, picks[column]) + low
            part = out[column, row : row + high - low]
            for i in range(high - low):  # from 0: an index that may be negative is not vectorised
                part[i] = load(memory, base + i)
        row += high - low
        position = (
            position + high - low
            if high < load(memory, leaf + ENTRIES)
            else next_leaf(memory, root, height, position)
        )
    return position


@compiled
def position_of(memory, root, height, row):
    """The position of row number `row`, from 0. O(height · fan)."""
    page = root
    position = 0
    for level in range(height, 0, -1):
        rows = index_column(page, 1)
        child = 0
        while row >= load(memory, rows + child):
            row -= load(memory, rows + child)
            child += 1
        position |= child << (SLOT_BITS * level)
        page = load(memory, index_column(page, 0) + child)
    return position | row


@compiled
def at_rank(memory, root, height, row):
    """(leaf, slot) of row number `row`, from 0. O(height · fan)."""
    position = position_of(memory, root, height, row)
    return leaf_at(memory, root, height, position), position & SLOT_MASK


@compiled
def read_numbered(memory, root, height, numbers, picks, out):
    """Copy the columns `picks` of the rows with these numbers, from 0 and ascending, to `out`
    (shape picks × n). O(n + leaves that they are on · height · fan).
    """
    done = 0
    while done < numbers.size:
        position = position_of(memory, root, height, load(numbers, done))
        leaf = leaf_at(memory, root, height, position)
        first = load(numbers, done) - (position & SLOT_MASK)
        behind = first + load(memory, leaf + ENTRIES)
        last = done
        while last < numbers.size and load(numbers, last) < behind:
            last += 1
        for column in range(out.shape[0]):
            base = leaf_column(leaf, picks[column]) - first
            for i in range(done, last):
                out[column, i] = load(memory, base + load(numbers, i))
        done = last


@compiled
def find_row(memory, root, height, layout, key, row):
    """(leaf, slot) of the row with exactly this key, or (0, 0). O(log n)."""
    if root == 0:
        return 0, 0
    keys = layout[KEYS]
    leaf = root
    for _ in range(height):
        leaf = memory[index_column(leaf, 0) + child_for(memory, leaf, keys, key, row)]
    slot = slot_in(memory, leaf, 0, memory[leaf + ENTRIES], keys, key, row)
    if slot < memory[leaf + ENTRIES] and compare_leaf_row(memory, leaf, slot, keys, key, row) == 0:
        return leaf, slot
    return 0, 0


@compiled
def parent_and_child(memory, root, height, keys, key, row):
    """The index page above the leaf that a key belongs to, and which of its children that is. There
    is an index page.
    """
    page = root
    for _ in range(height - 1):
        page = load(memory, index_column(page, 0) + child_for(memory, page, keys, key, row))
    return page, child_for(memory, page, keys, key, row)


@inlined
def still_there(memory, page, child, keys, key, row):
    """Test for a key that belongs to this child of an index page, as far as its entry and the next
    tell.
    """
    if (
        child + 1 >= load(memory, page + ENTRIES)
        or compare_index_entry(memory, page, child + 1, keys, key, row) <= 0
    ):
        return False
    return compare_index_entry(memory, page, child, keys, key, row) <= 0


@compiled
def shared_columns(memory, page, child, keys):
    """Count the leading columns, fewer than all, that are equal in every row below a child."""
    if child + 1 == load(memory, page + ENTRIES):
        return 0
    column = 0
    while column + 1 < keys:
        base = index_column(page, 2 + column) + child
        if load(memory, base) != load(memory, base + 1):
            break
        column += 1
    return column


@compiled
def to_leaves(memory, root, height, layout, key, first, last, leaves, columns):
    """The leaves that keys [first, last) belong to and the first column by which the rows on each
    differ, which is fetched.
    """
    page, child = root, 0
    for row in range(first, last):
        leaf, column = root, 0
        if height > 0:
            if row == first or not still_there(memory, page, child, layout[KEYS], key, row):
                page, child = parent_and_child(memory, root, height, layout[KEYS], key, row)
            leaf = load(memory, index_column(page, 0) + child)
        if row > first and leaf == leaves[row - first - 1]:
            column = columns[row - first - 1]
        else:
            column = shared_columns(memory, page, child, layout[KEYS]) if height > 0 else 0
            for slot in range(0, load(memory, leaf + ENTRIES), FETCHED):
                fetch(memory, leaf_column(leaf, column) + slot)
        leaves[row - first], columns[row - first] = leaf, column


@compiled
def to_slots(memory, layout, key, first, last, leaves, columns, slots):
    """The first slots at which the rows of these leaves are not before keys [first, last) by that
    column; the rows there are fetched.
    """
    for i in range(last - first):
        leaf, column, low = leaves[i], columns[i], 0
        value = key[column, first + i]
        if i > 0 and leaf == leaves[i - 1] and key[column, first + i - 1] <= value:
            low = slots[i - 1]
        slots[i] = gallop(
            memory, leaf_column(leaf, column), low, load(memory, leaf + ENTRIES), value
        )
        for other in range(column + 1, layout[WIDTH]):
            fetch(memory, leaf_column(leaf, other) + slots[i])


@compiled
def look_up(memory, root, height, layout, key, found, values):
    """Look up each column of `key` (shape keys × n): found[i], and where found the value columns
    into `values` (shape values × n).

    Some keys at a time take each step side by side, so that what the next step reads comes from
    memory for all of them meanwhile.
    """
    keys = layout[KEYS]
    leaves, columns, slots = (
        np.empty(AT_ONCE, np.int64),
        np.empty(AT_ONCE, np.int64),
        np.empty(AT_ONCE, np.int64),
    )
    for first in range(0, key.shape[1] if root != 0 else 0, AT_ONCE):
        last = min(first + AT_ONCE, key.shape[1])
        to_leaves(memory, root, height, layout, key, first, last, leaves, columns)
        to_slots(memory, layout, key, first, last, leaves, columns, slots)
        for row in range(first, last):
            leaf = leaves[row - first]
            entries = load(memory, leaf + ENTRIES)
            slot = slot_from(memory, leaf, slots[row - first], entries, keys, key, row)
            found[row] = (
                slot < entries and compare_leaf_row(memory, leaf, slot, keys, key, row) == 0
            )
            if found[row]:
                for i in range(values.shape[0]):
                    values[i, row] = load(memory, leaf_column(leaf, keys + i) + slot)


@compiled
def first_with(memory, root, height, layout, prefix, row, alike):
    """(leaf, slot, pages opened) of the first row from column `row` of `prefix` (shape p × n, p ≤
    keys) on that has its first `alike` values, leaf 0 without one.
    """
    pages = height + 1
    position = lower_bound(memory, root, height, layout, prefix, row)
    if position == END:
        return 0, 0, pages
    leaf = leaf_at(memory, root, height, position)
    slot = position & SLOT_MASK
    if compare_leaf_row(memory, leaf, slot, alike, prefix, row) != 0:
        leaf = 0
    return leaf, slot, 2 * pages


@compiled
def last_with(memory, root, height, prefix, row):
    """As `first_with`, of the last row that begins with the column."""
    width = prefix.shape[0]
    page = root
    for _ in range(height):
        page = load(memory, index_column(page, 0) + child_for(memory, page, width, prefix, row))
    low = 0
    high = memory[page + ENTRIES]
    while low < high:
        middle = (low + high) >> 1
        if compare_leaf_row(memory, page, middle, width, prefix, row) <= 0:
            low = middle + 1
        else:
            high = middle
    if low == 0 or compare_leaf_row(memory, page, low - 1, width, prefix, row) != 0:
        return 0, 0, height + 1
    return page, low - 1, height + 1


@compiled
def read_edges(memory, root, height, layout, prefix, alike, last, found, out):
    """Read for each column of `prefix` the last row that begins with it, or the first one from
    there on with its first `alike` values: found[i], and the row into `out`. Return the number of
    pages opened.
    """
    total = 0
    for i in range(prefix.shape[1]):
        if last:
            leaf, slot, pages = last_with(memory, root, height, prefix, i)
        else:
            leaf, slot, pages = first_with(memory, root, height, layout, prefix, i, alike)
        total += pages
        found[i] = leaf != 0
        if leaf != 0:
            for column in range(out.shape[0]):
                out[column, i] = load(memory, leaf_column(leaf, column) + slot)
    return total
