# SPDX-License-Identifier: Apache-2.0
"""Windows: the slots of one leaf that lie in a range, taken one window after the other."""

from __future__ import annotations

from lftj.scantree.jit import (
    compiled,
    inlined,
    load,
)
from lftj.scantree.page_kernels import (
    ENTRIES,
    SLOT_BITS,
    SLOT_MASK,
    leaf_column,
)
from lftj.scantree.read_kernels import (
    at_rank,
)
from lftj.scantree.seek_kernels import (
    next_leaf,
    rank,
)


@inlined
def rows_between(memory, root, height, position, limit):
    """Number of rows in [position, limit)."""
    if position >= limit:
        return 0
    if (position >> SLOT_BITS) == (limit >> SLOT_BITS):
        return limit - position
    return rank(memory, root, height, limit) - rank(memory, root, height, position)


@inlined
def follow(memory, root, height, leaf, position, slot, end, limit):
    """The position at `slot` of the window of `position`, normalised when the window (which stops
    at `end`) is used up.
    """
    if slot < end:
        return position - (position & SLOT_MASK) + slot
    return (
        next_leaf(memory, root, height, position) if end == load(memory, leaf + ENTRIES) else limit
    )


@compiled
def last_value(memory, root, height, column, limit):
    """The value just before `limit`, which is the end of a range that is not empty."""
    leaf, slot = at_rank(memory, root, height, rank(memory, root, height, limit) - 1)
    return load(memory, leaf_column(leaf, column) + slot)
