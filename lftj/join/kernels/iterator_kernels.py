# SPDX-License-Identifier: Apache-2.0
"""Trie iterators over scan trees: open, seek, advance, and the leapfrog search of one level [LFTJ
3.1–3.3].
"""

from __future__ import annotations

from lftj.join.kernels.layout_kernels import (
    ARGUMENT_RECORD,
    ARGUMENT_TABLE,
    BINDINGS,
    LEVEL_RECORD,
    LEVEL_TABLE,
    LIMIT,
    PART_CHILD,
    PART_COLUMN,
    PART_HEIGHT,
    PART_RECORD,
    PART_ROOT,
    PART_STATE,
    PART_STATES,
    PART_TABLE,
    PART_VALUED,
    PARTS,
    POSITION,
    PROBE_FIRST,
    PROBE_HEIGHT,
    PROBE_LAST,
    PROBE_RECORD,
    PROBE_ROOT,
    PROBE_TABLE,
    RUN_END,
    START,
    STEPS,
    VALUED,
)
from lftj.join.kernels.window_kernels import last_value
from lftj.scantree.jit import compiled, inlined, load, store
from lftj.scantree.seek_kernels import END, leaf_at, seek_after, seek_lub, step, value_at
from lftj.types import NULL_CODE


@inlined
def level_record(plan, level):
    """Offset of a level's record in the plan."""
    return load(plan, LEVEL_TABLE) + level * LEVEL_RECORD


@inlined
def part_record(plan, part):
    """Offset of a part's record in the plan."""
    return load(plan, PART_TABLE) + part * PART_RECORD


@inlined
def part_state(state, part):
    """Offset of a part's state."""
    return load(state, PART_STATES) + part * PART_STATE


@compiled
def open_roots(memory, plan, state):
    """Give the parts that are the first column of their key order their range: the whole tree, or
    what is behind the rows with NULL, which is the least value.
    """
    for part in range(load(plan, PARTS)):
        record = part_record(plan, part)
        if load(plan, record + PART_COLUMN) == 0:
            store(
                state,
                part_state(state, part) + LIMIT,
                END if load(plan, record + PART_ROOT) != 0 else 0,
            )
    for part in range(load(plan, VALUED)):
        record = part_record(plan, part)
        at = part_state(state, part)
        start, limit = load(state, at + START), load(state, at + LIMIT)
        if load(plan, record + PART_VALUED) != 0 and start < limit:
            root, height = load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT)
            store(state, at + START, seek_after(memory, root, height, start, limit, 0, NULL_CODE))


@inlined
def open_level(state, first, last):
    """Put every part of a level at the start of its range; False when one is empty."""
    for part in range(first, last):
        at = part_state(state, part)
        start = load(state, at + START)
        if start >= load(state, at + LIMIT):
            return False
        store(state, at + POSITION, start)
    return True


@inlined
def seek_part(memory, plan, state, part, value):
    """Move a part to the least value >= `value`: False when there is none in its range."""
    record = part_record(plan, part)
    at = part_state(state, part)
    limit = load(state, at + LIMIT)
    position = seek_lub(
        memory,
        load(plan, record + PART_ROOT),
        load(plan, record + PART_HEIGHT),
        load(state, at + POSITION),
        limit,
        load(plan, record + PART_COLUMN),
        value,
    )
    store(state, at + POSITION, position)
    store(state, STEPS, load(state, STEPS) + 1)
    return position < limit


@inlined
def part_value(memory, plan, state, part):
    """The value a part stands at."""
    record = part_record(plan, part)
    position = load(state, part_state(state, part) + POSITION)
    return value_at(
        memory,
        load(plan, record + PART_ROOT),
        load(plan, record + PART_HEIGHT),
        position,
        load(plan, record + PART_COLUMN),
    )


@inlined
def leapfrog(memory, plan, state, first, last):
    """Find the least value that all parts have from their positions on: True and the value, or
    False and 0 [LFTJ 3.1].
    """
    value = part_value(memory, plan, state, first)
    agreeing = 1
    part = first
    while agreeing < last - first:
        part = first if part + 1 == last else part + 1
        if not seek_part(memory, plan, state, part, value):
            return False, 0
        found = part_value(memory, plan, state, part)
        if found == value:
            agreeing += 1
        else:
            value = found
            agreeing = 1
    return True, value


@compiled
def meet(memory, plan, state, first, last, value):
    """Seek `value` in every part of a level; True when all have it, and stand there."""
    for part in range(first, last):
        if (
            not seek_part(memory, plan, state, part, value)
            or part_value(memory, plan, state, part) != value
        ):
            return False
    return True


@inlined
def bind_runs(memory, plan, state, first, last, leader, value):
    """Note where the leader's run of `value` ends, and give each part's run to the part of its next
    column as its range.
    """
    for part in range(first, last):
        record = part_record(plan, part)
        child = load(plan, record + PART_CHILD)
        if child < 0 and part != leader:
            continue
        at = part_state(state, part)
        position = load(state, at + POSITION)
        root, height = load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT)
        if child < 0:
            # the last column of a key order: values are distinct
            store(
                state,
                at + RUN_END,
                step(memory, root, height, leaf_at(memory, root, height, position), position),
            )
            continue
        end = seek_after(
            memory,
            root,
            height,
            position,
            load(state, at + LIMIT),
            load(plan, record + PART_COLUMN),
            value,
        )
        store(state, at + RUN_END, end)
        below = part_state(state, child)
        store(state, below + START, position)
        store(state, below + LIMIT, end)


@inlined
def advance(state, part):
    """Move a part behind its present run; False at the end of its range."""
    at = part_state(state, part)
    position = load(state, at + RUN_END)
    store(state, at + POSITION, position)
    store(state, STEPS, load(state, STEPS) + 1)
    return position < load(state, at + LIMIT)


@inlined
def pass_over(memory, plan, state, part, value):
    """Let a part's present run end where values >= `value` begin, if that is later."""
    record = part_record(plan, part)
    at = part_state(state, part)
    position, limit = load(state, at + RUN_END), load(state, at + LIMIT)
    store(state, STEPS, load(state, STEPS) + 1)
    if position < limit:
        root, height = load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT)
        store(
            state,
            at + RUN_END,
            seek_lub(
                memory, root, height, position, limit, load(plan, record + PART_COLUMN), value
            ),
        )


@inlined
def part_end(memory, plan, state, part):
    """The last value of a part's range."""
    record = part_record(plan, part)
    limit = load(state, part_state(state, part) + LIMIT)
    return last_value(
        memory,
        load(plan, record + PART_ROOT),
        load(plan, record + PART_HEIGHT),
        load(plan, record + PART_COLUMN),
        limit,
    )


@compiled
def probe(memory, plan, state, number):
    """Test for a row of a negated atom that agrees with the bindings on its leading key columns."""
    record = load(plan, PROBE_TABLE) + number * PROBE_RECORD
    root = load(plan, record + PROBE_ROOT)
    height = load(plan, record + PROBE_HEIGHT)
    if root == 0:
        return False
    position = 0
    end = END
    first = load(plan, record + PROBE_FIRST)
    store(state, STEPS, load(state, STEPS) + 1)
    for column in range(load(plan, record + PROBE_LAST) - first):
        argument = load(plan, ARGUMENT_TABLE) + (first + column) * ARGUMENT_RECORD
        level = load(plan, argument)
        value = (
            load(plan, argument + 1) if level < 0 else load(state, load(state, BINDINGS) + level)
        )
        position = seek_lub(memory, root, height, position, end, column, value)
        if position >= end or value_at(memory, root, height, position, column) != value:
            return False
        end = seek_after(memory, root, height, position, end, column, value)
    return True
