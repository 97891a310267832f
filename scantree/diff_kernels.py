# SPDX-License-Identifier: Apache-2.0
"""The difference of two versions, found by walking both and passing by the pages that they share
[LFTJ-IVM 3.3].

Shared pages are always met by both cursors at once: all rows before such a page are less than its
least key, in both trees, and no cursor opens a subtree before the other has reached its least key.
So only pages that one version alone has are opened: O(δ (page + log n)) for versions δ changes
apart, O(n + m) for unrelated trees.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.cursor_kernels import (
    LEVEL_AT,
    SLOTS,
    VISITED,
    advance,
    append_row,
    at_end,
    compare_cursors,
    open_subtree,
    open_tree,
    page_of,
    slot_of,
    subtree,
)
from lftj.scantree.jit import compiled, inlined, load
from lftj.scantree.page_kernels import ENTRIES, KEYS, PAGE_ROWS, WIDTH, leaf_column
from lftj.scantree.seek_kernels import END, SLOT_MASK, leaf_at, next_leaf

STRETCH = 64
_AT_ONCE = 16
"""Words that are compared before one looks whether some differed."""


@compiled
def pass_equal_rows(memory, layout, new, old):
    """Pass some of the rows that both cursors stand on as long as they are equal: in these leaves,
    a column at a time.
    """
    if new[LEVEL_AT] > 0 or old[LEVEL_AT] > 0:
        return False
    mine = leaf_column(page_of(new), 0) + slot_of(new)
    other = leaf_column(page_of(old), 0) + slot_of(old)
    rows = load(memory, page_of(new) + ENTRIES) - slot_of(new)
    other_rows = load(memory, page_of(old) + ENTRIES) - slot_of(old)
    equal = min(
        rows, other_rows, STRETCH
    )  # where every row differs, but not in the first column, no more than this is read in vain
    for column in range(layout[WIDTH]):
        at = column * PAGE_ROWS
        row = 0
        while row < equal and load(memory, mine + at + row) == load(memory, other + at + row):
            row += 1
        equal = row
    if equal == 0:
        return False
    new[SLOTS] += equal - 1
    old[SLOTS] += equal - 1
    advance(memory, new)
    advance(memory, old)
    return True


@compiled
def pass_shared(memory, new, old):
    """Pass the subtrees that both cursors stand on as long as they are the same pages."""
    passed = False
    while (
        new[LEVEL_AT] > 0
        and old[LEVEL_AT] > 0
        and not (at_end(new) or at_end(old))
        and subtree(memory, new) == subtree(memory, old)
    ):
        advance(memory, new)
        advance(memory, old)
        passed = True
    return passed


@compiled
def order_of(memory, keys, new, old):
    """Choose the cursor that has to move because it is behind: −1 the new one, 1 the old one, 0
    both, or the one on the taller subtree.
    """
    if at_end(new):
        return 1
    if at_end(old):
        return -1
    return compare_cursors(memory, keys, new, old)


@compiled
def diff(memory, layout, root, height, old_root, old_height):
    """Rows of the tree at `root` that the one at `old_root` has not, and the reverse; a row whose
    values differ is in both.

    Returns (inserted, their number, erased, their number, pages opened), rows as columns of arrays
    of shape width × room.
    """
    width = layout[WIDTH]
    inserted = np.empty((width, 32), np.int64)
    erased = np.empty((width, 32), np.int64)
    added = 0
    removed = 0
    if root == old_root:
        return inserted, added, erased, removed, 0
    new = open_tree(root, height)
    old = open_tree(old_root, old_height)
    while not (at_end(new) and at_end(old)):
        if pass_shared(memory, new, old) or pass_equal_rows(memory, layout, new, old):
            continue
        order = order_of(memory, layout[KEYS], new, old)
        if order == 0 and new[LEVEL_AT] != old[LEVEL_AT]:
            order = -1 if new[LEVEL_AT] > old[LEVEL_AT] else 1
        if order <= 0:
            if new[LEVEL_AT] > 0:
                open_subtree(memory, new)
            else:
                inserted = append_row(memory, page_of(new), slot_of(new), inserted, added)
                added += 1
                advance(memory, new)
        if order >= 0:
            if old[LEVEL_AT] > 0:
                open_subtree(memory, old)
            else:
                erased = append_row(memory, page_of(old), slot_of(old), erased, removed)
                removed += 1
                advance(memory, old)
    return inserted, added, erased, removed, new[VISITED] + old[VISITED]


@inlined
def _compare_with(memory, leaf, slot, rows, row):
    """A row of `rows` against the one in a slot of a leaf: negative, zero or positive."""
    for column in range(rows.shape[0]):
        word = load(memory, leaf_column(leaf, column) + slot)
        if rows[column, row] != word:
            return -1 if rows[column, row] < word else 1
    return 0


@inlined
def _alike(memory, base, words, most):
    """Count the first of `words`, `most` of them, that are those from `base` on."""
    found = 0
    while found + _AT_ONCE <= most:
        differ = 0
        for i in range(_AT_ONCE):
            differ |= load(memory, base + found + i) ^ words[found + i]
        if differ != 0:
            break
        found += _AT_ONCE
    while found < most and load(memory, base + found) == words[found]:
        found += 1
    return found


@compiled
def mark_differing(memory, root, height, rows, position, number, new, gone):
    """Compare `rows` (shape keys × n), ascending and distinct, with those of a tree from
    `position`, where row `number` is, up to the last of `rows`: set `new[i]` for each row i that
    the tree lacks, and `gone[j]` for each number j of one that only the tree has.

    Returns the position and the number of the tree's next row. O(n + m).
    """
    row = 0
    count = rows.shape[1]
    while row < count and position != END:
        leaf = leaf_at(memory, root, height, position)
        entries = load(memory, leaf + ENTRIES)
        slot = position & SLOT_MASK
        first = slot
        while row < count and slot < entries:
            order = _compare_with(memory, leaf, slot, rows, row)
            if order == 0:
                equal = min(entries - slot, count - row, STRETCH)
                for column in range(rows.shape[0]):
                    base = leaf_column(leaf, column) + slot
                    equal = _alike(memory, base, rows[column, row : row + equal], equal)
                row += equal
                slot += equal
            elif order < 0:
                new[row] = True
                row += 1
            else:
                gone[number + slot - first] = True
                slot += 1
        number += slot - first
        position += slot - first
        if slot == entries:
            position = next_leaf(memory, root, height, position - 1)
    while row < count:
        new[row] = True
        row += 1
    return position, number
