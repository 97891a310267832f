# SPDX-License-Identifier: Apache-2.0
"""The level where two parts meet before all that is left is read out: a merge join.

In p(x, y) :- a(x, z), b(z, y). that is z, below each x: one part ends there, the other goes on in
the tail. In p(x, y) :- a(z, x), b(z, y). both go on, and all pairs come out; in p(x, y) :- a(z, x),
b(z, w), c(w, y). those of what c goes on with and of what stands fixed below z. Most joins of
binary relations end like that. As an intersection does, a merge works inside page windows, gallops,
and seeks over pages in between. What does not lie inside windows, or is more than there is room
for, is bound as a search would do it and left to the levels below.
"""

from __future__ import annotations

from lftj.join.kernels.cross_kernels import write_pairs
from lftj.join.kernels.iterator_kernels import bind_runs, level_record, part_record, part_state
from lftj.join.kernels.last_level_kernels import write_window
from lftj.join.kernels.layout_kernels import (
    BINDINGS,
    BUDGET,
    CAPACITY,
    DONE,
    LEVEL_FIRST,
    LIMIT,
    OPEN,
    PART_CHILD,
    PART_COLUMN,
    PART_HEIGHT,
    PART_ROOT,
    PAUSED,
    POSITION,
    ROWS,
    RUN_END,
    START,
    STEPS,
)
from lftj.join.kernels.window_kernels import follow
from lftj.scantree.jit import compiled, inlined, load, store
from lftj.scantree.page_kernels import SLOT_BITS, SLOT_MASK, leaf_column
from lftj.scantree.seek_kernels import LARGEST, gallop, leaf_at, seek_lub, step, window_end

BELOW = -1
"""A value is bound, and the levels below it are to be searched."""

_NO_PART = -2  # nor the child of one, which is −1 where there is none


@inlined
def run_end(memory, base, slot, end, value, child):
    """The first slot behind `slot`, which has `value`, that has another; `end` if there is none
    before it. The last column has no runs.
    """
    if child < 0:
        return slot + 1
    return end if value == LARGEST else gallop(memory, base, slot + 1, end, value + 1)


@inlined
def fixed_window(memory, plan, state, part):
    """(first word, number of values) of a part's range, where no level that is merged changes it;
    no number when it is not in one leaf.
    """
    at, record = part_state(state, part), part_record(plan, part)
    start, limit = load(state, at + START), load(state, at + LIMIT)
    if start >= limit or (start >> SLOT_BITS) != (limit >> SLOT_BITS):
        return 0, -1
    leaf = leaf_at(memory, load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT), start)
    return leaf_column(leaf, load(plan, record + PART_COLUMN)) + (start & SLOT_MASK), limit - start


@compiled
def merge_join(memory, plan, state, level, phase, crossing, out):
    """Write the rows from where the parts of a level stand: DONE, PAUSED behind a binding, or
    BELOW.

    `crossing`: the last two levels follow and come out as pairs; otherwise the tail does.
    """
    left = load(plan, level_record(plan, level) + LEVEL_FIRST)
    right = left + 1
    left_record, right_record = part_record(plan, left), part_record(plan, right)
    left_at, right_at = part_state(state, left), part_state(state, right)
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
    left_child, right_child = (
        load(plan, left_record + PART_CHILD),
        load(plan, right_record + PART_CHILD),
    )
    left_limit, right_limit = load(state, left_at + LIMIT), load(state, right_at + LIMIT)
    begin = START if phase == OPEN else RUN_END
    p, q = load(state, left_at + begin), load(state, right_at + begin)
    inner = load(plan, level_record(plan, level + (2 if crossing else 1)) + LEVEL_FIRST)
    outer = load(plan, level_record(plan, level + 1) + LEVEL_FIRST) if crossing else _NO_PART
    inner_base, width = (
        fixed_window(memory, plan, state, inner)
        if inner not in (left_child, right_child)
        else (0, 0)
    )
    outer_base, many = (
        fixed_window(memory, plan, state, outer)
        if crossing and outer not in (left_child, right_child)
        else (0, 1)
    )
    binding = load(state, BINDINGS) + level
    left_over = load(state, BUDGET) - load(state, STEPS)
    steps = 0
    status = DONE
    while p < left_limit and q < right_limit and status == DONE:
        left_leaf, right_leaf = (
            leaf_at(memory, left_root, left_height, p),
            leaf_at(memory, right_root, right_height, q),
        )
        left_base, right_base = (
            leaf_column(left_leaf, left_column),
            leaf_column(right_leaf, right_column),
        )
        left_below, right_below = (
            leaf_column(left_leaf, left_column + 1),
            leaf_column(right_leaf, right_column + 1),
        )
        i, left_end = p & SLOT_MASK, window_end(memory, left_leaf, p, left_limit)
        j, right_end = q & SLOT_MASK, window_end(memory, right_leaf, q, right_limit)
        left_last, right_last = (
            load(memory, left_base + left_end - 1),
            load(memory, right_base + right_end - 1),
        )
        left_whole = left_child < 0 or (p >> SLOT_BITS) == (left_limit >> SLOT_BITS)
        right_whole = right_child < 0 or (q >> SLOT_BITS) == (right_limit >> SLOT_BITS)
        # −1 or 1 where the next value of the left or of the right part lies behind its window
        jump = 0
        while i < left_end and j < right_end:
            steps += 1
            u, w = load(memory, left_base + i), load(memory, right_base + j)
            store(state, binding, min(u, w))  # up to this value all is done
            if u < w:
                if left_last < w:
                    jump = -1
                    break
                i = gallop(memory, left_base, i + 1, left_end, w)
            elif w < u:
                if right_last < u:
                    jump = 1
                    break
                j = gallop(memory, right_base, j + 1, right_end, u)
            else:
                left_run = run_end(memory, left_base, i, left_end, u, left_child)
                right_run = run_end(memory, right_base, j, right_end, u, right_child)
                if inner == left_child:
                    inner_base, width = left_below + i, left_run - i
                elif inner == right_child:
                    inner_base, width = right_below + j, right_run - j
                if outer == left_child:
                    outer_base, many = left_below + i, left_run - i
                elif outer == right_child:
                    outer_base, many = right_below + j, right_run - j
                # a run that reaches the end of its window may go on behind it
                whole = (left_run < left_end or left_whole) and (
                    right_run < right_end or right_whole
                )
                if (
                    not whole
                    or min(many, width) < 0
                    or load(state, ROWS) + many * width > load(state, CAPACITY)
                ):
                    status = BELOW
                    break
                if crossing:
                    write_pairs(
                        memory, plan, state, level + 1, outer_base, many, inner_base, width, out
                    )
                else:
                    write_window(memory, plan, state, level + 1, inner_base, width, out)
                i = left_run
                j = right_run
            if steps >= left_over:
                break
        if status == BELOW:
            p, q = p - (p & SLOT_MASK) + i, q - (q & SLOT_MASK) + j
            store(state, left_at + POSITION, p)
            store(state, right_at + POSITION, q)
            bind_runs(memory, plan, state, left, right + 1, left, load(state, binding))
            if right_child < 0:
                store(
                    state, right_at + RUN_END, step(memory, right_root, right_height, right_leaf, q)
                )
            break
        at_p, at_q = p, q
        p = follow(memory, left_root, left_height, left_leaf, p, i, left_end, left_limit)
        q = follow(memory, right_root, right_height, right_leaf, q, j, right_end, right_limit)
        if jump < 0:
            p = seek_lub(
                memory,
                left_root,
                left_height,
                at_p,
                left_limit,
                left_column,
                load(memory, right_base + j),
            )
        elif jump > 0:
            q = seek_lub(
                memory,
                right_root,
                right_height,
                at_q,
                right_limit,
                right_column,
                load(memory, left_base + i),
            )
        if steps >= left_over:
            status = PAUSED
    store(state, STEPS, load(state, STEPS) + steps)
    if status == PAUSED:
        store(state, left_at + RUN_END, p)
        store(state, right_at + RUN_END, q)
        return PAUSED if p < left_limit and q < right_limit else DONE
    return status
