# SPDX-License-Identifier: Apache-2.0
"""Rows of T that are not in S ⊆ T, by equal counts [LFTJ-IVM 3.1.2].

deficit(r) = (rows of T before r) − (rows of S before r) never falls along T, and rises by one
behind each row that S lacks. So the next missing row is found from the root of T by halving over
the children of each page, a rank in S for each probe, without looking at what both have: O(log n)
pages for every leaf of T that has a missing row.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.cursor_kernels import append_row
from lftj.scantree.jit import compiled, load
from lftj.scantree.page_kernels import ENTRIES, KEYS, SLOT_BITS, WIDTH, index_column, leaf_column
from lftj.scantree.seek_kernels import (
    END,
    SLOT_MASK,
    compare_leaf_row,
    leaf_at,
    lower_bound,
    next_leaf,
    rank,
)

ROOT = 0
HEIGHT = 1
ROWS = 2


@compiled
def rows_before(memory, layout, tree, page, slot, key):
    """Number of rows of `tree` (its root and height) before the least key of child `slot` of an
    index page. `key` is scratch.
    """
    for column in range(layout[KEYS]):
        key[column, 0] = load(memory, index_column(page, 2 + column) + slot)
    return rank(
        memory,
        tree[ROOT],
        tree[HEIGHT],
        lower_bound(memory, tree[ROOT], tree[HEIGHT], layout, key, 0),
    )


@compiled
def last_child_within(memory, layout, page, before, part, deficit, key, cost):
    """The last child that begins with no more than `deficit` missing rows before it, and the
    whole's rows before it: (child, rows).
    """
    entries = load(memory, page + ENTRIES)
    first_row = np.empty(entries, np.int64)
    for i in range(entries):
        first_row[i] = before
        before += load(memory, index_column(page, 1) + i)
    low = 0
    high = entries - 1
    while low < high:
        middle = (low + high + 1) >> 1
        cost[0] += 2 * part[HEIGHT] + 2
        if first_row[middle] - rows_before(memory, layout, part, page, middle, key) <= deficit:
            low = middle
        else:
            high = middle - 1
    return low, first_row[low]


@compiled
def leaf_with_missing(memory, layout, whole, part, deficit, key, cost):
    """The position of the leaf of `whole` that holds its first row with `deficit` missing rows
    before it that is missing itself.
    """
    page = whole[ROOT]
    position = 0
    before = 0
    for level in range(whole[HEIGHT], 0, -1):
        cost[0] += 1
        child, before = last_child_within(memory, layout, page, before, part, deficit, key, cost)
        position |= child << (SLOT_BITS * level)
        page = load(memory, index_column(page, 0) + child)
    return position, page


@compiled
def missing_in_leaf(memory, layout, leaf, part, key, out, found):
    """Append the rows of a leaf that `part` lacks to `out`: (out, rows found so far)."""
    keys = layout[KEYS]
    for column in range(keys):
        key[column, 0] = load(memory, leaf_column(leaf, column))
    at = lower_bound(memory, part[ROOT], part[HEIGHT], layout, key, 0)
    for slot in range(load(memory, leaf + ENTRIES)):
        present = False
        if at != END:
            for column in range(keys):
                key[column, 0] = load(memory, leaf_column(leaf, column) + slot)
            other = leaf_at(memory, part[ROOT], part[HEIGHT], at)
            present = compare_leaf_row(memory, other, at & SLOT_MASK, keys, key, 0) == 0
            if present:
                inside = (at & SLOT_MASK) + 1 < load(memory, other + ENTRIES)
                at = at + 1 if inside else next_leaf(memory, part[ROOT], part[HEIGHT], at)
        if not present:
            out = append_row(memory, leaf, slot, out, found)
            found += 1
    return out, found


@compiled
def complement(memory, layout, whole, part):
    """Rows of `whole` not in `part`, both (root, height, rows): (rows as columns of an array, their
    number, pages read).

    When `part` is no subset, the number is not the difference of the trees' rows, or the rows are
    wrong; the loop ends in any case.
    """
    out = np.empty((layout[WIDTH], 32), np.int64)
    key = np.empty((layout[KEYS], 1), np.int64)
    cost = np.zeros(1, np.int64)
    found = 0
    last = np.int64(-1)
    while found < whole[ROWS] - part[ROWS]:
        position, leaf = leaf_with_missing(memory, layout, whole, part, found, key, cost)
        if position <= last:
            break
        last = position
        cost[0] += 2 + part[HEIGHT]
        out, found = missing_in_leaf(memory, layout, leaf, part, key, out, found)
    return out, found, cost[0]
