# SPDX-License-Identifier: Apache-2.0
"""Leapfrog triejoin, driven by a plan [LFTJ 3]: one kernel for every rule.

It enumerates the bindings of the plan's levels in ascending order, depth first, and writes one
output row per binding of the levels before EMIT_LEVEL that has a proof, with the number of proofs
(1 under SHORT_CIRCUIT, where the search stops at the first); or the first such row of each binding
of the levels before GROUP_LEVEL only, which has the least value of the level behind them. Levels
with channels are searched by `trace_kernels`, which logs what they depend on. It returns DONE; FULL
when the output buffer is full, LOG_FULL when the log is; PAUSED when the step budget is used up;
FAILED when some proof has an expression without a value (`deferred_failure_kernels`). After FULL,
LOG_FULL and PAUSED the same call goes on.
"""

from __future__ import annotations

from lftj.join.kernels.bitmap_kernels import renew_cache
from lftj.join.kernels.cross_kernels import cross
from lftj.join.kernels.deferred_failure_kernels import compute_level, is_free, resolve_doubt
from lftj.join.kernels.filter_kernels import passes
from lftj.join.kernels.iterator_kernels import (
    advance,
    bind_runs,
    leapfrog,
    level_record,
    meet,
    open_level,
    open_roots,
)
from lftj.join.kernels.kept_count_kernels import is_known, keep_count, pass_known
from lftj.join.kernels.last_level_kernels import finish_level
from lftj.join.kernels.layout_kernels import (
    ADVANCE,
    BINDINGS,
    BUDGET,
    CACHE_WORK,
    CAPACITY,
    CHANNELS,
    COUNTED,
    DEPTH,
    DONE,
    DOUBT,
    DOUBT_FAILURE,
    EMIT_LEVEL,
    FAILED,
    FAILURE,
    FOUND,
    FULL,
    GROUP_LEVEL,
    LEVEL_CHANNEL_FIRST,
    LEVEL_CHANNEL_LAST,
    LEVEL_CROSS,
    LEVEL_FAST,
    LEVEL_FIRST,
    LEVEL_INVARIANT,
    LEVEL_LAST,
    LEVEL_PASSING,
    LEVEL_VALUE,
    LEVELS,
    LOG_FROM,
    LOG_FULL,
    MERGED,
    MISSED,
    NO_ROOM,
    OPEN,
    OUTPUTS,
    PAUSED,
    PHASE,
    PROOFS,
    REFUSED,
    RESUME,
    ROWS,
    SHORT_CIRCUIT,
    STEPS,
    TAIL,
)
from lftj.join.kernels.merge_join_kernels import BELOW, merge_join
from lftj.join.kernels.output_kernels import write_bindings
from lftj.join.kernels.trace_kernels import find_logged, leave_levels
from lftj.scantree.jit import compiled, inlined, load, store


@inlined
def find(memory, plan, state, depth, phase, offsets, text, log):
    """The next binding of a level, before its filters: FOUND when there is one, left in the
    bindings, MISSED when not, or NO_ROOM.
    """
    level = level_record(plan, depth)
    if depth >= load(plan, LOG_FROM) and load(plan, level + LEVEL_CHANNEL_FIRST) < load(
        plan, level + LEVEL_CHANNEL_LAST
    ):
        return find_logged(memory, plan, state, log, depth, phase, offsets, text)
    first, last = load(plan, level + LEVEL_FIRST), load(plan, level + LEVEL_LAST)
    searching = True
    value = 0
    if load(plan, level + LEVEL_VALUE) >= 0 and not is_free(state, depth):
        if phase == ADVANCE or not open_level(state, first, last):
            return MISSED
        known, value = compute_level(plan, state, depth, offsets, text)
        if known and not meet(memory, plan, state, first, last, value):
            return MISSED
        searching = not known and first < last
    elif not (advance(state, first) if phase == ADVANCE else open_level(state, first, last)):
        return MISSED
    if searching:
        found, value = leapfrog(memory, plan, state, first, last)
        if not found:
            return MISSED
    store(state, load(state, BINDINGS) + depth, value)
    bind_runs(memory, plan, state, first, last, first, value)
    return FOUND


@compiled
def emit_proofs(plan, state, out):
    """One output row for the present binding, with its number of proofs; False when there is no
    room for it.
    """
    row = load(state, ROWS)
    if row == load(state, CAPACITY):
        return False
    write_bindings(plan, state, out, row)
    store(
        out,
        load(plan, OUTPUTS) * load(state, CAPACITY) + row,
        load(state, PROOFS) if load(plan, SHORT_CIRCUIT) == 0 else 1,
    )
    store(state, ROWS, row + 1)
    store(state, PROOFS, 0)
    return True


@inlined
def prove(plan, state, log, depth):
    """Count a proof; the level to go on at, which under SHORT_CIRCUIT is the last one before
    EMIT_LEVEL.
    """
    store(state, PROOFS, load(state, PROOFS) + 1)
    emit_level = load(plan, EMIT_LEVEL)
    if load(plan, SHORT_CIRCUIT) != 1 or emit_level > depth:
        return depth
    if load(plan, CHANNELS) > 0:
        leave_levels(plan, state, log, emit_level, depth)
    return emit_level - 1


@inlined
def take_tail(memory, plan, state, depth, phase, cache, out):
    """Try to do all levels from `depth` on, the tail, at once: 0 not possible, 1 done, 2 `out` is
    full.
    """
    level = level_record(plan, depth)
    emitting = load(plan, EMIT_LEVEL) > depth
    if (
        phase == ADVANCE
        or load(plan, level + LEVEL_FAST) == 0
        or (load(plan, SHORT_CIRCUIT) == 1 and not emitting)
    ):
        return 0
    first, last = load(plan, level + LEVEL_FIRST), load(plan, level + LEVEL_LAST)
    if phase == OPEN and not open_level(state, first, last):
        return 1
    found, finished = finish_level(
        memory,
        plan,
        state,
        first,
        last,
        load(plan, level + LEVEL_INVARIANT),
        depth,
        cache,
        out,
        emitting,
        phase == RESUME,
    )
    if found < 0:
        return 0
    if not emitting:
        store(state, PROOFS, load(state, PROOFS) + found)
    return 1 if finished else 2


@compiled
def run(memory, plan, state, offsets, text, cache, out, log):
    """Go on from where `state` is until done, full, paused or failed; see the module.

    One loop, and a long one: its state is two local variables, which a split would have to pass
    through memory at each turn.
    """
    open_roots(memory, plan, state)
    levels, counted = load(plan, LEVELS), load(plan, COUNTED)
    emit_level = load(plan, EMIT_LEVEL)
    group_level = load(plan, GROUP_LEVEL)
    tail, merged = load(plan, TAIL), load(plan, MERGED)
    logging = load(plan, CHANNELS) > 0
    crossing = levels > 1 and load(plan, level_record(plan, levels - 2) + LEVEL_CROSS) != 0
    depth = load(state, DEPTH)
    phase = load(state, PHASE)
    status = DONE
    while depth >= 0:
        if load(state, STEPS) >= load(state, BUDGET):
            status = PAUSED
            break
        if depth + 1 >= counted:
            if phase == ADVANCE:
                keep_count(plan, state, depth + 1, cache)
            elif phase == OPEN and is_known(plan, state, depth, cache):
                depth -= 1
                phase = ADVANCE
                continue
        if phase == ADVANCE and depth == emit_level - 1 and load(state, PROOFS) > 0:
            if not emit_proofs(plan, state, out):
                status = FULL
                break
            if group_level < emit_level:
                if logging:
                    leave_levels(plan, state, log, group_level, depth)
                depth = group_level - 1
                continue
        if load(state, DOUBT) != 0:
            resolve_doubt(state, depth, phase)
        if (
            depth + 1 >= counted
            and load(plan, level_record(plan, depth) + LEVEL_PASSING) >= 0
            and load(state, DOUBT) == 0
        ):
            found = pass_known(memory, plan, state, depth, phase, cache)
            if found == PAUSED:
                status = PAUSED
                phase = ADVANCE
                break
            depth += 1 if found == FOUND else -1
            phase = OPEN if found == FOUND else ADVANCE
            continue
        if depth == tail and load(state, DOUBT) == 0:
            taken = take_tail(memory, plan, state, depth, phase, cache, out)
            if taken == 2:
                phase = RESUME
                status = FULL
                break
            if taken == 1:
                depth -= 1
                phase = ADVANCE
                continue
        elif depth == merged and load(state, DOUBT) == 0:
            status = merge_join(memory, plan, state, depth, phase, crossing, out)
            if status == PAUSED:
                phase = ADVANCE
                break
            depth += 1 if status == BELOW else -1
            phase = OPEN if status == BELOW else ADVANCE
            status = DONE
            continue
        elif depth == levels - 2:
            if crossing and load(state, DOUBT) == 0:
                status = cross(memory, plan, state, depth, phase, out)
                if status == FULL:
                    phase = RESUME
                    break
                # either all of it is done, or one value of this level has more than fit, which the
                # last level can give in pieces
                depth += -1 if status == DONE else 1
                phase = ADVANCE if status == DONE else OPEN
                status = DONE
                continue
            if phase == OPEN:
                renew_cache(plan, state)
        before = load(state, STEPS)
        found = find(memory, plan, state, depth, phase, offsets, text, log)
        if depth == levels - 1:
            store(state, CACHE_WORK, load(state, CACHE_WORK) + load(state, STEPS) - before)
        if found == NO_ROOM:
            phase = load(state, PHASE)
            status = LOG_FULL
            break
        if found == FOUND:
            found = passes(memory, plan, state, depth, offsets, text, log)
        if found == REFUSED:
            phase = ADVANCE
            if load(state, FAILURE) == 0:
                continue
        if load(state, FAILURE) != 0:
            status = FAILED
            break
        if found == MISSED:
            if logging:
                leave_levels(plan, state, log, depth, depth)
            depth -= 1
            phase = ADVANCE
        elif depth + 1 < levels:
            depth += 1
            phase = OPEN
        elif load(state, DOUBT) != 0:
            store(state, FAILURE, load(state, DOUBT_FAILURE))
            status = FAILED
            break
        else:
            depth = prove(plan, state, log, depth)
            phase = ADVANCE
    store(state, DEPTH, depth)
    store(state, PHASE, phase)
    if (
        depth < 0
        and emit_level == 0
        and load(state, PROOFS) > 0
        and not emit_proofs(plan, state, out)
    ):
        return FULL
    return status
