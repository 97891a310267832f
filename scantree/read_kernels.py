"""Reading many rows: ranges and point look-ups."""

from __future__ import annotations

from scantree.jit import compiled, inlined, load
from scantree.page_kernels import ENTRIES, KEYS, index_column, leaf_column
from scantree.seek_kernels import END, SLOT_MASK, child_for, compare_leaf_row, leaf_at, lower_bound, next_leaf, slot_from, window_end


@compiled
def read_rows(memory, root, height, first, last, out):
    """Copy the rows in positions [first, last) to `out` (shape width × n, n their number). O(n + log)."""
    position = first
    row = 0
    while row < out.shape[1]:
        leaf = leaf_at(memory, root, height, position)
        low = position & SLOT_MASK
        high = window_end(memory, leaf, position, last)
        for column in range(out.shape[0]):
            base = leaf_column(leaf, column)
            for slot in range(low, high):
                out[column, row + slot - low] = load(memory, base + slot)
        row += high - low
        position = next_leaf(memory, root, height, position)


@compiled
def at_rank(memory, root, height, row):
    """(leaf, slot) of row number `row`, from 0. O(height · fan)."""
    page = root
    for _ in range(height):
        rows = index_column(page, 1)
        child = 0
        while row >= load(memory, rows + child):
            row -= load(memory, rows + child)
            child += 1
        page = load(memory, index_column(page, 0) + child)
    return page, row


@compiled
def read_ranks(memory, root, height, ranks, out):
    """Copy the rows of these numbers to `out` (shape width × n)."""
    for i in range(ranks.size):
        leaf, slot = at_rank(memory, root, height, ranks[i])
        for column in range(out.shape[0]):
            out[column, i] = load(memory, leaf_column(leaf, column) + slot)


@compiled
def place_of(memory, root, height, keys, key, row):
    """The leaf that a key belongs to and its first slot whose row is not before the key, the number of its rows if there is none."""
    page = root
    for _ in range(height):
        page = memory[index_column(page, 0) + child_for(memory, page, keys, key, row)]
    low = 0
    high = memory[page + ENTRIES]
    while low < high:
        middle = (low + high) >> 1
        if compare_leaf_row(memory, page, middle, keys, key, row) < 0:
            low = middle + 1
        else:
            high = middle
    return page, low


@compiled
def find_row(memory, root, height, layout, key, row):
    """(leaf, slot) of the row with exactly this key, or (0, 0). O(log n)."""
    if root == 0:
        return 0, 0
    keys = layout[KEYS]
    leaf, slot = place_of(memory, root, height, keys, key, row)
    if slot < memory[leaf + ENTRIES] and compare_leaf_row(memory, leaf, slot, keys, key, row) == 0:
        return leaf, slot
    return 0, 0


@inlined
def is_between(memory, leaf, slot, last, keys, key, row):
    """Whether a key is not before the row at `slot` of a leaf nor after the one at `last`."""
    return compare_leaf_row(memory, leaf, slot, keys, key, row) <= 0 <= compare_leaf_row(memory, leaf, last, keys, key, row)


@compiled
def look_up(memory, root, height, layout, key, found, values):
    """For each column of `key` (shape keys × n): found[i], and where found the value columns into `values` (shape values × n).

    Keys in order are each looked for behind the one before while they belong to the same leaf.
    """
    keys = layout[KEYS]
    leaf = slot = entries = 0
    for row in range(key.shape[1] if root != 0 else 0):
        if slot < entries and is_between(memory, leaf, slot, entries - 1, keys, key, row):
            slot = slot_from(memory, leaf, slot, entries, keys, key, row)
        else:
            leaf, slot = place_of(memory, root, height, keys, key, row)
            entries = memory[leaf + ENTRIES]
        found[row] = slot < entries and compare_leaf_row(memory, leaf, slot, keys, key, row) == 0
        if found[row]:
            for i in range(values.shape[0]):
                values[i, row] = memory[leaf_column(leaf, keys + i) + slot]


@compiled
def first_with(memory, root, height, layout, prefix, row):
    """(leaf, slot, pages opened) of the first row that begins with column `row` of `prefix` (shape p × n, p ≤ keys), leaf 0 without one."""
    pages = height + 1
    position = lower_bound(memory, root, height, layout, prefix, row)
    if position == END:
        return 0, 0, pages
    leaf = leaf_at(memory, root, height, position)
    slot = position & SLOT_MASK
    if compare_leaf_row(memory, leaf, slot, prefix.shape[0], prefix, row) != 0:
        leaf = 0
    return leaf, slot, 2 * pages


@compiled
def last_with(memory, root, height, prefix, row):
    """As `first_with`, of the last such row."""
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
def read_edges(memory, root, height, layout, prefix, last, found, out):
    """For each column of `prefix` the first (or last) row that begins with it: found[i], and the row into `out`. The pages opened."""
    total = 0
    for i in range(prefix.shape[1]):
        if last:
            leaf, slot, pages = last_with(memory, root, height, prefix, i)
        else:
            leaf, slot, pages = first_with(memory, root, height, layout, prefix, i)
        total += pages
        found[i] = leaf != 0
        if leaf != 0:
            for column in range(out.shape[0]):
                out[column, i] = load(memory, leaf_column(leaf, column) + slot)
    return total
