# SPDX-License-Identifier: Apache-2.0
"""Positions and seeks: the trie's view of a tree, O(log distance) by galloping.

A position is one int64 that packs the path to a row: the slot in the leaf in bits 0–8, then 9 bits
for the child taken at each index level. So positions compare as rows do, and END, all ones, lies
behind every row. A position that runs off its leaf is normalised to the first slot of the next
leaf, or END.

A trie iterator at column c holds a range [position, end) in which the columns before c are
constant.
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, inlined, load
from lftj.scantree.page_kernels import (
    ENTRIES,
    KEYS,
    SLOT_BITS,
    SLOT_MASK,
    index_column,
    leaf_column,
)

END = (1 << 62) - 1
LARGEST = (1 << 63) - 1


@inlined
def leaf_at(memory, root, height, position):
    """The leaf that holds `position`; not for END."""
    page = root
    for level in range(height, 0, -1):
        page = load(memory, index_column(page, 0) + ((position >> (SLOT_BITS * level)) & SLOT_MASK))
    return page


@inlined
def value_at(memory, root, height, position, column):
    """The word in `column` of the row at `position`."""
    return load(
        memory,
        leaf_column(leaf_at(memory, root, height, position), column) + (position & SLOT_MASK),
    )


@inlined
def window_end(memory, leaf, position, end):
    """First slot of `leaf` that is no longer in [position, end)."""
    if (position >> SLOT_BITS) == (end >> SLOT_BITS):
        return end & SLOT_MASK
    return load(memory, leaf + ENTRIES)


@compiled
def next_leaf(memory, root, height, position):
    """The first position of the leaf after the one at `position`, or END."""
    page = root
    turn = 0
    for level in range(height, 0, -1):
        child = (position >> (SLOT_BITS * level)) & SLOT_MASK
        if child + 1 < load(memory, page + ENTRIES):
            turn = level
        page = load(memory, index_column(page, 0) + child)
    if turn == 0:
        return END
    shift = SLOT_BITS * turn
    return ((position >> shift) + 1) << shift


@inlined
def step(memory, root, height, leaf, position):
    """The position of the row after `position`, which lies in `leaf`."""
    if (position & SLOT_MASK) + 1 < load(memory, leaf + ENTRIES):
        return position + 1
    return next_leaf(memory, root, height, position)


@inlined
def gallop(memory, base, low, high, value):
    """First i in [low, high) with memory[base + i] >= value, else high; O(log (i - low))."""
    if low >= high or load(memory, base + low) >= value:
        return low
    stride = 1
    while low + stride < high and load(memory, base + low + stride) < value:
        low += stride
        stride <<= 1
    high = min(high, low + stride)
    low += 1
    while low < high:
        middle = (low + high) >> 1
        if load(memory, base + middle) < value:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def seek_beyond(memory, root, height, position, end, column, value):
    """`seek_lub` when the answer is not in the leaf of `position`: down from the root, galloping
    from the path of `position`.
    """
    page = root
    target = 0
    at_start = True
    at_end = end != END
    for level in range(height, 0, -1):
        shift = SLOT_BITS * level
        low = (position >> shift) & SLOT_MASK if at_start else 0
        high = load(memory, page + ENTRIES) - 1
        end_child = (end >> shift) & SLOT_MASK
        if at_end and end_child <= high:
            high = end_child if (end & ((1 << shift) - 1)) != 0 else end_child - 1
        # the last child that begins below value; children behind `low` begin inside the range, so
        # their least key compares by this column
        child = gallop(memory, index_column(page, 2 + column), low + 1, high + 1, value) - 1
        at_start = at_start and child == low
        at_end = at_end and child == end_child
        target |= child << shift
        page = load(memory, index_column(page, 0) + child)
    low = (position & SLOT_MASK) if at_start else 0
    high = end & SLOT_MASK if at_end else load(memory, page + ENTRIES)
    slot = gallop(memory, leaf_column(page, column), low, high, value)
    if slot < high:
        return target + slot
    if at_end:
        return end
    following = next_leaf(memory, root, height, target)
    return min(following, end)


@inlined
def seek_lub(memory, root, height, position, end, column, value):
    """The first position in [position, end) whose `column` is >= value, else `end`."""
    leaf = leaf_at(memory, root, height, position)
    high = window_end(memory, leaf, position, end)
    base = leaf_column(leaf, column)
    if load(memory, base + high - 1) >= value:
        return (
            position
            - (position & SLOT_MASK)
            + gallop(memory, base, position & SLOT_MASK, high, value)
        )
    if (position >> SLOT_BITS) == (end >> SLOT_BITS):
        return end
    return seek_beyond(memory, root, height, position, end, column, value)


@inlined
def seek_after(memory, root, height, position, end, column, value):
    """The first position in [position, end) whose `column` is > value, else `end`."""
    if value == LARGEST:
        return end
    return seek_lub(memory, root, height, position, end, column, value + 1)


@compiled
def compare_leaf_row(memory, leaf, slot, keys, key, row):
    """−1, 0, 1 as the row at `slot` is before, equal to or after column `row` of `key` (shape keys
    × n).
    """
    for column in range(keys):
        value = load(memory, leaf_column(leaf, column) + slot)
        if value != key[column, row]:
            return -1 if value < key[column, row] else 1
    return 0


@inlined
def slot_in(memory, leaf, low, high, keys, key, row):
    """First slot in [low, high) whose row is not before column `row` of `key`, else `high`."""
    while low < high:
        middle = (low + high) >> 1
        if compare_leaf_row(memory, leaf, middle, keys, key, row) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def slot_from(memory, leaf, slot, entries, keys, key, row):
    """First slot in [slot, entries) whose row is not before column `row` of `key`, galloping."""
    low = slot
    stride = 1
    while (
        low + stride <= entries
        and compare_leaf_row(memory, leaf, low + stride - 1, keys, key, row) < 0
    ):
        low += stride
        stride <<= 1
    return slot_in(memory, leaf, low, min(entries, low + stride - 1), keys, key, row)


@compiled
def compare_index_entry(memory, page, slot, keys, key, row):
    """As `compare_leaf_row`, for the least key of a child."""
    for column in range(keys):
        value = load(memory, index_column(page, 2 + column) + slot)
        if value != key[column, row]:
            return -1 if value < key[column, row] else 1
    return 0


@compiled
def child_for(memory, page, keys, key, row):
    """The child of an index page whose range holds the key: the last that does not begin after it,
    else the first.
    """
    low = 0
    high = memory[page + ENTRIES] - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if compare_index_entry(memory, page, middle, keys, key, row) <= 0:
            low = middle
        else:
            high = middle - 1
    return low


@compiled
def lower_bound(memory, root, height, layout, key, row):
    """The first position whose key tuple is >= column `row` of `key` (its first key.shape[0]
    columns count), or END. O(log n).
    """
    keys = min(layout[KEYS], key.shape[0])
    if root == 0:
        return END
    page = root
    position = 0
    for level in range(height, 0, -1):
        # the last child that begins strictly before the key may hold its lower bound; ties must go
        # left, because key may be a prefix
        low = 0
        high = memory[page + ENTRIES] - 1
        while low < high:
            middle = (low + high + 1) >> 1
            if compare_index_entry(memory, page, middle, keys, key, row) < 0:
                low = middle
            else:
                high = middle - 1
        position |= low << (SLOT_BITS * level)
        page = memory[index_column(page, 0) + low]
    low = 0
    high = memory[page + ENTRIES]
    while low < high:
        middle = (low + high) >> 1
        if compare_leaf_row(memory, page, middle, keys, key, row) < 0:
            low = middle + 1
        else:
            high = middle
    if low < memory[page + ENTRIES]:
        return position | low
    return next_leaf(memory, root, height, position)


@compiled
def rank(memory, root, height, position):
    """Number of rows before `position`; with END, all rows. O(height · fan) words added."""
    if root == 0:
        return 0
    total = 0
    page = root
    at_end = position == END
    for level in range(height, 0, -1):
        child = (
            load(memory, page + ENTRIES)
            if at_end
            else (position >> (SLOT_BITS * level)) & SLOT_MASK
        )
        rows = index_column(page, 1)
        for i in range(child):
            total += load(memory, rows + i)
        if at_end:
            return total
        page = load(memory, index_column(page, 0) + child)
    return total + (load(memory, page + ENTRIES) if at_end else position & SLOT_MASK)
