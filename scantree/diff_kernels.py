"""The difference of two versions, found by walking both and passing by the pages that they share [LFTJ-IVM 3.3].

Shared pages are always met by both cursors at once: all rows before such a page are less than its least key, in both trees, and no cursor
opens a subtree before the other has reached its least key. So only pages that one version alone has are opened: O(δ (page + log n)) for
versions δ changes apart, O(n + m) for unrelated trees.
"""

from __future__ import annotations

import numpy as np

from scantree.cursor_kernels import (
    LEVEL_AT,
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
from scantree.jit import compiled, load
from scantree.page_kernels import KEYS, WIDTH, leaf_column


@compiled
def same_values(memory, layout, left, right):
    """Whether the rows that two cursors stand on have equal value columns."""
    for column in range(layout[KEYS], layout[WIDTH]):
        mine = load(memory, leaf_column(page_of(left), column) + slot_of(left))
        if mine != load(memory, leaf_column(page_of(right), column) + slot_of(right)):
            return False
    return True


@compiled
def pass_shared(memory, new, old):
    """Pass the subtrees that both cursors stand on as long as they are the same pages."""
    while new[LEVEL_AT] > 0 and old[LEVEL_AT] > 0 and not (at_end(new) or at_end(old)) and subtree(memory, new) == subtree(memory, old):
        advance(memory, new)
        advance(memory, old)


@compiled
def order_of(memory, keys, new, old):
    """Which side is behind and so has to move: −1 the new one, 1 the old one, 0 both or the one that stands on the taller subtree."""
    if at_end(new):
        return 1
    if at_end(old):
        return -1
    return compare_cursors(memory, keys, new, old)


@compiled
def diff(memory, layout, root, height, old_root, old_height):
    """Rows of the tree at `root` that the one at `old_root` has not, and the reverse; a row whose values differ is in both.

    Returns (inserted, their number, erased, their number, pages opened), rows as columns of arrays of shape width × room.
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
    while True:
        pass_shared(memory, new, old)
        if at_end(new) and at_end(old):
            break
        order = order_of(memory, layout[KEYS], new, old)
        if order == 0 and new[LEVEL_AT] != old[LEVEL_AT]:
            order = -1 if new[LEVEL_AT] > old[LEVEL_AT] else 1
        differs = order != 0 or new[LEVEL_AT] > 0 or not same_values(memory, layout, new, old)
        if order <= 0:
            if new[LEVEL_AT] > 0:
                open_subtree(memory, new)
            else:
                if differs:
                    inserted = append_row(memory, page_of(new), slot_of(new), inserted, added)
                    added += 1
                advance(memory, new)
        if order >= 0:
            if old[LEVEL_AT] > 0:
                open_subtree(memory, old)
            else:
                if differs:
                    erased = append_row(memory, page_of(old), slot_of(old), erased, removed)
                    removed += 1
                advance(memory, old)
    return inserted, added, erased, removed, new[VISITED] + old[VISITED]
