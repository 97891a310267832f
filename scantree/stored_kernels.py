# SPDX-License-Identifier: Apache-2.0
"""Pages on their way to a segment and back: which are new, what they look like there, and how they
find their children again.

In a segment a page names its children by their addresses there. They are the pages themselves where
a segment is mapped at its home; where it is not, index pages are relocated once.
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, inlined, load, store
from lftj.scantree.page_kernels import (
    ARENA_HEADER,
    ENTRIES,
    HEADER,
    LEVEL,
    NEXT_FREE,
    NEXT_WORD,
    PAGE_FAN,
    PAGE_ROWS,
    REFERENCES,
    RELOCATED,
    SIZE_CLASS,
    STORED,
    index_column,
)

PINNED = 1 << 40
"""References of a page in a segment: it is never given back."""


@inlined
def page_words(memory, page):
    """Words of a page."""
    return HEADER + load(memory, page + SIZE_CLASS) * PAGE_FAN


@compiled
def address_pages(memory, queue, head, tail, address):
    """Give every page below queue[head … tail) that has no address one, from `address` on, and
    append it to the queue. From 0: take from every page that has an address below these its
    address, so that it is in no segment.

    What is left of head, the new tail and the next address; head < tail: the queue has no room for
    the children of that page.
    """
    giving = address != 0
    while head < tail:
        page = queue[head]
        if load(memory, page + LEVEL) > 0:
            entries = load(memory, page + ENTRIES)
            if tail + entries > queue.size:
                break
            children = index_column(page, 0)
            for i in range(entries):
                child = load(memory, children + i)
                if (load(memory, child + STORED) == 0) == giving:
                    store(memory, child + STORED, address)
                    if giving:
                        address += page_words(memory, child)
                    queue[tail] = child
                    tail += 1
        head += 1
    return head, tail, address


@compiled
def write_pages(memory, queue, first, out, homes, ends, read):
    """Write pages queue[first …) as they are in a segment, one after another, as many as `out` has
    room for; how far, and words written.

    Where segment s, at [homes[s], ends[s]), has a child, read[s] becomes 1.
    """
    filled = 0
    latest = 0
    while first < queue.size:
        page = queue[first]
        words = page_words(memory, page)
        if filled + words > out.size:
            break
        level = load(memory, page + LEVEL)
        entries = load(memory, page + ENTRIES)
        stride = PAGE_ROWS if level == 0 else PAGE_FAN
        for word in range(HEADER):
            out[filled + word] = load(memory, page + word)
        out[filled + REFERENCES] = PINNED
        out[filled + NEXT_FREE] = 0
        out[filled + RELOCATED] = 0
        for base in range(HEADER, words, stride):
            for i in range(entries):
                out[filled + base + i] = load(memory, page + base + i)
            out[filled + base + entries : filled + base + stride] = 0
        if level > 0:
            for i in range(entries):
                child = load(memory, load(memory, page + HEADER + i) + STORED)
                out[filled + HEADER + i] = child
                if not homes[latest] <= child < ends[latest]:
                    latest = 0
                    while not homes[latest] <= child < ends[latest]:
                        latest += 1
                read[latest] = 1
        filled += words
        first += 1
    return first, filled


@compiled
def take_back_addresses(memory, queue):
    """Forget the addresses of these pages: they were not written."""
    for i in range(queue.size):
        store(memory, queue[i] + STORED, 0)


@compiled
def forget_addresses(memory, firsts, ends):
    """Have every page in memory whose address is in one of the ranges [firsts[i], ends[i]), which
    are in order, be in no segment. O(pages · log ranges).
    """
    page = ARENA_HEADER
    while page < load(memory, NEXT_WORD):
        address = load(memory, page + STORED)
        if address != 0:
            low, high = 0, firsts.size
            while low < high:
                middle = (low + high) // 2
                if ends[middle] <= address:
                    low = middle + 1
                else:
                    high = middle
            if low < firsts.size and firsts[low] <= address:
                store(memory, page + STORED, 0)
        page += page_words(memory, page)


@compiled
def relocate(memory, queue, head, tail, homes, ends, shifts):
    """Have the index pages queue[head … tail) and all below name their children where they are
    mapped: segment s, at [homes[s], ends[s]), is shifted by shifts[s]. As `address_pages` it may
    come to the end of the queue; the new head and tail.
    """
    while head < tail:
        page = queue[head]
        level = load(memory, page + LEVEL)
        if level > 0 and load(memory, page + RELOCATED) == 0:
            entries = load(memory, page + ENTRIES)
            if tail + entries > queue.size:
                break
            children = index_column(page, 0)
            for i in range(entries):
                child = load(memory, children + i)
                for segment in range(homes.size):
                    if homes[segment] <= child < ends[segment]:
                        child += shifts[segment]
                        break
                store(memory, children + i, child)
                if level > 1:
                    queue[tail] = child
                    tail += 1
            store(memory, page + RELOCATED, 1)
        head += 1
    return head, tail
