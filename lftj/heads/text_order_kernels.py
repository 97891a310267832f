# SPDX-License-Identifier: Apache-2.0
"""Compiled search among labelled texts: a tree from label to code, in the order of the texts behind
the codes.
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, load
from lftj.scantree.page_kernels import ENTRIES, SLOT_BITS, index_column, leaf_column
from lftj.scantree.seek_kernels import END, leaf_at, next_leaf


@compiled
def text_is_less(offsets, data, left, right):
    """Compare the UTF-8 texts of two codes by bytes, which is by code point."""
    i = offsets[left]
    j = offsets[right]
    while i < offsets[left + 1] and j < offsets[right + 1]:
        if data[i] != data[j]:
            return data[i] < data[j]
        i += 1
        j += 1
    return i == offsets[left + 1] and j < offsets[right + 1]


@compiled
def least_code(memory, page, level):
    """The code of the first row below a page."""
    for _ in range(level):
        page = load(memory, index_column(page, 0))
    return load(memory, leaf_column(page, 1))


@compiled
def find_neighbours(memory, root, height, offsets, data, code, low, high):
    """The labels between which a new text belongs, `low` and `high` where no text is before or
    behind it. O(log n) comparisons.
    """
    page = root
    path = 0
    for level in range(height, 0, -1):
        first = 0
        last = memory[page + ENTRIES] - 1
        while first < last:
            middle = (first + last + 1) >> 1
            child = load(memory, index_column(page, 0) + middle)
            if text_is_less(offsets, data, least_code(memory, child, level - 1), code):
                first = middle
            else:
                last = middle - 1
        path |= first << (SLOT_BITS * level)
        page = load(memory, index_column(page, 0) + first)
    first = 0
    last = memory[page + ENTRIES]
    while first < last:
        middle = (first + last) >> 1
        if text_is_less(offsets, data, load(memory, leaf_column(page, 1) + middle), code):
            first = middle + 1
        else:
            last = middle
    if first > 0:
        low = load(memory, leaf_column(page, 0) + first - 1)
    if first < memory[page + ENTRIES]:
        return low, load(memory, leaf_column(page, 0) + first)
    following = next_leaf(memory, root, height, path)
    if following != END:
        high = load(memory, leaf_column(leaf_at(memory, root, height, following), 0))
    return low, high
