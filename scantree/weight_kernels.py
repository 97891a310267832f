# SPDX-License-Identifier: Apache-2.0
"""Rows by weight, in trees of counts that keep their sum: row r stands for as many units as its
count says, which are numbered in the order of the rows.

So a unit is found, and its number told, in one descent that adds up what index pages hold [LFTJ-IVM
3.1.1]. O(page + fan · log n).
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, load
from lftj.scantree.page_kernels import ENTRIES, KEYS, index_column, leaf_column
from lftj.scantree.seek_kernels import (
    SLOT_BITS,
    SLOT_MASK,
    child_for,
    compare_leaf_row,
    lower_bound,
    rank,
)


@compiled
def weight_before(memory, layout, root, height, position):
    """Units of the rows before `position`, which is not END."""
    total = 0
    page = root
    for level in range(height, 0, -1):
        child = (position >> (SLOT_BITS * level)) & SLOT_MASK
        weights = index_column(page, 2 + layout[KEYS])
        for i in range(child):
            total += load(memory, weights + i)
        page = load(memory, index_column(page, 0) + child)
    weights = leaf_column(page, layout[KEYS])
    for i in range(position & SLOT_MASK):
        total += load(memory, weights + i)
    return total


@compiled
def at_weight(memory, layout, root, height, unit):
    """(leaf, slot) of the row that unit number `unit` belongs to, from 0."""
    page = root
    for _ in range(height):
        weights = index_column(page, 2 + layout[KEYS])
        child = 0
        while unit >= load(memory, weights + child):
            unit -= load(memory, weights + child)
            child += 1
        page = load(memory, index_column(page, 0) + child)
    weights = leaf_column(page, layout[KEYS])
    slot = 0
    while unit >= load(memory, weights + slot):
        unit -= load(memory, weights + slot)
        slot += 1
    return page, slot


@compiled
def read_units(memory, layout, root, height, prefix, units, column, out):
    """Read `column` of the row of unit `units[i]` among the rows that begin with column i of
    `prefix` (shape p × n). Where `units[i]` is below 0 nothing is read.
    """
    for i in range(units.size):
        if units[i] >= 0:
            position = lower_bound(memory, root, height, layout, prefix, i)
            first = weight_before(memory, layout, root, height, position)
            leaf, slot = at_weight(memory, layout, root, height, first + units[i])
            out[i] = load(memory, leaf_column(leaf, column) + slot)


@compiled
def behind_prefix(memory, root, height, prefix, row):
    """The position behind the last row that does not begin with more than column `row` of `prefix`;
    it may lie behind the rows of its leaf.
    """
    width = prefix.shape[0]
    page = root
    position = 0
    for level in range(height, 0, -1):
        child = child_for(memory, page, width, prefix, row)
        position |= child << (SLOT_BITS * level)
        page = load(memory, index_column(page, 0) + child)
    low = 0
    high = load(memory, page + ENTRIES)
    while low < high:
        middle = (low + high) >> 1
        if compare_leaf_row(memory, page, middle, width, prefix, row) <= 0:
            low = middle + 1
        else:
            high = middle
    return position | low


@compiled
def rank_prefixes(memory, layout, root, height, prefix, behind, out):
    """Count the rows before the first that does not lie before each column of `prefix` (shape p ×
    n), or with `behind` before the first that lies behind all that begin with it.
    """
    for i in range(out.size):
        if behind:
            position = behind_prefix(memory, root, height, prefix, i)
        else:
            position = lower_bound(memory, root, height, layout, prefix, i)
        out[i] = rank(memory, root, height, position)
