# SPDX-License-Identifier: Apache-2.0
"""The last two levels at once, where each reads out one part and neither depends on the other: all
pairs of their values.

In p(x, y) :- a(z, x), b(z, y). below each z; that is where joins that make many rows of few spend
their time. The values of the last level are read once and then copied within the output.
"""

from __future__ import annotations

from lftj.join.kernels.iterator_kernels import level_record, part_record, part_state
from lftj.join.kernels.layout_kernels import (
    BINDINGS,
    CAPACITY,
    DONE,
    FULL,
    LEVEL_FIRST,
    LIMIT,
    OPEN,
    OUTPUT_TABLE,
    OUTPUTS,
    PART_COLUMN,
    PART_HEIGHT,
    PART_ROOT,
    POSITION,
    RESUME,
    ROWS,
    RUN_END,
    START,
    STEPS,
)
from lftj.join.kernels.window_kernels import rows_between
from lftj.scantree.jit import compiled, inlined, load, store
from lftj.scantree.page_kernels import ENTRIES, SLOT_MASK, leaf_column
from lftj.scantree.seek_kernels import leaf_at, next_leaf, step, window_end

ONE_BY_ONE = -1
"""The last level alone has more values than there is room for: the value before it is bound, and
the last level is to be read out.
"""


@inlined
def copy_range(memory, plan, part, first, limit, out, to):
    """The values of a part in a range, in `out` from `to` on."""
    record = part_record(plan, part)
    root, height, column = (
        load(plan, record + PART_ROOT),
        load(plan, record + PART_HEIGHT),
        load(plan, record + PART_COLUMN),
    )
    position = first
    while position < limit:
        leaf = leaf_at(memory, root, height, position)
        slot = position & SLOT_MASK
        end = window_end(memory, leaf, position, limit)
        base = leaf_column(leaf, column) + slot
        for i in range(end - slot):
            store(out, to + i, load(memory, base + i))
        to += end - slot
        position = (
            next_leaf(memory, root, height, position)
            if end == load(memory, leaf + ENTRIES)
            else limit
        )


@compiled
def write_pairs(memory, plan, state, level, base, many, inner, width, out):
    """Write the pairs of `many` values of a level, the words of memory from `base` on, and `width`
    values of the level after it: the words from `inner` on, or where that is negative those in the
    range of its part.
    """
    capacity = load(state, CAPACITY)
    for i in range(load(plan, OUTPUTS)):
        column = load(plan, load(plan, OUTPUT_TABLE) + i)
        to = i * capacity + load(state, ROWS)
        if column < level:
            value = load(state, load(state, BINDINGS) + column)
            for j in range(many * width):
                store(out, to + j, value)
        elif column == level:
            for first in range(many):
                value = load(memory, base + first)
                for j in range(width):
                    store(out, to + first * width + j, value)
        else:
            if inner < 0:
                last = load(plan, level_record(plan, column) + LEVEL_FIRST)
                at = part_state(state, last)
                copy_range(
                    memory, plan, last, load(state, at + START), load(state, at + LIMIT), out, to
                )
            else:
                for j in range(width):
                    store(out, to + j, load(memory, inner + j))
            for block in range(1, many):
                for j in range(width):
                    store(out, to + block * width + j, load(out, to + j))
    store(state, ROWS, load(state, ROWS) + many * width)
    store(state, STEPS, load(state, STEPS) + many * (width + 1))


@inlined
def bind_one(memory, plan, state, level, part, leaf, position):
    """Bind the value at `position` as a search would have found it."""
    record = part_record(plan, part)
    at = part_state(state, part)
    value = load(
        memory, leaf_column(leaf, load(plan, record + PART_COLUMN)) + (position & SLOT_MASK)
    )
    store(state, load(state, BINDINGS) + level, value)
    store(state, STEPS, load(state, STEPS) + 1)
    store(
        state,
        at + RUN_END,
        step(
            memory, load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT), leaf, position
        ),
    )


@compiled
def cross(memory, plan, state, level, phase, out):
    """Write the pairs from where `phase` says: DONE, FULL when there is no room for the next value,
    or ONE_BY_ONE.
    """
    part = load(plan, level_record(plan, level) + LEVEL_FIRST)
    at, last_at = part_state(state, part), part_state(state, part + 1)
    record, last_record = part_record(plan, part), part_record(plan, part + 1)
    position = load(
        state, at + (START if phase == OPEN else POSITION if phase == RESUME else RUN_END)
    )
    limit = load(state, at + LIMIT)
    root, height = load(plan, last_record + PART_ROOT), load(plan, last_record + PART_HEIGHT)
    width = rows_between(
        memory, root, height, load(state, last_at + START), load(state, last_at + LIMIT)
    )
    root, height = load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT)
    while width > 0 and position < limit:
        leaf = leaf_at(memory, root, height, position)
        slot = position & SLOT_MASK
        end = window_end(memory, leaf, position, limit)
        many = min(end - slot, (load(state, CAPACITY) - load(state, ROWS)) // width)
        if many > 0:
            write_pairs(
                memory,
                plan,
                state,
                level,
                leaf_column(leaf, load(plan, record + PART_COLUMN)) + slot,
                many,
                -1,
                width,
                out,
            )
        if slot + many < end:
            store(state, at + POSITION, position + many)
            if load(state, ROWS) > 0:
                return FULL
            bind_one(memory, plan, state, level, part, leaf, position)
            return ONE_BY_ONE
        position = (
            next_leaf(memory, root, height, position)
            if end == load(memory, leaf + ENTRIES)
            else limit
        )
    return DONE
