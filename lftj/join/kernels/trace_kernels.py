# SPDX-License-Identifier: Apache-2.0
"""The trace log: what a search depended on, as intervals of the channels of the plan [LFTJ-IVM
4.1].

Opening a range depends on (−∞, v], v its first value; a seek of s that lands on v on [s, v]; going
on from v to v' on [v, v']; where there is no value, on all up to +∞. Each channel keeps one running
interval of the present context, which is the bindings of the levels before its own. It is widened
by what touches it (EXACT) or by everything (HULL), and written out as a record when something does
not touch it or when its level is left. Both ends ascend within a context, so an interval is
compared with its predecessor only.

One part leads. It is the witness for what comes before its first value, so the other parts need no
interval for being opened: their first seek is it. A part without a channel leads, if there is one:
what it skips needs no witness, either because the rule's region pins the value or because any
change of the atom names its region. So the log of a level whose value is pinned to v holds [v,
landing] of each part until the first that lacks v, and nothing else. A new value before all others,
too, meets only the parts that lead.
"""

from __future__ import annotations

from lftj.join.kernels.deferred_failure_kernels import compute_level, is_free
from lftj.join.kernels.iterator_kernels import (
    advance,
    bind_runs,
    level_record,
    part_record,
    part_state,
    part_value,
    seek_part,
)
from lftj.join.kernels.layout_kernels import (
    ADVANCE,
    BINDINGS,
    CHANNEL_LEVEL,
    CHANNEL_MODE,
    CHANNEL_RECORD,
    CHANNEL_TABLE,
    CHANNELS,
    FOUND,
    HULL,
    INTERVAL_HIGH,
    INTERVAL_LOW,
    INTERVAL_OPEN,
    INTERVAL_STATE,
    LEVEL_CHANNEL_FIRST,
    LEVEL_CHANNEL_LAST,
    LEVEL_FIRST,
    LEVEL_LAST,
    LEVEL_LEADER,
    LEVEL_VALUE,
    LIMIT,
    LOG_CAPACITY,
    LOG_CHANNEL,
    LOG_CONTEXT,
    LOG_FROM,
    LOG_HIGH,
    LOG_LOW,
    LOG_RESERVE,
    LOG_ROWS,
    MISSED,
    NO_ROOM,
    OPEN,
    PART_CHANNEL,
    PHASE,
    POSITION,
    PROBE_CHANNEL,
    PROBE_CONSTANT,
    PROBE_RECORD,
    PROBE_TABLE,
    RUNNING,
    SEARCH,
    START,
)
from lftj.scantree.jit import compiled, inlined, load, store

LOWEST = -(1 << 63)  # stands for −∞
HIGHEST = (1 << 63) - 1  # stands for +∞


# ── records ───────────────────────────────────────────────────────────────────────────────────────
@inlined
def log_is_full(plan, state):
    """Test for a log without room for the records of one step: each channel's interval twice, the
    leader's and that of one seek.
    """
    return load(state, LOG_ROWS) + LOG_RESERVE * (load(plan, CHANNELS) + 1) > load(
        state, LOG_CAPACITY
    )


@compiled
def write_interval(plan, state, log, channel):
    """Write the running interval of a channel, if there is one, with its context."""
    at = load(state, RUNNING) + channel * INTERVAL_STATE
    if load(state, at + INTERVAL_OPEN) == 0:
        return
    store(state, at + INTERVAL_OPEN, 0)
    row = load(state, LOG_ROWS)
    store(state, LOG_ROWS, row + 1)
    capacity = load(state, LOG_CAPACITY)
    store(log, LOG_CHANNEL * capacity + row, channel)
    store(log, LOG_LOW * capacity + row, load(state, at + INTERVAL_LOW))
    store(log, LOG_HIGH * capacity + row, load(state, at + INTERVAL_HIGH))
    bindings = load(state, BINDINGS)
    for level in range(
        load(plan, load(plan, CHANNEL_TABLE) + channel * CHANNEL_RECORD + CHANNEL_LEVEL)
    ):
        store(log, (LOG_CONTEXT + level) * capacity + row, load(state, bindings + level))


@compiled
def leave_levels(plan, state, log, top, bottom):
    """Write out what the levels from `top` to `bottom` are logged with; their bindings must still
    stand.
    """
    first = load(plan, level_record(plan, top) + LEVEL_CHANNEL_FIRST)
    for channel in range(first, load(plan, level_record(plan, bottom) + LEVEL_CHANNEL_LAST)):
        write_interval(plan, state, log, channel)


@compiled
def touch(plan, state, log, channel, low, high):
    """Note that the run depends on [low, high] of a channel in the present context. Writes one
    record at most.
    """
    at = load(state, RUNNING) + channel * INTERVAL_STATE
    if load(state, at + INTERVAL_OPEN) == 1:
        end = load(state, at + INTERVAL_HIGH)
        # low > end, so that low − 1 is a value too
        if (
            low <= end
            or low - 1 == end
            or load(plan, load(plan, CHANNEL_TABLE) + channel * CHANNEL_RECORD + CHANNEL_MODE)
            == HULL
        ):
            store(state, at + INTERVAL_HIGH, high)
            return
        write_interval(plan, state, log, channel)
    store(state, at + INTERVAL_OPEN, 1)
    store(state, at + INTERVAL_LOW, low)
    store(state, at + INTERVAL_HIGH, high)


@compiled
def touch_part(memory, plan, state, log, part, low, inside):
    """As `touch`, from `low` to where the part stands, or to +∞ when it is not inside its range any
    more; the value where it stands.
    """
    high = part_value(memory, plan, state, part) if inside else HIGHEST
    channel = load(plan, part_record(plan, part) + PART_CHANNEL)
    if channel >= 0:
        touch(plan, state, log, channel, low, high)
    return high


@compiled
def seek_logged(memory, plan, state, log, part, value):
    """As `seek_part`: whether there is such a value, and which."""
    inside = seek_part(memory, plan, state, part, value)
    return inside, touch_part(memory, plan, state, log, part, value, inside)


@compiled
def touch_probe(plan, state, log, probe, depth):
    """Note that the run depends on whether a negated atom has the value of its last argument, which
    level `depth` binds.
    """
    record = load(plan, PROBE_TABLE) + probe * PROBE_RECORD
    channel = load(plan, record + PROBE_CHANNEL)
    if channel < 0 or depth < load(plan, LOG_FROM):
        return
    if load(plan, record + PROBE_CONSTANT) == 1:
        touch(plan, state, log, channel, LOWEST, HIGHEST)
    else:
        value = load(state, load(state, BINDINGS) + depth)
        touch(plan, state, log, channel, value, value)


# ── the search of a logged level ──────────────────────────────────────────────────────────────────
@compiled
def open_logged(memory, plan, state, log, first, last, leader):
    """As `open_level`; a part is logged if it is the leader or its range is empty."""
    for part in range(first, last):
        at = part_state(state, part)
        start = load(state, at + START)
        inside = start < load(state, at + LIMIT)
        store(state, at + POSITION, start)
        if part == leader or not inside:
            touch_part(memory, plan, state, log, part, LOWEST, inside)
        if not inside:
            return False
    return True


@compiled
def search_logged(memory, plan, state, log, first, last, leader):
    """As `leapfrog`, from the leader: (FOUND, the value), (MISSED, 0) or (NO_ROOM, 0).

    After NO_ROOM the same call goes on: the seeks of the last round that it repeats find their
    parts where they stand.
    """
    value = part_value(memory, plan, state, leader)
    part = leader
    agreeing = 1
    while agreeing < last - first:
        if log_is_full(plan, state):
            return NO_ROOM, 0
        part = first if part + 1 == last else part + 1
        inside, found = seek_logged(memory, plan, state, log, part, value)
        if not inside:
            return MISSED, 0
        if found == value:
            agreeing += 1
        else:
            value = found
            agreeing = 1
    return FOUND, value


@compiled
def meet_logged(memory, plan, state, log, first, last, value):
    """As `meet`."""
    for part in range(first, last):
        inside, found = seek_logged(memory, plan, state, log, part, value)
        if not inside or found != value:
            return False
    return True


@compiled
def begin_search(memory, plan, state, log, depth, phase):
    """Open a logged level or move its leader on: True when there may be a value."""
    level = level_record(plan, depth)
    leader = load(plan, level + LEVEL_LEADER)
    if phase == OPEN:
        return open_logged(
            memory,
            plan,
            state,
            log,
            load(plan, level + LEVEL_FIRST),
            load(plan, level + LEVEL_LAST),
            leader,
        )
    if phase == ADVANCE:
        inside = advance(state, leader)
        touch_part(
            memory, plan, state, log, leader, load(state, load(state, BINDINGS) + depth), inside
        )
        return inside
    return True


@compiled
def find_logged(memory, plan, state, log, depth, phase, offsets, text):
    """As `find` in `triejoin_kernels`, or NO_ROOM, and PHASE is how to go on."""
    level = level_record(plan, depth)
    first, last, leader = (
        load(plan, level + LEVEL_FIRST),
        load(plan, level + LEVEL_LAST),
        load(plan, level + LEVEL_LEADER),
    )
    if log_is_full(plan, state):
        store(state, PHASE, phase)
        return NO_ROOM
    searching = True
    value = 0
    if load(plan, level + LEVEL_VALUE) >= 0 and not is_free(state, depth):
        if phase == ADVANCE or not open_logged(memory, plan, state, log, first, last, -1):
            return MISSED
        known, value = compute_level(plan, state, depth, offsets, text)
        if known and not meet_logged(memory, plan, state, log, first, last, value):
            return MISSED
        searching = not known and first < last
    if searching:
        if not begin_search(memory, plan, state, log, depth, phase):
            return MISSED
        found, value = search_logged(memory, plan, state, log, first, last, leader)
        if found != FOUND:
            store(state, PHASE, SEARCH)
            return found
    store(state, load(state, BINDINGS) + depth, value)
    bind_runs(memory, plan, state, first, last, leader, value)
    return FOUND
