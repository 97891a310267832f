# SPDX-License-Identifier: Apache-2.0
"""The filters of a level: comparisons and negated atoms, and what a comparison that fails says
about the values that follow.
"""

from __future__ import annotations

from lftj.join.kernels.deferred_failure_kernels import cast_doubt, reads_unknown
from lftj.join.kernels.expression_kernels import compute
from lftj.join.kernels.iterator_kernels import level_record, part_end, part_record, pass_over, probe
from lftj.join.kernels.layout_kernels import (
    BINDINGS,
    CODE_TABLE,
    FAILURE,
    FILTER_BOUNDS,
    FILTER_CODE,
    FILTER_LEAST,
    FILTER_PROBE,
    FILTER_READS,
    FILTER_RECORD,
    FILTER_TABLE,
    FOUND,
    INTERVAL_HIGH,
    INTERVAL_LOW,
    INTERVAL_OPEN,
    INTERVAL_STATE,
    LEVEL_CHANNEL_FIRST,
    LEVEL_CHANNEL_LAST,
    LEVEL_FILTER_FIRST,
    LEVEL_FILTER_LAST,
    LEVEL_FIRST,
    LEVEL_LAST,
    LEVEL_LEADER,
    LOG_FROM,
    MISSED,
    PART_CHANNEL,
    REFUSED,
    RUNNING,
    STACK,
)
from lftj.join.kernels.trace_kernels import touch_probe
from lftj.scantree.jit import compiled, load, store


@compiled
def passes(memory, plan, state, depth, offsets, text, log):
    """FOUND when the filters of a level hold: comparisons and negated atoms, in the plan's order.
    What fails, or reads the unknown, does.

    Else REFUSED, or MISSED when no later value of the level is below the bound that a comparison
    sets either.
    """
    level = level_record(plan, depth)
    for number in range(
        load(plan, level + LEVEL_FILTER_FIRST), load(plan, level + LEVEL_FILTER_LAST)
    ):
        at = load(plan, FILTER_TABLE) + number * FILTER_RECORD
        if reads_unknown(state, load(plan, at + FILTER_READS)):
            continue
        code = load(plan, at + FILTER_CODE)
        if code < 0:
            negated = load(plan, at + FILTER_PROBE)
            touch_probe(plan, state, log, negated, depth)
            if probe(memory, plan, state, negated):
                return REFUSED
            continue
        holds = compute(
            plan,
            state,
            load(plan, CODE_TABLE) + code,
            load(state, BINDINGS),
            load(state, STACK),
            offsets,
            text,
        )
        if load(state, FAILURE) != 0:
            cast_doubt(state, depth)
            if load(state, FAILURE) != 0:
                return REFUSED
        elif holds == 0:
            return beyond(memory, plan, state, level, at, depth, offsets, text)
    return FOUND


@compiled
def beyond(memory, plan, state, level, at, depth, offsets, text):
    """Skip later values that cannot satisfy a failed comparison; MISSED when none can."""
    bounds = load(plan, at + FILTER_BOUNDS)
    if bounds == 1:
        return MISSED
    logged = depth >= load(plan, LOG_FROM) and load(plan, level + LEVEL_CHANNEL_FIRST) < load(
        plan, level + LEVEL_CHANNEL_LAST
    )
    first = load(plan, level + (LEVEL_LEADER if logged else LEVEL_FIRST))
    start = load(state, BINDINGS)
    if bounds == 2:
        # values between have one if this and the last have: the side that reads the level ascends
        # or descends with it
        value = load(state, start + depth)
        store(state, start + depth, part_end(memory, plan, state, first))
        compute(
            plan,
            state,
            load(plan, CODE_TABLE) + load(plan, at + FILTER_CODE),
            start,
            load(state, STACK),
            offsets,
            text,
        )
        store(state, start + depth, value)
        if load(state, FAILURE) == 0:
            return MISSED
        store(state, FAILURE, 0)
    least = load(plan, at + FILTER_LEAST)
    if least >= 0:
        value = compute(
            plan, state, load(plan, CODE_TABLE) + least, start, load(state, STACK), offsets, text
        )
        if load(state, FAILURE) == 0:
            pass_over(memory, plan, state, first, value)
            if logged:
                forget_below(plan, state, level, depth, value)
        store(state, FAILURE, 0)
    return REFUSED


@compiled
def forget_below(plan, state, level, depth, least):
    """Keep of the running intervals of a level's parts what is not below `least`, and let the
    leader's next one begin there.

    No value below satisfies the comparison in this context, whatever rows come or go, so none needs
    a witness.
    """
    for part in range(load(plan, level + LEVEL_FIRST), load(plan, level + LEVEL_LAST)):
        channel = load(plan, part_record(plan, part) + PART_CHANNEL)
        if channel >= 0:
            at = load(state, RUNNING) + channel * INTERVAL_STATE
            if load(state, at + INTERVAL_HIGH) < least:
                store(state, at + INTERVAL_OPEN, 0)
            elif load(state, at + INTERVAL_LOW) < least:
                store(state, at + INTERVAL_LOW, least)
    store(state, load(state, BINDINGS) + depth, least)
