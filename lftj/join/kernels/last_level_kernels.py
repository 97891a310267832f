"""The last level, where a triejoin spends its time: one part read out or counted, two intersected, or a bitmap tested.

All of it works inside page windows (`window_kernels`). Preconditions: the level has no filter and no computed value, and each part's column
is the last of its key order, so values inside a range are distinct. But a part that is only counted may have more columns: then its rows
are counted, for levels that are left out (`assemble`). A part that is read out may have more, too, which the levels behind read: they make
the *tail* of the plan with it, and whole rows come out.
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
    BINDINGS,
    CACHE_READY,
    CACHE_WORK,
    CAPACITY,
    LIMIT,
    OUTPUT_TABLE,
    OUTPUTS,
    PART_COLUMN,
    PART_HEIGHT,
    PART_ROOT,
    POSITION,
    ROWS,
    STEPS,
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
    PAGE_ROWS,
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
def write_window(memory, plan, state, tail, base, taken, out):
    """Write so many rows: from `base` on memory has the column that level `tail` reads, those of the levels behind it a page's rows apart.

    The buffer has 1 for their numbers of proofs already.
    """
    capacity, row = load(state, CAPACITY), load(state, ROWS)
    for i in range(load(plan, OUTPUTS)):
        level = load(plan, load(plan, OUTPUT_TABLE) + i)
        to = i * capacity + row
        if level < tail:
            value = load(state, load(state, BINDINGS) + level)
            for j in range(taken):
                store(out, to + j, value)
        else:
            column = base + (level - tail) * PAGE_ROWS
            for j in range(taken):
                store(out, to + j, load(memory, column + j))
    store(state, ROWS, row + taken)
    store(state, STEPS, load(state, STEPS) + taken)


@compiled
def read_part(memory, plan, state, part, tail, out):
    """Emit the rows of a part from its position on, for the levels from `tail` on; False when `out` is full first."""
    record = part_record(plan, part)
    at = part_state(state, part)
    root, height, column = load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT), load(plan, record + PART_COLUMN)
    limit = load(state, at + LIMIT)
    position = load(state, at + POSITION)
    while position < limit:
        leaf = leaf_at(memory, root, height, position)
        slot = position & SLOT_MASK
        end = window_end(memory, leaf, position, limit)
        taken = min(end - slot, load(state, CAPACITY) - load(state, ROWS))
        write_window(memory, plan, state, tail, leaf_column(leaf, column) + slot, taken, out)
        if slot + taken < end:
            store(state, at + POSITION, position + taken)
            return False
        position = next_leaf(memory, root, height, position) if end == load(memory, leaf + ENTRIES) else limit
    return True


@inlined
def finish_level(memory, plan, state, first, last, invariant, last_level, cache, out, emitting, resumed):
    """All of the last level, or of the tail, at once: (values found, finished). Found is −1 when it has to be searched value by value."""
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
