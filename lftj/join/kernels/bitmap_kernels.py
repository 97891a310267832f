# SPDX-License-Identifier: Apache-2.0
"""A bitmap of what does not change at the last level.

In T(x,y,z) :- E(x,y), E(y,z), E(x,z) the range of E(x,z) is one and the same for all y. Once as
much work went into intersecting with it as it has rows, its values go into a bitmap, and each
further E(y,z) is tested against it. Building costs no more than was already spent, so the bound of
the leapfrog join stands, up to a factor of two.

    cache = CACHE_WORDS words of bits, then the list of the bits that are set, for clearing, then
        kept counts (`kept_count_kernels`)

A bitmap is clear before and after a run.
"""

from __future__ import annotations

from lftj.join.kernels.iterator_kernels import (
    level_record,
    part_record,
    part_state,
)
from lftj.join.kernels.layout_kernels import (
    CACHE_HIGH,
    CACHE_LOW,
    CACHE_RANGES,
    CACHE_READY,
    CACHE_ROWS,
    CACHE_WORK,
    CAPACITY,
    LEVEL_FIRST,
    LEVEL_INVARIANT,
    LEVELS,
    LIMIT,
    PART_COLUMN,
    PART_HEIGHT,
    PART_ROOT,
    POSITION,
    ROWS,
    START,
    STEPS,
)
from lftj.join.kernels.output_kernels import (
    complete_rows,
    last_column,
)
from lftj.join.kernels.window_kernels import (
    follow,
    last_value,
    rows_between,
)
from lftj.scantree.jit import (
    compiled,
    load,
    store,
)
from lftj.scantree.page_kernels import (
    SLOT_BITS,
    SLOT_MASK,
    leaf_column,
)
from lftj.scantree.seek_kernels import (
    END,
    gallop,
    leaf_at,
    seek_lub,
    value_at,
    window_end,
)

CACHE_BITS = 1 << 24  # the widest range of values a bitmap may span
CACHE_WORDS = CACHE_BITS >> 6
CACHE_LIST = 1 << 20  # the most values it may hold
READY = 1
REFUSED = 2
_WORTHWHILE = 16  # a part this many times longer than the cached one is galloped through instead


@compiled
def mark(cache, state, value):
    """Set the bit of a value and remember it for clearing."""
    bit = value - load(state, CACHE_LOW)
    rows = load(state, CACHE_ROWS)
    store(cache, bit >> 6, load(cache, bit >> 6) | (1 << (bit & 63)))
    store(cache, CACHE_WORDS + rows, bit)
    store(state, CACHE_ROWS, rows + 1)


@compiled
def renew_cache(plan, state):
    """Forget the bitmap, and the work that was done without, unless what it holds has stayed."""
    last = level_record(plan, load(plan, LEVELS) - 1)
    first, stays = load(plan, last + LEVEL_FIRST), True
    for number in range(min(2, load(plan, last + LEVEL_INVARIANT))):
        at, known = part_state(state, first + number), CACHE_RANGES + 2 * number
        start, limit = load(state, at + START), load(state, at + LIMIT)
        stays = stays and start == load(state, known) and limit == load(state, known + 1)
        store(state, known, start)
        store(state, known + 1, limit)
    if not stays:
        store(state, CACHE_READY, 0)
        store(state, CACHE_WORK, 0)


@compiled
def clear_cache(cache, state):
    """Unset every bit."""
    for i in range(load(state, CACHE_ROWS)):
        store(cache, load(cache, CACHE_WORDS + i) >> 6, 0)
    store(state, CACHE_ROWS, 0)


@compiled
def fill_cache(memory, plan, state, first, invariant, cache):
    """Put what the invariant parts (one or two) share into the bitmap; sets CACHE_READY, unless it
    does not pay yet.
    """
    clear_cache(cache, state)
    record = part_record(plan, first)
    at = part_state(state, first)
    root, height, column = (
        load(plan, record + PART_ROOT),
        load(plan, record + PART_HEIGHT),
        load(plan, record + PART_COLUMN),
    )
    position, limit = load(state, at + START), load(state, at + LIMIT)
    rows = rows_between(memory, root, height, position, limit)
    if load(state, CACHE_WORK) < rows:
        return
    low = value_at(memory, root, height, position, column)
    high = last_value(memory, root, height, column, limit)
    store(state, CACHE_READY, REFUSED)
    # halves, because the distance of two words may be more than a word holds
    if rows > CACHE_LIST or (high >> 1) - (low >> 1) >= CACHE_BITS >> 1:
        return
    store(state, CACHE_LOW, low)
    store(state, CACHE_HIGH, high)
    store(state, CACHE_READY, READY)
    while position < limit:
        leaf = leaf_at(memory, root, height, position)
        base = leaf_column(leaf, column)
        end = window_end(memory, leaf, position, limit)
        for slot in range(position & SLOT_MASK, end):
            value = load(memory, base + slot)
            if invariant == 1 or has_value(memory, plan, state, first + 1, value):
                mark(cache, state, value)
        position = follow(memory, root, height, leaf, position, end, end, limit)
    store(state, STEPS, load(state, STEPS) + rows)


@compiled
def has_value(memory, plan, state, part, value):
    """Test for `value` in a part at or after its position, asked in ascending order; move the part
    there.
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
    if position >= limit:
        return False
    position = seek_lub(memory, root, height, position, limit, column, value)
    store(state, at + POSITION, position)
    return position < limit and value_at(memory, root, height, position, column) == value


@compiled
def test_against_cache(memory, plan, state, part, cache, last_level, out, emitting):
    """As `intersect`, of a part with the bitmap."""
    record = part_record(plan, part)
    at = part_state(state, part)
    root, height, column = (
        load(plan, record + PART_ROOT),
        load(plan, record + PART_HEIGHT),
        load(plan, record + PART_COLUMN),
    )
    low, high = load(state, CACHE_LOW), load(state, CACHE_HIGH)
    position, limit = load(state, at + POSITION), load(state, at + LIMIT)
    found = 0
    steps = 1
    finished = True
    to = last_column(plan, state, last_level)
    room = max(0, load(state, CAPACITY) - load(state, ROWS) - 1)
    if value_at(memory, root, height, position, column) < low:
        position = seek_lub(memory, root, height, position, limit, column, low)
    while position < limit:
        leaf = leaf_at(memory, root, height, position)
        base = leaf_column(leaf, column)
        slot = position & SLOT_MASK
        end = window_end(memory, leaf, position, limit)
        if load(memory, base + end - 1) > high:
            end = gallop(memory, base, slot, end, high + 1)
            limit = position - slot + end
        steps += end - slot
        if emitting:
            if found + end - slot > room:
                # taken as a whole or not at all: a window that may not fit is cut to what surely
                # does
                end = slot + room - found
                limit = position - slot + end
                finished = False
            for k in range(slot, end):
                value = load(memory, base + k)
                bit = value - low
                store(out, to + found, value)
                found += (load(cache, bit >> 6) >> (bit & 63)) & 1
        else:
            for k in range(slot, end):
                bit = load(memory, base + k) - low
                found += (load(cache, bit >> 6) >> (bit & 63)) & 1
        position = follow(memory, root, height, leaf, position, end, end, limit)
    if emitting:
        complete_rows(plan, state, out, found, last_level)
    store(state, at + POSITION, limit)
    store(state, STEPS, load(state, STEPS) + steps)
    return found, finished


@compiled
def cached_is_shorter(memory, plan, state, part):
    """Test for cached values so few that galloping with them beats testing the whole of `part`."""
    record = part_record(plan, part)
    at = part_state(state, part)
    position, limit = load(state, at + POSITION), load(state, at + LIMIT)
    leaves = (limit >> SLOT_BITS) - (position >> SLOT_BITS) if limit != END else 1
    if leaves == 0 or leaves * 256 <= _WORTHWHILE * load(state, CACHE_ROWS):
        return False
    rows = rows_between(
        memory, load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT), position, limit
    )
    return rows > _WORTHWHILE * load(state, CACHE_ROWS)
