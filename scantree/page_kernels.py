# SPDX-License-Identifier: Apache-2.0
"""Pages: how they lie in memory, how they are taken and given back.

All trees of one arena live in one int64 array, `memory`, and a page is named by the index of its
first word, so that a page means the same in another process that maps the same words. Word 0 of
memory is never a page: 0 stands for "no page".

    page   = header of 8 words, then columns leaf   = one column of PAGE_ROWS words for each key and
    value column index  = columns of PAGE_FAN words: child page, rows below the child, the child's
    least key (one column per key column),
             then one column per aggregate, ⊕ over the rows below the child

A page counts its references: one per parent page, one per tree that has it as root. At zero it goes
to the free list of its size. Once referenced it never changes, and every use of its words has
another birth number, so (page, birth) names one content for ever.

A page that was written to a file knows where it lies there (`stored_kernels`).
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled, inlined, load, store

SLOT_BITS = 9
SLOT_MASK = 511
PAGE_ROWS = 512
PAGE_FAN = 256
HEADER = 8
CACHE_LINE = 8  # words
MAX_HEIGHT = (
    5  # a position has room for so many index levels; pages a quarter full then hold 10¹¹ rows
)

# header words of a page
ENTRIES = 0
REFERENCES = 1
SIZE_CLASS = 2
NEXT_FREE = 3
LEVEL = 4
BIRTH = 5
STORED = 6  # its address in a segment; 0: in none
RELOCATED = 7  # of a mapped index page: 1 once it names its children as this process does

# words of the arena's own header, at the start of memory
NEXT_WORD = 0
WORDS_IN_USE = 1
BIRTHS = 2
GRANTED = 3  # the first word that must not be used: what is behind is not there yet
FREE_LISTS = 16
SIZE_CLASSES = 480
ARENA_HEADER = 512

# words of a tree's layout array
KEYS = 0
WIDTH = 1
LEAF_CAPACITY = 2
FAN_CAPACITY = 3
AGGREGATES = 4
FIRST_AGGREGATE = 5

# aggregate operators
SUM = 0
MIN = 1
MAX = 2


@inlined
def leaf_column(page, column):
    """First word of a leaf's column."""
    return page + HEADER + column * PAGE_ROWS


@inlined
def index_column(page, column):
    """First word of an index page's column: 0 child, 1 rows, 2 … keys, then aggregates."""
    return page + HEADER + column * PAGE_FAN


@inlined
def words_of_leaf(layout):
    """Words of a leaf for this layout."""
    return HEADER + layout[WIDTH] * PAGE_ROWS


@inlined
def words_of_index(layout):
    """Words of an index page for this layout."""
    return HEADER + (2 + layout[KEYS] + layout[AGGREGATES]) * PAGE_FAN


@compiled
def take_page(memory, size_class, level):
    """A page of HEADER + size_class * PAGE_FAN words with no references. The arena has made sure
    that there is room.
    """
    words = HEADER + size_class * PAGE_FAN
    page = memory[FREE_LISTS + size_class]
    if page != 0:
        memory[FREE_LISTS + size_class] = memory[page + NEXT_FREE]
    else:
        page = memory[NEXT_WORD]
        memory[NEXT_WORD] = page + words
    memory[WORDS_IN_USE] += words
    memory[page + ENTRIES] = 0
    memory[page + REFERENCES] = 0
    memory[page + SIZE_CLASS] = size_class
    memory[page + NEXT_FREE] = 0
    memory[page + LEVEL] = level
    memory[BIRTHS] += 1
    memory[page + BIRTH] = memory[BIRTHS]
    memory[page + STORED] = 0
    return page


@compiled
def free_page(memory, page):
    """Put a page without references on the free list of its size."""
    size_class = memory[page + SIZE_CLASS]
    memory[page + NEXT_FREE] = memory[FREE_LISTS + size_class]
    memory[page + REFERENCES] = -1
    memory[FREE_LISTS + size_class] = page
    memory[WORDS_IN_USE] -= HEADER + size_class * PAGE_FAN


@compiled
def new_leaf(memory, layout):
    """An empty leaf for this layout."""
    return take_page(memory, layout[WIDTH] * (PAGE_ROWS // PAGE_FAN), 0)


@compiled
def new_index(memory, layout, level):
    """An empty index page for this layout."""
    return take_page(memory, 2 + layout[KEYS] + layout[AGGREGATES], level)


@compiled
def release(memory, root):
    """Drop one reference to `root`; free every page that nothing references any more. O(pages freed
    · fan).
    """
    if root == 0:
        return
    stack = np.empty(
        (MAX_HEIGHT + 2) * PAGE_FAN, np.int64
    )  # depth first: at most one page's children wait at each level
    stack[0] = root
    depth = 1
    while depth > 0:
        depth -= 1
        page = stack[depth]
        memory[page + REFERENCES] -= 1
        if memory[page + REFERENCES] > 0:
            continue
        if memory[page + LEVEL] > 0:
            children = index_column(page, 0)
            for i in range(memory[page + ENTRIES]):
                stack[depth] = memory[children + i]
                depth += 1
        free_page(memory, page)


@compiled
def note_words(memory, noted):
    """Set `noted[w]` for every word w ≥ 0 that stands in a leaf which something references, and is
    below its size. O(all pages).
    """
    page = ARENA_HEADER
    while page < memory[NEXT_WORD]:
        columns = memory[page + SIZE_CLASS] // (PAGE_ROWS // PAGE_FAN)
        if memory[page + REFERENCES] > 0 and memory[page + LEVEL] == 0:
            for column in range(columns):
                first = leaf_column(page, column)
                for word in memory[first : first + memory[page + ENTRIES]]:
                    if 0 <= word < noted.size:
                        noted[word] = 1
        page += HEADER + memory[page + SIZE_CLASS] * PAGE_FAN


@compiled
def discard(memory, page):
    """Free a page that was made and never referenced, giving up its references to its children."""
    memory[page + REFERENCES] = 1
    release(memory, page)


@compiled
def fold(memory, base, entries, operator):
    """⊕ over `entries` words from `base`; entries ≥ 1."""
    total = load(memory, base)
    for i in range(1, entries):
        value = load(memory, base + i)
        if operator == SUM:
            total += value
        elif operator == MIN:
            total = min(total, value)
        else:
            total = max(total, value)
    return total


@compiled
def set_entry(memory, layout, parent, slot, child):
    """Write child `slot` of an index page: page, rows, least key, aggregates; the child gains a
    reference.
    """
    keys = layout[KEYS]
    is_leaf = memory[child + LEVEL] == 0
    entries = memory[child + ENTRIES]
    store(memory, index_column(parent, 0) + slot, child)
    rows = entries if is_leaf else fold(memory, index_column(child, 1), entries, SUM)
    store(memory, index_column(parent, 1) + slot, rows)
    for key in range(keys):
        first = leaf_column(child, key) if is_leaf else index_column(child, 2 + key)
        store(memory, index_column(parent, 2 + key) + slot, load(memory, first))
    for i in range(layout[AGGREGATES]):
        operator = layout[FIRST_AGGREGATE + 2 * i]
        column = layout[FIRST_AGGREGATE + 2 * i + 1]
        base = leaf_column(child, column) if is_leaf else index_column(child, 2 + keys + i)
        store(
            memory, index_column(parent, 2 + keys + i) + slot, fold(memory, base, entries, operator)
        )
    memory[child + REFERENCES] += 1


@compiled
def copy_entry(memory, layout, parent, slot, source, source_slot):
    """Copy one child's entry from another index page; the child gains a reference."""
    for column in range(2 + layout[KEYS] + layout[AGGREGATES]):
        store(
            memory,
            index_column(parent, column) + slot,
            load(memory, index_column(source, column) + source_slot),
        )
    memory[load(memory, index_column(source, 0) + source_slot) + REFERENCES] += 1
