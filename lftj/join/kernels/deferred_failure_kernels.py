# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that fails counts only for an assignment that everything else in the body admits.

So a failure does not end a run. It casts *doubt* on the binding it happened under, and the search
goes on below as if what failed had said yes: a variable whose value cannot be computed is
*unknown*, whatever reads it is taken to hold, and where atoms bind the variable too, its level is
*free*: it goes through all values that they share. Once the search reaches a proof under a doubt,
the failure is real. If it reaches none, something else in the body rejects the binding. So it does
not depend on the order of variables whether a rule fails.

The levels that are unknown or free are two sets of bits in the state. Levels beyond LAST_BIT have
none: there a failure is real at once.
"""

from __future__ import annotations

from lftj.join.kernels.expression_kernels import compute
from lftj.join.kernels.iterator_kernels import level_record
from lftj.join.kernels.layout_kernels import (
    BINDINGS,
    CODE_TABLE,
    DOUBT,
    DOUBT_FAILURE,
    FAILURE,
    FREE,
    LAST_BIT,
    LEVEL_FIRST,
    LEVEL_LAST,
    LEVEL_READS,
    LEVEL_VALUE,
    OPEN,
    STACK,
    UNKNOWN,
)
from lftj.scantree.jit import compiled, inlined, load, store


@inlined
def level_bit(depth):
    """The bit of a level; 0 beyond LAST_BIT."""
    return 1 << depth if depth <= LAST_BIT else 0


@inlined
def is_free(state, depth):
    """Test for a level that should compute its value and goes through all values of its parts
    instead.
    """
    return load(state, FREE) & level_bit(depth) != 0


@inlined
def reads_unknown(state, reads):
    """Test for an expression, reading this set of levels, that has an operand without a value."""
    return load(state, UNKNOWN) & reads != 0


@compiled
def cast_doubt(state, depth):
    """Take the failure in FAILURE for a doubt about the binding of a level, where doubts can be
    kept.
    """
    if depth > LAST_BIT:
        return
    if load(state, DOUBT) == 0:
        store(state, DOUBT, depth + 1)
        store(state, DOUBT_FAILURE, load(state, FAILURE))
    store(state, FAILURE, 0)


@compiled
def resolve_doubt(state, depth, phase):
    """Forget what was doubted of the bindings that level `depth` is about to replace: of its own
    too, unless it is free and goes on.
    """
    bit = level_bit(depth)
    if bit == 0:
        return
    own = load(state, FREE) & bit if phase != OPEN else 0
    store(state, UNKNOWN, load(state, UNKNOWN) & (bit - 1))
    store(state, FREE, load(state, FREE) & (bit - 1) | own)
    doubted = load(state, DOUBT) - 1
    if doubted > depth or (doubted == depth and own == 0):
        store(state, DOUBT, 0)


@compiled
def compute_level(plan, state, depth, offsets, text):
    """(True, the value) of a level that computes it; (False, 0) when there is none, and the level
    is unknown or free, or FAILURE is set.
    """
    level = level_record(plan, depth)
    if not reads_unknown(state, load(plan, level + LEVEL_READS)):
        code = load(plan, CODE_TABLE) + load(plan, level + LEVEL_VALUE)
        value = compute(plan, state, code, load(state, BINDINGS), load(state, STACK), offsets, text)
        if load(state, FAILURE) == 0:
            return True, value
        cast_doubt(state, depth)
    elif depth > LAST_BIT:
        store(state, FAILURE, load(state, DOUBT_FAILURE))
    which = UNKNOWN if load(plan, level + LEVEL_FIRST) == load(plan, level + LEVEL_LAST) else FREE
    store(state, which, load(state, which) | level_bit(depth))
    return False, 0
