# SPDX-License-Identifier: Apache-2.0
"""Copy-on-write change: δ sorted changes touch δ paths, everything else is shared. O(δ (page + log
n)).

The changed leaves are made first, then, level by level, new parents of what changed, until one root
is left. A page that falls below a quarter of its capacity is joined with a neighbour under the same
parent where both fit on one page.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.build_kernels import raise_levels, write_leaf
from lftj.scantree.jit import compiled, load
from lftj.scantree.leaf_kernels import change_leaves, page_at_level, share
from lftj.scantree.page_kernels import (
    ENTRIES,
    FAN_CAPACITY,
    GRANTED,
    LEAF_CAPACITY,
    LEVEL,
    NEXT_WORD,
    REFERENCES,
    SLOT_BITS,
    SLOT_MASK,
    WIDTH,
    WORDS_IN_USE,
    copy_entry,
    discard,
    index_column,
    leaf_column,
    new_index,
    set_entry,
    words_of_index,
    words_of_leaf,
)
from lftj.scantree.seek_kernels import END, rank


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
                base = (
                    leaf_column(left, column)
                    if i < left_entries
                    else leaf_column(right, column) - left_entries
                )
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
    """Join new pages below a quarter of `capacity` with a neighbour, rewriting `children` in place.
    Their number.
    """
    kept = 0
    for i in range(children.size):
        page = children[i]
        if kept > 0:
            before = children[kept - 1]
            page_is_new = memory[page + REFERENCES] == 0
            before_is_new = memory[before + REFERENCES] == 0
            entries = memory[page + ENTRIES]
            before_entries = memory[before + ENTRIES]
            small = (page_is_new and entries * 4 < capacity) or (
                before_is_new and before_entries * 4 < capacity
            )
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
    """The children of `parent` (at `level`), with those on paths[first:last] replaced by their new
    pages.
    """
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
    """An index page over children[first:last]: entries that `old` has are copied (searched from
    slot `hint` on), the others computed.
    """
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
    """New parents at `level` of what changed below; paths, ends and pages are rewritten. The number
    of touched parents.
    """
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
        appended = ((paths[first] >> (shift - SLOT_BITS)) & SLOT_MASK) == memory[
            parent + ENTRIES
        ] - 1
        hint = 0
        for i in range(count):
            low, high = share(kept, count, i, fan, appended)
            above[made], hint = write_parent(
                memory, layout, parent, hint, children, low, high, level
            )
            made += 1
        paths[parents] = paths[first]
        above_ends[parents] = made
        parents += 1
        first = last
    for i in range(made):
        pages[i] = above[i]
    for i in range(parents):
        ends[i] = above_ends[i]
    return parents


@compiled
def lower_root(memory, root, height):
    """Take index pages with a single child off the top: (root, height). Only new pages are given
    up; a shared one is merely passed by.
    """
    while height > 0 and memory[root + ENTRIES] == 1:
        child = memory[index_column(root, 0)]
        if memory[root + REFERENCES] == 0:
            memory[child + REFERENCES] += 1
            discard(memory, root)
            memory[child + REFERENCES] -= 1
        root = child
        height -= 1
    return root, height


@compiled
def change_above(memory, layout, root, height, touched, paths, ends, pages):
    """The tree in which the leaves on so many paths are these pages: (root, height)."""
    for level in range(1, height + 1):
        touched = change_level(memory, layout, root, height, level, touched, paths, ends, pages)
    made = ends[0]
    if made == 0:
        return 0, 0
    top, height = raise_levels(memory, layout, pages, made, height)
    return lower_root(memory, top, height)


@compiled
def apply(memory, layout, root, height, inserts, erases):
    """The tree at `root` (not 0) less `erases` (shape keys × e) with `inserts` (shape width × i),
    both sorted and distinct: (root, height).

    The old tree is untouched; the new root carries no reference yet, unless it is the old one.
    """
    changes = inserts.shape[1] + erases.shape[1]
    paths = np.empty(changes, np.int64)
    ends = np.empty(changes, np.int64)
    pages = np.empty(2 * changes + 2 * (inserts.shape[1] // layout[LEAF_CAPACITY]) + 2, np.int64)
    touched = change_leaves(memory, layout, root, height, inserts, erases, paths, ends, pages)
    return change_above(memory, layout, root, height, touched, paths, ends, pages)


@compiled
def words_to_change(layout, height, inserts, erases, in_use):
    """No fewer words than new pages take, with `in_use` in the arena: in proportion to the change,
    or to what is there if that is less.

    A change touches at most a path of pages, and all touched pages, of every level, are distinct
    pages of the arena: so their words are bounded by both. A touched page becomes itself and one
    more at most, beside what inserted rows fill; a page more below is an entry more above, and
    `fan` of these fill a page.
    """
    leaf, index = words_of_leaf(layout), words_of_index(layout)
    changes, filled = inserts + erases, inserts // layout[LEAF_CAPACITY] + 2
    touched = min(changes * (leaf + (height + 1) * index), in_use)
    entries = min(changes, in_use // index + 1) + filled
    above = (height + 2) * (entries // layout[FAN_CAPACITY] + 2)
    return 2 * touched + filled * leaf + above * index


@compiled
def words_lacking(memory, layout, height, inserts, erases):
    """0 where the arena has room for a change; else minus the words that it has to have."""
    words = words_to_change(layout, height, inserts, erases, memory[WORDS_IN_USE])
    return -words if memory[NEXT_WORD] + words > memory[GRANTED] else 0


@compiled
def apply_in_room(memory, layout, root, height, inserts, erases):
    """`apply`, with the number of rows after it: (root, height, rows). Where the arena may lack
    room nothing happens, and the first is as `words_lacking` tells.
    """
    lacking = words_lacking(memory, layout, height, inserts.shape[1], erases.shape[1])
    if lacking < 0:
        return lacking, 0, 0
    root, height = apply(memory, layout, root, height, inserts, erases)
    return root, height, rank(memory, root, height, END)
