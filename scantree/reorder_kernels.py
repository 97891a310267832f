# SPDX-License-Identifier: Apache-2.0
"""Bringing a tree's rows into another key order: one pass over its leaves into packed rows, from
which, sorted, new leaves are made.

`order` tells for each column of the new tree which one of the old it is, and `dropped` how many of
its low bits become zero. A packed row holds its columns' distances from their least values, without
these bits, the first in the highest bits.
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, load
from lftj.scantree.packing_kernels import INT64_MAX
from lftj.scantree.page_kernels import ENTRIES, leaf_column
from lftj.scantree.seek_kernels import END, leaf_at, next_leaf


@compiled
def survey_leaves(memory, root, height, order, dropped, lows, highs):
    """The least and the greatest value of each column. The tree has rows."""
    lows[:] = INT64_MAX
    highs[:] = -INT64_MAX - 1
    position = 0
    while position != END:
        leaf = leaf_at(memory, root, height, position)
        entries = load(memory, leaf + ENTRIES)
        for place in range(order.size):
            base = leaf_column(leaf, order[place])
            bits = dropped[place]
            low = lows[place]
            high = highs[place]
            for slot in range(entries):
                value = load(memory, base + slot) >> bits
                low = min(low, value)
                high = max(high, value)
            lows[place] = low
            highs[place] = high
        position = next_leaf(memory, root, height, position)


@compiled
def pack_leaves(memory, root, height, order, dropped, lows, widths, packed):
    """Write every row as a packed one, in the order of the tree."""
    position = 0
    row = 0
    while position != END:
        leaf = leaf_at(memory, root, height, position)
        entries = load(memory, leaf + ENTRIES)
        for place in range(order.size):
            base = leaf_column(leaf, order[place])
            bits = dropped[place]
            low = lows[place]
            shift = widths[place]
            if place == 0:
                for slot in range(entries):
                    packed[row + slot] = (load(memory, base + slot) >> bits) - low
            else:
                for slot in range(entries):
                    packed[row + slot] = (packed[row + slot] << shift) | (
                        (load(memory, base + slot) >> bits) - low
                    )
        row += entries
        position = next_leaf(memory, root, height, position)
