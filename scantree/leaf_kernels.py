# SPDX-License-Identifier: Apache-2.0
"""Changing leaves: which changes belong to which leaf, and the new leaves that they make.

A path packs the child taken at each index level as a position does, the leaf's own slot being 0.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled, fetch, load
from lftj.scantree.page_kernels import (
    CACHE_LINE,
    ENTRIES,
    KEYS,
    LEAF_CAPACITY,
    WIDTH,
    index_column,
    leaf_column,
)
from lftj.scantree.piece_kernels import PIECE_WORDS, UNTIL, compare_columns, cut_leaf, write_pieces
from lftj.scantree.seek_kernels import (
    SLOT_BITS,
    SLOT_MASK,
    child_for,
    compare_index_entry,
    compare_leaf_row,
)


@compiled
def changes_before(memory, page, slot, keys, changes, first, last):
    """First change in [first, last) that is not before the least key of child `slot`. O(log (that −
    first)).
    """
    low = first
    high = last
    stride = 1
    while (
        low + stride < last
        and compare_index_entry(memory, page, slot, keys, changes, low + stride) > 0
    ):
        low += stride
        stride <<= 1
    high = min(last, low + stride)
    while low < high:
        middle = (low + high) >> 1
        if compare_index_entry(memory, page, slot, keys, changes, middle) > 0:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def leaf_path(memory, root, height, keys, changes, change):
    """The path to the leaf that a change belongs to."""
    page = root
    path = 0
    for level in range(height, 0, -1):
        child = child_for(memory, page, keys, changes, change)
        path |= child << (SLOT_BITS * level)
        page = memory[index_column(page, 0) + child]
    return path


@compiled
def share_end(memory, root, height, keys, path, changes, first):
    """The first of changes [first, …) that does not belong to the leaf at `path`; none lies before
    it.
    """
    page = root
    end = changes.shape[1]
    for level in range(height, 0, -1):
        child = (path >> (SLOT_BITS * level)) & SLOT_MASK
        if child + 1 < memory[page + ENTRIES]:
            end = changes_before(memory, page, child + 1, keys, changes, first, end)
        page = memory[index_column(page, 0) + child]
    return end


@compiled
def page_at_level(memory, root, height, path, level):
    """The page at `level` on a path."""
    page = root
    for at in range(height, level, -1):
        page = memory[index_column(page, 0) + ((path >> (SLOT_BITS * at)) & SLOT_MASK)]
    return page


@compiled
def share(entries, pages, page, capacity, appended):
    """The share of `entries` for page number `page` of `pages`: [first, last).

    Equal shares leave room for changes anywhere. Entries added only at the end will be added there
    again: then all pages but the last are full.
    """
    if appended:
        return page * capacity, min(entries, (page + 1) * capacity)
    return entries * page // pages, entries * (page + 1) // pages


@compiled
def fetched_leaf(memory, root, height, layout, path):
    """The leaf at a path, fetched: it will be copied."""
    leaf = page_at_level(memory, root, height, path, 0)
    for column in range(layout[WIDTH]):
        for slot in range(0, load(memory, leaf + ENTRIES), CACHE_LINE):
            fetch(memory, leaf_column(leaf, column) + slot)
    return leaf


@compiled
def next_leaf(memory, root, height, layout, inserts, in_at, erases, out_at):
    """(path, leaf) that the first change from these on belongs to, leaf 0 when none is left. The
    leaf is fetched: it will be copied.
    """
    keys = layout[KEYS]
    if in_at < inserts.shape[1] and (
        out_at >= erases.shape[1] or compare_columns(keys, inserts, in_at, erases, out_at) <= 0
    ):
        path = leaf_path(memory, root, height, keys, inserts, in_at)
    elif out_at < erases.shape[1]:
        path = leaf_path(memory, root, height, keys, erases, out_at)
    else:
        return 0, 0
    return path, fetched_leaf(memory, root, height, layout, path)


@compiled
def remake_leaf(
    memory, layout, leaf, inserts, in_at, in_end, erases, out_at, out_end, pieces, pages, made
):
    """Append to `pages`, which has `made`, new leaves in place of one: less these erases, with
    these inserts. How many there are then.
    """
    keys = layout[KEYS]
    capacity = layout[LEAF_CAPACITY]
    count = cut_leaf(memory, keys, leaf, inserts, in_at, in_end, erases, out_at, out_end, pieces)
    rows = pieces[count - 1, UNTIL] if count > 0 else 0
    appended = (
        in_at < in_end
        and compare_leaf_row(memory, leaf, memory[leaf + ENTRIES] - 1, keys, inserts, in_at) < 0
    )
    shares = (rows + capacity - 1) // capacity
    for i in range(shares):
        first, last = share(rows, shares, i, capacity, appended)
        pages[made] = write_pieces(memory, layout, leaf, inserts, pieces, first, last)
        made += 1
    return made


@compiled
def change_leaves(memory, layout, root, height, inserts, erases, paths, ends, pages):
    """New leaves for every touched one: the leaf on paths[i] becomes pages[ends[i−1]:ends[i]]. The
    number of touched leaves.
    """
    keys = layout[KEYS]
    pieces = np.empty((2 * (inserts.shape[1] + erases.shape[1]) + 1, PIECE_WORDS), np.int64)
    in_at = out_at = touched = made = 0
    path, leaf = next_leaf(memory, root, height, layout, inserts, in_at, erases, out_at)
    while leaf != 0:
        in_end = share_end(memory, root, height, keys, path, inserts, in_at)
        out_end = share_end(memory, root, height, keys, path, erases, out_at)
        next_path, following = next_leaf(
            memory, root, height, layout, inserts, in_end, erases, out_end
        )
        made = remake_leaf(
            memory,
            layout,
            leaf,
            inserts,
            in_at,
            in_end,
            erases,
            out_at,
            out_end,
            pieces,
            pages,
            made,
        )
        paths[touched] = path
        ends[touched] = made
        touched += 1
        in_at, out_at, path, leaf = in_end, out_end, next_path, following
    return touched
