"""Copy-on-write change: δ sorted changes touch δ paths, everything else is shared. O(δ (page + log n)).

The changed leaves are made first, then, level by level, new parents of what changed, until one root is left. A page that falls below a quarter of
its capacity is joined with a neighbour under the same parent where both fit on one page.
"""

from __future__ import annotations

import numpy as np

from scantree.build_kernels import raise_levels, write_leaf
from scantree.jit import compiled, load
from scantree.page_kernels import (
    ENTRIES,
    FAN_CAPACITY,
    KEYS,
    LEAF_CAPACITY,
    LEVEL,
    REFERENCES,
    WIDTH,
    copy_entry,
    discard,
    index_column,
    leaf_column,
    new_index,
    set_entry,
)
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
    """Rows of `leaf` less the erases, with the inserts, into `out` (shape width × room): the number of rows. An insert wins over its equal."""
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
        count = (rows + capacity - 1) // capacity
        for i in range(count):
            pages[made] = write_leaf(memory, layout, scratch, rows * i // count, rows * (i + 1) // count)
            made += 1
        paths[touched] = path
        ends[touched] = made
        touched += 1
        in_at = in_end
        out_at = out_end
    return touched


@compiled
def join_pages(memory, layout, left, right):
    """One new page with the entries of two neighbours; neither is freed."""
    level = memory[left + LEVEL]
    left_entries = memory[left + ENTRIES]
    entries = left_entries + memory[right + ENTRIES]
    if level == 0:
        scratch = np.empty((layout[WIDTH], entries), np.int64)
        for column in range(layout[WIDTH]):
            for i in range(entries):
                base = leaf_column(left, column) if i < left_entries else leaf_column(right, column) - left_entries
                scratch[column, i] = load(memory, base + i)
        return write_leaf(memory, layout, scratch, 0, entries)
    page = new_index(memory, layout, level)
    for i in range(entries):
        if i < left_entries:
            copy_entry(memory, layout, page, i, left, i)
        else:
            copy_entry(memory, layout, page, i, right, i - left_entries)
    memory[page + ENTRIES] = entries
    return page


@compiled
def join_small(memory, layout, children, capacity):
    """Join new pages below a quarter of `capacity` with a neighbour, rewriting `children` in place. Their number."""
    kept = 0
    for i in range(children.size):
        page = children[i]
        if kept > 0:
            before = children[kept - 1]
            page_is_new = memory[page + REFERENCES] == 0
            before_is_new = memory[before + REFERENCES] == 0
            entries = memory[page + ENTRIES]
            before_entries = memory[before + ENTRIES]
            small = (page_is_new and entries * 4 < capacity) or (before_is_new and before_entries * 4 < capacity)
            if small and entries + before_entries <= capacity:
                children[kept - 1] = join_pages(memory, layout, before, page)
                if before_is_new:
                    discard(memory, before)
                if page_is_new:
                    discard(memory, page)
                continue
        children[kept] = page
        kept += 1
    return kept


@compiled
def gather_children(memory, parent, level, paths, ends, first, last, pages):
    """The children of `parent` (at `level`), with those on paths[first:last] replaced by their new pages."""
    old = memory[parent + ENTRIES]
    start = ends[first - 1] if first > 0 else 0
    children = np.empty(old - (last - first) + ends[last - 1] - start, np.int64)
    count = 0
    at = first
    for i in range(old):
        if at < last and ((paths[at] >> (SLOT_BITS * level)) & SLOT_MASK) == i:
            for j in range(ends[at - 1] if at > 0 else 0, ends[at]):
                children[count] = pages[j]
                count += 1
            at += 1
        else:
            children[count] = load(memory, index_column(parent, 0) + i)
            count += 1
    return children


@compiled
def write_parent(memory, layout, old, hint, children, first, last, level):
    """An index page over children[first:last]: entries that `old` has are copied (searched from slot `hint` on), the others computed."""
    page = new_index(memory, layout, level)
    entries = memory[old + ENTRIES]
    for i in range(first, last):
        child = children[i]
        kept = memory[child + REFERENCES] > 0
        while kept and load(memory, index_column(old, 0) + hint) != child:
            hint += 1
        if kept and hint < entries:
            copy_entry(memory, layout, page, i - first, old, hint)
        else:
            set_entry(memory, layout, page, i - first, child)
    memory[page + ENTRIES] = last - first
    return page, hint


@compiled
def change_level(memory, layout, root, height, level, touched, paths, ends, pages):
    """New parents at `level` of what changed below; paths, ends and pages are rewritten. The number of touched parents."""
    fan = layout[FAN_CAPACITY]
    below = layout[LEAF_CAPACITY] if level == 1 else fan
    above = np.empty(pages.size, np.int64)
    above_ends = np.empty(touched, np.int64)
    shift = SLOT_BITS * (level + 1)
    made = 0
    parents = 0
    first = 0
    while first < touched:
        last = first + 1
        while last < touched and (paths[last] >> shift) == (paths[first] >> shift):
            last += 1
        parent = page_at_level(memory, root, height, paths[first], level)
        children = gather_children(memory, parent, level, paths, ends, first, last, pages)
        kept = join_small(memory, layout, children, below)
        count = (kept + fan - 1) // fan
        hint = 0
        for i in range(count):
            above[made], hint = write_parent(memory, layout, parent, hint, children, kept * i // count, kept * (i + 1) // count, level)
            made += 1
        paths[parents] = paths[first]
        above_ends[parents] = made
        parents += 1
        first = last
    pages[:made] = above[:made]
    ends[:parents] = above_ends[:parents]
    return parents


@compiled
def lower_root(memory, root, height):
    """Take index pages with a single child off the top: (root, height)."""
    while height > 0 and memory[root + ENTRIES] == 1:
        child = memory[index_column(root, 0)]
        memory[child + REFERENCES] += 1
        discard(memory, root)
        memory[child + REFERENCES] -= 1
        root = child
        height -= 1
    return root, height


@compiled
def apply(memory, layout, root, height, inserts, erases):
    """The tree at `root` (not 0) less `erases` (shape keys × e) with `inserts` (shape width × i), both sorted and distinct: (root, height).

    The old tree is untouched; the new root carries no reference yet, unless it is the old one.
    """
    changes = inserts.shape[1] + erases.shape[1]
    paths = np.empty(changes, np.int64)
    ends = np.empty(changes, np.int64)
    pages = np.empty(2 * changes + 2 * (inserts.shape[1] // layout[LEAF_CAPACITY]) + 2, np.int64)
    touched = change_leaves(memory, layout, root, height, inserts, erases, paths, ends, pages)
    for level in range(1, height + 1):
        touched = change_level(memory, layout, root, height, level, touched, paths, ends, pages)
    made = ends[0]
    if made == 0:
        return 0, 0
    top, height = raise_levels(memory, layout, pages[:made].copy(), height)
    return lower_root(memory, top, height)
