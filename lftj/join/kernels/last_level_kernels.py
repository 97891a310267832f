# SPDX-License-Identifier: Apache-2.0
"""The last level, where a triejoin spends its time: one part read out or counted, two intersected,
or a bitmap tested.

All of it works inside page windows (`window_kernels`). Preconditions: the level has no filter and
no computed value, and each part's column is the last of its key order, so values inside a range are
distinct. But a part that is only counted may have more columns: then its rows are counted, for
levels that are left out (`assemble`). A part that is read out may have more, too, which the levels
behind read: they make the *tail* of the plan with it, and whole rows come out.
"""

from __future__ import annotations

from lftj.join.kernels.bitmap_kernels import (
    READY,
    cached_is_shorter,
    fill_cache,
    test_against_cache,
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
from lftj.join.kernels.output_kernels import (
    complete_rows,
    last_column,
)
from lftj.join.kernels.window_kernels import (
    follow,
    rows_between,
)
from lftj.scantree.jit import (
    compiled,
    inlined,
    load,
    store,
)
from lftj.scantree.page_kernels import (
    ENTRIES,
    PAGE_ROWS,
    SLOT_MASK,
    leaf_column,
)
from lftj.scantree.seek_kernels import (
    gallop,
    leaf_at,
    next_leaf,
    seek_lub,
    window_end,
)

# The values that two parts share, at the last level: a merge inside page windows that gallops, with
# seeks over pages in between.


@compiled
def intersect(memory, plan, state, left, right, last_level, out, emitting):
    """Values that two parts share: (number found, finished). Emits them when asked; not finished
    when `out` is full first.
    """
    left_record, right_record = part_record(plan, left), part_record(plan, right)
    left_root, left_height = (
        load(plan, left_record + PART_ROOT),
        load(plan, left_record + PART_HEIGHT),
    )
    right_root, right_height = (
        load(plan, right_record + PART_ROOT),
        load(plan, right_record + PART_HEIGHT),
    )
    left_column, right_column = (
        load(plan, left_record + PART_COLUMN),
        load(plan, right_record + PART_COLUMN),
    )
    left_at, right_at = part_state(state, left), part_state(state, right)
    left_limit, right_limit = load(state, left_at + LIMIT), load(state, right_at + LIMIT)
    p, q = load(state, left_at + POSITION), load(state, right_at + POSITION)
    found = 0
    steps = 0
    finished = True
    to = last_column(plan, state, last_level)
    room = load(state, CAPACITY) - load(state, ROWS)
    while finished and p < left_limit and q < right_limit:
        left_leaf, right_leaf = (
            leaf_at(memory, left_root, left_height, p),
            leaf_at(memory, right_root, right_height, q),
        )
        left_base, right_base = (
            leaf_column(left_leaf, left_column),
            leaf_column(right_leaf, right_column),
        )
        i, left_end = p & SLOT_MASK, window_end(memory, left_leaf, p, left_limit)
        j, right_end = q & SLOT_MASK, window_end(memory, right_leaf, q, right_limit)
        # a whole window before the other one: leave it by a seek over pages
        if load(memory, left_base + left_end - 1) < load(memory, right_base + j):
            p = seek_lub(
                memory,
                left_root,
                left_height,
                p,
                left_limit,
                left_column,
                load(memory, right_base + j),
            )
            steps += 1
            continue
        if load(memory, right_base + right_end - 1) < load(memory, left_base + i):
            q = seek_lub(
                memory,
                right_root,
                right_height,
                q,
                right_limit,
                right_column,
                load(memory, left_base + i),
            )
            steps += 1
            continue
        started = i + j
        u, w = load(memory, left_base + i), load(memory, right_base + j)
        while True:
            if u == w:
                if emitting:
                    if found == room:
                        finished = False
                        break
                    store(out, to + found, u)
                found += 1
                i += 1
                j += 1
                if i >= left_end or j >= right_end:
                    break
                u, w = load(memory, left_base + i), load(memory, right_base + j)
            elif u < w:
                i = gallop(memory, left_base, i + 1, left_end, w)
                if i >= left_end:
                    break
                u = load(memory, left_base + i)
            else:
                j = gallop(memory, right_base, j + 1, right_end, u)
                if j >= right_end:
                    break
                w = load(memory, right_base + j)
        steps += i + j - started
        p = follow(memory, left_root, left_height, left_leaf, p, i, left_end, left_limit)
        q = follow(memory, right_root, right_height, right_leaf, q, j, right_end, right_limit)
    if emitting:
        complete_rows(plan, state, out, found, last_level)
    store(state, left_at + POSITION, p)
    store(state, right_at + POSITION, q)
    store(state, STEPS, load(state, STEPS) + steps)
    store(state, CACHE_WORK, load(state, CACHE_WORK) + steps)
    return found, finished


_PATIENCE = 64  # steps at the last level before a bitmap is thought of


@compiled
def count_part(memory, plan, state, part):
    """Number of rows in a part's range. O(log n)."""
    record = part_record(plan, part)
    at = part_state(state, part)
    store(state, STEPS, load(state, STEPS) + 1)
    root = load(plan, record + PART_ROOT)
    return rows_between(
        memory,
        root,
        load(plan, record + PART_HEIGHT),
        load(state, at + POSITION),
        load(state, at + LIMIT),
    )


@compiled
def write_window(memory, plan, state, tail, base, taken, out):
    """Write so many rows: from `base` on memory has the column that level `tail` reads, those of
    the levels behind it a page's rows apart.

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
    """Emit the rows of a part from its position on, for the levels from `tail` on; False when `out`
    is full first.
    """
    record = part_record(plan, part)
    at = part_state(state, part)
    root, height, column = (
        load(plan, record + PART_ROOT),
        load(plan, record + PART_HEIGHT),
        load(plan, record + PART_COLUMN),
    )
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
        position = (
            next_leaf(memory, root, height, position)
            if end == load(memory, leaf + ENTRIES)
            else limit
        )
    return True


@inlined
def finish_level(
    memory, plan, state, first, last, invariant, last_level, cache, out, emitting, resumed
):
    """All of the last level, or of the tail, at once: (values found, finished). Found is −1 when it
    has to be searched value by value.
    """
    parts = last - first
    if parts == 1:
        if emitting:
            return 0, read_part(memory, plan, state, first, last_level, out)
        return count_part(memory, plan, state, first), True
    if invariant == parts - 1 and invariant <= 2:
        if not resumed and load(state, CACHE_READY) == 0 and load(state, CACHE_WORK) >= _PATIENCE:
            fill_cache(memory, plan, state, first, invariant, cache)
            open_level(state, first, last)
        if load(state, CACHE_READY) == READY and (
            resumed or not cached_is_shorter(memory, plan, state, last - 1)
        ):
            return test_against_cache(
                memory, plan, state, last - 1, cache, last_level, out, emitting
            )
    if parts == 2:
        return intersect(memory, plan, state, first, last - 1, last_level, out, emitting)
    return -1, True
