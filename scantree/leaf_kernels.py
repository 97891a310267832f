"""Changing leaves: which changes belong to which leaf, and the new leaves that they make.

A path packs the child taken at each index level as a position does, the leaf's own slot being 0.
"""

from __future__ import annotations

import numpy as np

from scantree.build_kernels import write_leaf
from scantree.jit import compiled, load
from scantree.page_kernels import ENTRIES, KEYS, LEAF_CAPACITY, WIDTH, index_column, leaf_column
from scantree.seek_kernels import SLOT_BITS, SLOT_MASK, child_for, compare_index_entry, compare_leaf_row


@compiled
def compare_columns(keys, left, i, right, j):
    """−1, 0, 1 for column i of `left` against column j of `right`, over the first `keys` rows of each."""
    for column in range(keys):
        if left[column, i] != right[column, j]:
            return -1 if left[column, i] < right[column, j] else 1
    return 0


@compiled
def changes_before(memory, page, slot, keys, changes, first, last):
    """First change in [first, last) that is not before the least key of child `slot`."""
    low = first
    high = last
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
def merge_leaf(memory, layout, leaf, inserts, first_in, last_in, erases, first_out, last_out, out):
    """Rows of `leaf` less the erases, with the inserts, into `out` (shape width × room): their number. An insert wins over its equal."""
    keys = layout[KEYS]
    width = layout[WIDTH]
    entries = memory[leaf + ENTRIES]
    slot = 0
    rows = 0
    while slot < entries or first_in < last_in:
        order = 1 if slot >= entries else -1
        if slot < entries and first_in < last_in:
            order = compare_leaf_row(memory, leaf, slot, keys, inserts, first_in)
        if order >= 0:
            for column in range(width):
                out[column, rows] = inserts[column, first_in]
            first_in += 1
            rows += 1
            slot += 1 if order == 0 else 0
            continue
        gone = False
        while first_out < last_out:
            against = compare_leaf_row(memory, leaf, slot, keys, erases, first_out)
            if against < 0:
                break
            first_out += 1
            if against == 0:
                gone = True
                break
        if not gone:
            for column in range(width):
                out[column, rows] = load(memory, leaf_column(leaf, column) + slot)
            rows += 1
        slot += 1
    return rows


@compiled
def share_end(memory, root, height, keys, path, changes, first):
    """The first of changes [first, …) that does not belong to the leaf at `path`; none lies before it."""
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
    """Which of `entries` go to page number `page` of `pages`: [first, last).

    Equal shares leave room for changes anywhere. What was only added to at its end will be again: then all pages but the last are full.
    """
    if appended:
        return page * capacity, min(entries, (page + 1) * capacity)
    return entries * page // pages, entries * (page + 1) // pages


@compiled
def change_leaves(memory, layout, root, height, inserts, erases, paths, ends, pages):
    """New leaves for every touched one: the leaf on paths[i] becomes pages[ends[i−1]:ends[i]]. The number of touched leaves."""
    keys = layout[KEYS]
    capacity = layout[LEAF_CAPACITY]
    scratch = np.empty((layout[WIDTH], 2 * capacity), np.int64)
    in_at = 0
    out_at = 0
    touched = 0
    made = 0
    while in_at < inserts.shape[1] or out_at < erases.shape[1]:
        if out_at >= erases.shape[1] or (in_at < inserts.shape[1] and compare_columns(keys, inserts, in_at, erases, out_at) <= 0):
            path = leaf_path(memory, root, height, keys, inserts, in_at)
        else:
            path = leaf_path(memory, root, height, keys, erases, out_at)
        leaf = page_at_level(memory, root, height, path, 0)
        in_end = share_end(memory, root, height, keys, path, inserts, in_at)
        out_end = share_end(memory, root, height, keys, path, erases, out_at)
        room = memory[leaf + ENTRIES] + in_end - in_at
        if room > scratch.shape[1]:
            scratch = np.empty((layout[WIDTH], 2 * room), np.int64)
        rows = merge_leaf(memory, layout, leaf, inserts, in_at, in_end, erases, out_at, out_end, scratch)
        appended = in_at < in_end and compare_leaf_row(memory, leaf, memory[leaf + ENTRIES] - 1, keys, inserts, in_at) < 0
        count = (rows + capacity - 1) // capacity
        for i in range(count):
            first, last = share(rows, count, i, capacity, appended)
            pages[made] = write_leaf(memory, layout, scratch, first, last)
            made += 1
        paths[touched] = path
        ends[touched] = made
        touched += 1
        in_at = in_end
        out_at = out_end
    return touched
