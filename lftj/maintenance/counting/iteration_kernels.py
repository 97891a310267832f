# SPDX-License-Identifier: Apache-2.0
"""Many iterations of an elastic update in a row, in compiled code, for long chains in which a small
number of rows moves at a time [Elastic, Algorithm 3].

An iteration is done whole or not at all: its new trees and proofs are kept if every question was
answered (`question_kernels`), and dropped if one could not be (a plan is missing, there are more
rows than buffers hold, an expression failed). Then the caller does the iteration.
"""

from __future__ import annotations

import numpy as np

from lftj.maintenance.counting.apply_iteration_kernels import (
    ARITY,
    BROKEN,
    CURRENT,
    DOUBTED,
    FALLEN,
    LOST,
    NOTHING,
    OWN,
    end_iteration,
    judge,
    move,
    name_rows,
)
from lftj.maintenance.counting.choice_kernels import accept, change_candidates
from lftj.maintenance.counting.doubt_kernels import count_doubted
from lftj.maintenance.counting.question_kernels import (
    ASSIGNMENTS,
    COST,
    DUE,
    DUE_COST,
    FINISHED,
    FULL,
    ITERATION_COST,
    ITERATIONS,
    LEFT,
    LIMIT,
    MOVE_COST,
    SIZE,
    STATUS,
    WORK,
    ask_all,
    at_limit,
    has_room,
)
from lftj.maintenance.counting.waiting_kernels import DUE_IN, HEAD, push, take_due
from lftj.scantree.jit import compiled, inlined

LAST_ITERATION = (1 << 31) - 2  # that half a standing can tell


# One iteration's due proofs settled in compiled code: as `ElasticUpdate` does for many rows, for a
# few [Elastic, Algorithm 3].


@inlined
def count_kind(kinds, kind):
    """The number of rows of a kind."""
    count = 0
    for i in range(kinds.size):
        count += kinds[i] == kind
    return count


@compiled
def apply(memory, around, trees, questions, control, due, first, last, proven, count):
    """Bring a relation's trees up to date with due rows [first, last), and make those of what moved
    and of what was lost.

    How many rows moved, how many were lost and ask for proofs, and how many changed; −1 in place of
    the first when it cannot be done. Then the new number of records in `proven`, to which
    candidates are appended that are due again, and derivations of rows in doubt.
    """
    relation, iteration = due[first, HEAD], due[first, DUE_IN]
    numbers = trees.relations[relation]
    rows = np.empty((numbers[ARITY] + 1, last - first), np.int64)
    stood = np.empty(last - first, np.int64)
    kinds = np.empty(last - first, np.int64)
    judge(memory, trees, relation, due, first, last, rows, stood, kinds)
    if count_kind(kinds, DOUBTED) > 0:
        count = count_doubted(
            memory, around, trees, questions, control, relation, rows, stood, kinds, proven, count
        )
    if count < 0 or count_kind(kinds, BROKEN) > 0:
        return -1, 0, 0, count
    lost, changed = count_kind(kinds, LOST), kinds.size - count_kind(kinds, NOTHING)
    if lost > 0:
        name_rows(memory, trees, numbers, rows, kinds, LOST)
    for i in range(kinds.size):
        kinds[i] = LOST if kinds[i] == FALLEN else kinds[i]
    if numbers[OWN] < numbers[CURRENT]:
        if changed > 0:
            change_candidates(memory, trees, relation, rows, stood, kinds, iteration)
        rows, stood, kinds, count = accept(memory, trees, relation, rows, iteration, proven, count)
        changed = 2 * changed + kinds.size
    moved = move(memory, trees, numbers, rows, stood, kinds, iteration)
    return moved, lost, changed, count


@compiled
def apply_all(memory, around, trees, questions, control, due, count, moves, proven):
    """Settle the due rows of every relation. `moves`: per relation how many rows moved, and were
    lost.

    The number of records in `proven`, −1 when it cannot be done.
    """
    moves[:] = 0
    first = again = 0
    control[COST] += control[ITERATION_COST] + count * control[DUE_COST]
    while first < count:
        last = first + 1
        while last < count and due[last, HEAD] == due[first, HEAD]:
            last += 1
        relation = due[first, HEAD]
        moved, lost, changed, again = apply(
            memory, around, trees, questions, control, due, first, last, proven, again
        )
        if moved < 0:
            return -1
        moves[relation, 0], moves[relation, 1] = moved, lost
        orders = trees.relations[relation, CURRENT + 1] - trees.relations[relation, CURRENT]
        control[COST] += control[MOVE_COST] * (changed + (orders - 1) * moved)
        first = last
    return again


@compiled
def run_iterations(memory, around, trees, questions, waiting, due, proven, control):
    """Do iterations until none is left or STATUS says why not; `due` and `proven` are buffers of
    records, of which DUE were not done.
    """
    moves = np.zeros((trees.relations.shape[0], 2), np.int64)
    control[STATUS] = FINISHED
    while control[SIZE] > 0:
        if at_limit(control):
            control[STATUS] = LIMIT
            return
        if control[SIZE] + proven.shape[0] > waiting.heap.size or not has_room(memory, control):
            control[STATUS] = FULL
            return
        work, cost, assignments = control[WORK], control[COST], control[ASSIGNMENTS]
        count, control[SIZE] = take_due(waiting, control[SIZE], due)
        control[DUE] = count
        control[STATUS] = LEFT
        iteration = due[0, DUE_IN]
        found = -1
        if count < due.shape[0] and iteration < LAST_ITERATION:
            found = apply_all(memory, around, trees, questions, control, due, count, moves, proven)
        if found >= 0:
            found = ask_all(around, trees, questions, control, moves, iteration, proven, found)
        end_iteration(memory, trees, found >= 0)
        if found < 0:
            control[WORK], control[COST], control[ASSIGNMENTS] = work, cost, assignments
            return
        for number in range(found):
            control[SIZE] = push(waiting, control[SIZE], proven, number)
        control[DUE] = 0
        control[ITERATIONS] += 1
        control[STATUS] = FINISHED
