"""The last level, where a triejoin spends its time: one part read out or counted, two intersected, or a bitmap tested.

All of it works inside page windows (`window_kernels`). Preconditions: the level has no filter and no computed value, and each part's column
is the last of its key order, so values inside a range are distinct. But a part that is only counted may have more columns: then its rows
are counted, for levels that are left out (`assemble`).
"""

from __future__ import annotations

from lftj.join.kernels.bitmap_kernels import (
    READY,
    cached_is_shorter,
    fill_cache,
    test_against_cache,
)
from lftj.join.kernels.intersect_kernels import (
    intersect,
)
from lftj.join.kernels.iterator_kernels import (
    open_level,
    part_record,
    part_state,
)
from lftj.join.kernels.layout_kernels import (
    CACHE_READY,
    CACHE_WORK,
    CAPACITY,
    LIMIT,
    PART_COLUMN,
    PART_HEIGHT,
    PART_ROOT,
    POSITION,
    ROWS,
    STEPS,
)
from lftj.join.kernels.output_kernels import (
    complete_rows,
    last_column,
)
from lftj.join.kernels.window_kernels import (
    rows_between,
)
from scantree.jit import (
    compiled,
    inlined,
    load,
    store,
)
from scantree.page_kernels import (
    ENTRIES,
    SLOT_MASK,
    leaf_column,
)
from scantree.seek_kernels import (
    leaf_at,
    next_leaf,
    window_end,
)

_PATIENCE = 64  # steps at the last level before a bitmap is thought of


@compiled
def count_part(memory, plan, state, part):
    """Number of rows in a part's range. O(log n)."""
    record = part_record(plan, part)
    at = part_state(state, part)
    store(state, STEPS, load(state, STEPS) + 1)
    root = load(plan, record + PART_ROOT)
    return rows_between(memory, root, load(plan, record + PART_HEIGHT), load(state, at + POSITION), load(state, at + LIMIT))


@compiled
def read_part(memory, plan, state, part, last_level, out):
    """Emit the values of a part from its position on; False when `out` is full first."""
    record = part_record(plan, part)
    at = part_state(state, part)
    root, height, column = load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT), load(plan, record + PART_COLUMN)
    limit = load(state, at + LIMIT)
    position = load(state, at + POSITION)
    while position < limit:
        leaf = leaf_at(memory, root, height, position)
        slot = position & SLOT_MASK
        end = window_end(memory, leaf, position, limit)
        row = load(state, ROWS)
        taken = min(end - slot, load(state, CAPACITY) - row)
        base = leaf_column(leaf, column) + slot
        to = last_column(plan, state, last_level)
        for i in range(taken):
            store(out, to + i, load(memory, base + i))
        complete_rows(plan, state, out, taken, last_level)
        store(state, STEPS, load(state, STEPS) + taken)
        if slot + taken < end:
            store(state, at + POSITION, position + taken)
            return False
        position = next_leaf(memory, root, height, position) if end == load(memory, leaf + ENTRIES) else limit
    return True


@inlined
def finish_level(memory, plan, state, first, last, invariant, last_level, cache, out, emitting, resumed):
    """All of the last level at once: (values found, finished). Found is −1 when this level has to be searched value by value."""
    parts = last - first
    if parts == 1:
        if emitting:
            return 0, read_part(memory, plan, state, first, last_level, out)
        return count_part(memory, plan, state, first), True
    if invariant == parts - 1 and invariant <= 2:
        if not resumed and load(state, CACHE_READY) == 0 and load(state, CACHE_WORK) >= _PATIENCE:
            fill_cache(memory, plan, state, first, invariant, cache)
            open_level(state, first, last)
        if load(state, CACHE_READY) == READY and (resumed or not cached_is_shorter(memory, plan, state, last - 1)):
            return test_against_cache(memory, plan, state, last - 1, cache, last_level, out, emitting)
    if parts == 2:
        return intersect(memory, plan, state, first, last - 1, last_level, out, emitting)
    return -1, True
