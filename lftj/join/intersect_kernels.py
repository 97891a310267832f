"""The last level, where a triejoin spends its time: one part read out, two intersected, or a bitmap tested.

All of it works inside page windows: a run of slots of one leaf. Preconditions: the level has no filter and no computed value, and each part's
column is the last of its key order, so values inside a range are distinct.
"""

from __future__ import annotations

from lftj.join.iterator_kernels import open_level, part_record, part_state
from lftj.join.layout_kernels import (
    BINDINGS,
    CACHE_HIGH,
    CACHE_LOW,
    CACHE_READY,
    CACHE_ROWS,
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
    START,
    STEPS,
)
from scantree.jit import compiled, inlined, load, store
from scantree.page_kernels import ENTRIES, SLOT_BITS, SLOT_MASK, leaf_column
from scantree.read_kernels import at_rank
from scantree.seek_kernels import END, gallop, leaf_at, next_leaf, rank, seek_lub, value_at, window_end

CACHE_BITS = 1 << 24  # the widest range of values a bitmap may span
CACHE_WORDS = CACHE_BITS >> 6
CACHE_LIST = 1 << 20  # the most values it may hold
READY = 1
REFUSED = 2
_PATIENCE = 64  # steps at the last level before a bitmap is thought of
_WORTHWHILE = 16  # a part this many times longer than the cached one is galloped through instead


@compiled
def write_prefix(plan, state, out, row, last_level):
    """Write the bindings of the output levels, but for the last level, to row `row` of `out`; which column the last level goes to, or −1."""
    place = -1
    capacity = load(state, CAPACITY)
    for i in range(load(plan, OUTPUTS)):
        level = load(plan, load(plan, OUTPUT_TABLE) + i)
        if level == last_level:
            place = i
        else:
            store(out, i * capacity + row, load(state, load(state, BINDINGS) + level))
    return place


@inlined
def last_column(plan, state, last_level):
    """First word, for the next output row, of the output column that holds the last level. Only levels before EMIT_LEVEL come out, so there is one."""
    for i in range(load(plan, OUTPUTS)):
        if load(plan, load(plan, OUTPUT_TABLE) + i) == last_level:
            return i * load(state, CAPACITY) + load(state, ROWS)
    return 0


@compiled
def complete_rows(plan, state, out, taken, last_level):
    """Give `taken` new rows, whose last level is written, their other columns. Their number of proofs is 1, which is in the buffer already."""
    row = load(state, ROWS)
    capacity = load(state, CAPACITY)
    for i in range(load(plan, OUTPUTS)):
        level = load(plan, load(plan, OUTPUT_TABLE) + i)
        if level != last_level:
            to = i * capacity + row
            value = load(state, load(state, BINDINGS) + level)
            for j in range(taken):
                store(out, to + j, value)
    store(state, ROWS, row + taken)


@inlined
def rows_between(memory, root, height, position, limit):
    """Number of rows in [position, limit)."""
    if position >= limit:
        return 0
    if (position >> SLOT_BITS) == (limit >> SLOT_BITS):
        return limit - position
    return rank(memory, root, height, limit) - rank(memory, root, height, position)


@compiled
def count_part(memory, plan, state, part):
    """Number of values in a part's range. O(log n)."""
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
def follow(memory, root, height, leaf, position, slot, end, limit):
    """The position at `slot` of the window of `position`, normalised when the window (which stops at `end`) is used up."""
    if slot < end:
        return position - (position & SLOT_MASK) + slot
    return next_leaf(memory, root, height, position) if end == load(memory, leaf + ENTRIES) else limit


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


# ── the bitmap of what does not change ────────────────────────────────────────────────────────────────────────────────
# In T(x,y,z) :- E(x,y), E(y,z), E(x,z) the range of E(x,z) is one and the same for all y. Once as much work went into intersecting with it as it has
# rows, its values go into a bitmap, and each further E(y,z) is tested against it. Building costs no more than was already spent, so the bound of
# the leapfrog join stands, up to a factor of two.
@compiled
def mark(cache, state, value):
    """Set the bit of a value and remember it for clearing."""
    bit = value - load(state, CACHE_LOW)
    rows = load(state, CACHE_ROWS)
    store(cache, bit >> 6, load(cache, bit >> 6) | (1 << (bit & 63)))
    store(cache, CACHE_WORDS + rows, bit)
    store(state, CACHE_ROWS, rows + 1)


@compiled
def clear_cache(cache, state):
    """Unset every bit."""
    for i in range(load(state, CACHE_ROWS)):
        store(cache, load(cache, CACHE_WORDS + i) >> 6, 0)
    store(state, CACHE_ROWS, 0)


@compiled
def last_value(memory, root, height, column, limit):
    """The value just before `limit`, which is the end of a range that is not empty."""
    leaf, slot = at_rank(memory, root, height, rank(memory, root, height, limit) - 1)
    return load(memory, leaf_column(leaf, column) + slot)


@compiled
def fill_cache(memory, plan, state, first, invariant, cache):
    """Put what the invariant parts (one or two) share into the bitmap; leaves CACHE_READY at READY, or REFUSED when it does not pay or fit."""
    clear_cache(cache, state)
    record = part_record(plan, first)
    at = part_state(state, first)
    root, height, column = load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT), load(plan, record + PART_COLUMN)
    position, limit = load(state, at + START), load(state, at + LIMIT)
    rows = rows_between(memory, root, height, position, limit)
    if load(state, CACHE_WORK) < rows:
        return
    low = value_at(memory, root, height, position, column)
    high = last_value(memory, root, height, column, limit)
    store(state, CACHE_READY, REFUSED)
    if rows > CACHE_LIST or high - low >= CACHE_BITS or high - low < 0:
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
    """Whether a part has `value` at or after its position, asked in ascending order; moves it there."""
    record = part_record(plan, part)
    at = part_state(state, part)
    root, height, column = load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT), load(plan, record + PART_COLUMN)
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
    root, height, column = load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT), load(plan, record + PART_COLUMN)
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
                # taken as a whole or not at all: a window that may not fit is cut to what surely does
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
    """Whether the cached values are so few that galloping with them beats testing the whole of `part`."""
    record = part_record(plan, part)
    at = part_state(state, part)
    position, limit = load(state, at + POSITION), load(state, at + LIMIT)
    leaves = (limit >> SLOT_BITS) - (position >> SLOT_BITS) if limit != END else 1
    if leaves == 0 or leaves * 256 <= _WORTHWHILE * load(state, CACHE_ROWS):
        return False
    rows = rows_between(memory, load(plan, record + PART_ROOT), load(plan, record + PART_HEIGHT), position, limit)
    return rows > _WORTHWHILE * load(state, CACHE_ROWS)



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
