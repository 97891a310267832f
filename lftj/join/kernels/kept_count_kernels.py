# SPDX-License-Identifier: Apache-2.0
"""Counts that are kept, of the proofs from a level on [Kalinsky 2017].

In n(count()) :- e(a, b), e(b, c), e(c, d), e(a, d). the number of d depends on a and c alone, not
on the b in between. The levels before that it depends on are its *key*. The first search below a
key leaves its count in a table, and later ones add it up. Where the level just before goes through
the values of one part, and all else there depends on the key, its values are passed over in the
page windows while their counts are known; those with a known count of 0 too.

    kept count = 1 + level, the number of proofs, the key

A count lies in the slot that its hash says, and replaces what was there, so the table has a bounded
size: what is no longer there is searched again. It begins with few slots and has more once that
many counts were kept, so that a small run clears and touches little memory. It holds for one
assembly, and for all parts of a division: these are ranges of the first two levels, on which no
count depends but by the bindings of its key.
"""

from __future__ import annotations

from lftj.join.kernels.bitmap_kernels import CACHE_LIST, CACHE_WORDS, renew_cache
from lftj.join.kernels.iterator_kernels import (
    bind_runs,
    level_record,
    meet,
    open_level,
    part_record,
    part_state,
)
from lftj.join.kernels.layout_kernels import (
    BINDINGS,
    BUDGET,
    COUNT_SLOTS,
    COUNT_WIDTH,
    COUNTS_BEGUN,
    COUNTS_KEPT,
    DOUBT,
    FOUND,
    KEY_TABLE,
    LEVEL_FIRST,
    LEVEL_KEY_FIRST,
    LEVEL_KEY_LAST,
    LEVEL_LAST,
    LEVEL_PASSING,
    LEVELS,
    LIMIT,
    MISSED,
    OPEN,
    PART_COLUMN,
    PART_HEIGHT,
    PART_ROOT,
    PAUSED,
    POSITION,
    PROOFS,
    RUN_END,
    START,
    STEPS,
)
from lftj.join.kernels.window_kernels import follow
from lftj.scantree.hash_kernels import mix
from lftj.scantree.jit import compiled, inlined, load, store
from lftj.scantree.page_kernels import SLOT_MASK, leaf_column
from lftj.scantree.seek_kernels import leaf_at, window_end

COUNTS = CACHE_WORDS + CACHE_LIST
"""Place of the kept counts, behind the bitmap."""
COUNT_WORDS = 1 << 17
_FIRST_SLOTS = 64
_BLOCK_BITS = 6
_BLOCK = 1 << _BLOCK_BITS
_TAG, _COUNT, _KEY = 0, 1, 2
HEAD = _KEY
"""Words of a kept count before its key."""


@compiled
def have_slots(plan, state, cache, slots):
    """Have so many empty slots, if there is room for them."""
    width = load(plan, COUNT_WIDTH)
    store(state, COUNTS_KEPT, 0)
    if slots * width > COUNT_WORDS:
        return
    store(state, COUNT_SLOTS, slots)
    for slot in range(slots):
        store(cache, COUNTS + slot * width + _TAG, 0)


@inlined
def key_value(plan, state, place):
    """The binding of the level at this place of the key table."""
    return load(state, load(state, BINDINGS) + load(plan, load(plan, KEY_TABLE) + place))


@inlined
def slot_of(plan, state, depth):
    """Slot of the count of a level, by the bindings of its key. Values of the last level that
    follow one another lie side by side.
    """
    level = level_record(plan, depth)
    hashed, value = depth, 0
    for i in range(load(plan, level + LEVEL_KEY_FIRST), load(plan, level + LEVEL_KEY_LAST)):
        hashed = mix(hashed, value)
        value = key_value(plan, state, i)
    slot = mix(hashed, value >> _BLOCK_BITS) & -_BLOCK | value & (_BLOCK - 1)
    return COUNTS + (slot & (load(state, COUNT_SLOTS) - 1)) * load(plan, COUNT_WIDTH)


@inlined
def has_key(plan, state, depth, cache, slot):
    """Test for a slot with the count for the present bindings."""
    if load(cache, slot + _TAG) != depth + 1:
        return False
    level = level_record(plan, depth)
    first = load(plan, level + LEVEL_KEY_FIRST)
    for i in range(load(plan, level + LEVEL_KEY_LAST) - first):
        if load(cache, slot + _KEY + i) != key_value(plan, state, first + i):
            return False
    return True


@inlined
def add_kept(plan, state, depth, cache):
    """Add the kept count of the proofs from a level on; False, and the count begins, where there is
    none.
    """
    if load(state, COUNT_SLOTS) != 0:
        slot = slot_of(plan, state, depth)
        if has_key(plan, state, depth, cache, slot):
            store(state, PROOFS, load(state, PROOFS) + load(cache, slot + _COUNT))
            return True
    store(state, load(state, COUNTS_BEGUN) + depth, load(state, PROOFS) + 1)
    return False


@compiled
def is_known(plan, state, depth, cache):
    """As `add_kept`, for a level that is about to be opened, if its counts are kept."""
    if (
        load(plan, level_record(plan, depth) + LEVEL_KEY_FIRST) < 0
        or load(state, DOUBT) != 0
        or load(state, load(state, COUNTS_BEGUN) + depth) != 0
    ):
        return False
    store(state, STEPS, load(state, STEPS) + 1)
    return add_kept(plan, state, depth, cache)


@compiled
def keep_count(plan, state, depth, cache):
    """Keep the count of a level that was searched to its end, if it was begun there."""
    begun = load(state, COUNTS_BEGUN) + depth
    before = load(state, begun) - 1
    if before < 0:
        return
    store(state, begun, 0)
    slots = load(state, COUNT_SLOTS)
    if slots == 0 or load(state, COUNTS_KEPT) >= slots:
        have_slots(plan, state, cache, max(_FIRST_SLOTS, 2 * slots))
    store(state, COUNTS_KEPT, load(state, COUNTS_KEPT) + 1)
    slot = slot_of(plan, state, depth)
    store(cache, slot + _TAG, depth + 1)
    store(cache, slot + _COUNT, load(state, PROOFS) - before)
    level = level_record(plan, depth)
    first = load(plan, level + LEVEL_KEY_FIRST)
    for i in range(load(plan, level + LEVEL_KEY_LAST) - first):
        store(cache, slot + _KEY + i, key_value(plan, state, first + i))


@compiled
def pass_known(memory, plan, state, depth, phase, cache):
    """Pass over the values of a level whose counts are kept: FOUND at one that has none, which is
    bound; MISSED at the end; PAUSED behind a binding when the step budget is used up.
    """
    level = level_record(plan, depth)
    first, last = load(plan, level + LEVEL_FIRST), load(plan, level + LEVEL_LAST)
    part = load(plan, level + LEVEL_PASSING)
    at, record = part_state(state, part), part_record(plan, part)
    if phase == OPEN:
        if depth == load(plan, LEVELS) - 2:
            renew_cache(plan, state)
        if not open_level(state, first, last):
            return MISSED
    position = load(state, at + (START if phase == OPEN else RUN_END))
    limit = load(state, at + LIMIT)
    root, height, column = (
        load(plan, record + PART_ROOT),
        load(plan, record + PART_HEIGHT),
        load(plan, record + PART_COLUMN),
    )
    binding = load(state, BINDINGS) + depth
    left_over = load(state, BUDGET) - load(state, STEPS)
    steps = 0
    while position < limit:
        leaf = leaf_at(memory, root, height, position)
        slot, end = position & SLOT_MASK, window_end(memory, leaf, position, limit)
        base = leaf_column(leaf, column)
        while slot < end and steps < left_over:
            steps += 1
            value = load(memory, base + slot)
            store(state, binding, value)
            if not add_kept(plan, state, depth + 1, cache):
                if meet(memory, plan, state, first, part, value) and meet(
                    memory, plan, state, part + 1, last, value
                ):
                    position += slot - (position & SLOT_MASK)
                    store(state, at + POSITION, position)
                    bind_runs(memory, plan, state, first, last, part, value)
                    store(state, STEPS, load(state, STEPS) + steps)
                    return FOUND
                keep_count(plan, state, depth + 1, cache)
            slot += 1
        position = follow(memory, root, height, leaf, position, slot, end, limit)
        if steps >= left_over:
            break
    store(state, STEPS, load(state, STEPS) + steps)
    store(state, at + RUN_END, position)
    return PAUSED if position < limit else MISSED
