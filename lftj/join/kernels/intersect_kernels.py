"""The values that two parts share, at the last level: a merge inside page windows that gallops, with seeks over pages in between."""

from __future__ import annotations

from lftj.join.kernels.iterator_kernels import (
    part_record,
    part_state,
)
from lftj.join.kernels.layout_kernels import (
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
    follow,
)
from scantree.jit import (
    compiled,
    load,
    store,
)
from scantree.page_kernels import (
    SLOT_MASK,
    leaf_column,
)
from scantree.seek_kernels import (
    gallop,
    leaf_at,
    seek_lub,
    window_end,
)


@compiled
def intersect(memory, plan, state, left, right, last_level, out, emitting):
    """Values that two parts share: (number found, finished). Emits them when asked; not finished when `out` is full first."""
    left_record, right_record = part_record(plan, left), part_record(plan, right)
    left_root, left_height = load(plan, left_record + PART_ROOT), load(plan, left_record + PART_HEIGHT)
    right_root, right_height = load(plan, right_record + PART_ROOT), load(plan, right_record + PART_HEIGHT)
    left_column, right_column = load(plan, left_record + PART_COLUMN), load(plan, right_record + PART_COLUMN)
    left_at, right_at = part_state(state, left), part_state(state, right)
    left_limit, right_limit = load(state, left_at + LIMIT), load(state, right_at + LIMIT)
    p, q = load(state, left_at + POSITION), load(state, right_at + POSITION)
    found = 0
    steps = 0
    finished = True
    to = last_column(plan, state, last_level)
    room = load(state, CAPACITY) - load(state, ROWS)
    while finished and p < left_limit and q < right_limit:
        left_leaf, right_leaf = leaf_at(memory, left_root, left_height, p), leaf_at(memory, right_root, right_height, q)
        left_base, right_base = leaf_column(left_leaf, left_column), leaf_column(right_leaf, right_column)
        i, left_end = p & SLOT_MASK, window_end(memory, left_leaf, p, left_limit)
        j, right_end = q & SLOT_MASK, window_end(memory, right_leaf, q, right_limit)
        # a whole window before the other one: leave it by a seek over pages
        if load(memory, left_base + left_end - 1) < load(memory, right_base + j):
            p = seek_lub(memory, left_root, left_height, p, left_limit, left_column, load(memory, right_base + j))
            steps += 1
            continue
        if load(memory, right_base + right_end - 1) < load(memory, left_base + i):
            q = seek_lub(memory, right_root, right_height, q, right_limit, right_column, load(memory, left_base + i))
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
