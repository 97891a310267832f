# SPDX-License-Identifier: Apache-2.0
"""Cursors: walking a tree in key order, a whole subtree at a time or opened, as the walker decides.

A cursor is a short int64 array. It stands on one slot of an opened page: on a row, when that page
is a leaf, else on a subtree that has not been opened. Two cursors that walk together can so pass by
what their trees share without looking into it.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled, inlined, load
from lftj.scantree.page_kernels import (
    ENTRIES,
    HEADER,
    MAX_HEIGHT,
    PAGE_FAN,
    PAGE_ROWS,
    index_column,
    leaf_column,
)

LEVEL_AT = 0  # of the opened page: 0 on a row, height + 1 when at the end
TOP = 1  # the tree's height
VISITED = 2  # pages opened
PAGES = 3  # the opened page of each level
SLOTS = PAGES + MAX_HEIGHT + 2  # where it stands in them


@compiled
def open_tree(root, height):
    """A cursor on the first slot of the root; at the end when there is no root."""
    cursor = np.zeros(SLOTS + MAX_HEIGHT + 2, np.int64)
    cursor[TOP] = height
    cursor[LEVEL_AT] = height + 1
    if root != 0:
        cursor[LEVEL_AT] = height
        cursor[PAGES + height] = root
        cursor[VISITED] = 1
    return cursor


@inlined
def at_end(cursor):
    """Test for a cursor behind the last row."""
    return cursor[LEVEL_AT] > cursor[TOP]


@inlined
def page_of(cursor):
    """The opened page that it stands in."""
    return cursor[PAGES + cursor[LEVEL_AT]]


@inlined
def slot_of(cursor):
    """The slot of that page."""
    return cursor[SLOTS + cursor[LEVEL_AT]]


@inlined
def subtree(memory, cursor):
    """The page of the subtree that it stands on; not on a row."""
    return load(memory, index_column(page_of(cursor), 0) + slot_of(cursor))


@compiled
def open_subtree(memory, cursor):
    """Go to the first slot of the subtree that it stands on."""
    child = subtree(memory, cursor)
    level = cursor[LEVEL_AT] - 1
    cursor[LEVEL_AT] = level
    cursor[PAGES + level] = child
    cursor[SLOTS + level] = 0
    cursor[VISITED] += 1


@compiled
def advance(memory, cursor):
    """Pass the row or the subtree that it stands on."""
    level = cursor[LEVEL_AT]
    top = cursor[TOP]
    cursor[SLOTS + level] += 1
    while level <= top and cursor[SLOTS + level] >= load(memory, cursor[PAGES + level] + ENTRIES):
        level += 1
        cursor[SLOTS + level] += 1
    cursor[LEVEL_AT] = level


@inlined
def first_key(cursor):
    """(word, stride): key column k of its row, or of the least row of its subtree, is at word + k ·
    stride.
    """
    page = page_of(cursor)
    if cursor[LEVEL_AT] == 0:
        return leaf_column(page, 0) + slot_of(cursor), PAGE_ROWS
    return index_column(page, 2) + slot_of(cursor), PAGE_FAN


@compiled
def compare_cursors(memory, keys, left, right):
    """−1, 0, 1 as the (least) key at `left` is before, equal to or after that at `right`."""
    mine, my_stride = first_key(left)
    other, other_stride = first_key(right)
    for key in range(keys):
        a = load(memory, mine + key * my_stride)
        b = load(memory, other + key * other_stride)
        if a != b:
            return -1 if a < b else 1
    return 0


@compiled
def append_row(memory, leaf, slot, out, rows):
    """Write a row of a leaf as column `rows` of `out` (shape width × room): `out`, or a copy of it
    with more room.
    """
    if rows == out.shape[1]:
        wider = np.empty((out.shape[0], 2 * rows), np.int64)
        for column in range(out.shape[0]):
            for row in range(rows):
                wider[column, row] = out[column, row]
        out = wider
    word = leaf + HEADER + slot
    for column in range(out.shape[0]):
        out[column, rows] = load(memory, word + column * PAGE_ROWS)
    return out
