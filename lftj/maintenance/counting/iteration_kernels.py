"""Many iterations of an elastic update in a row, in compiled code, for long chains in which a small
number of rows moves at a time [Elastic, Algorithm 3].

An iteration is done whole or not at all: its new trees and proofs are kept if every question was
answered, and dropped if one could not be (a plan is missing, there are more rows than buffers hold,
an expression failed). Then the caller does the iteration.

A question is a plan that is assembled (`lftj.join.run.prepared`), with words that say where its
arrays are and what its output means.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftj.join.kernels.bitmap_kernels import clear_cache
from lftj.join.kernels.layout_kernels import (
    BUDGET,
    DONE,
    PART_HEIGHT,
    PART_RECORD,
    PART_ROOT,
    PART_TABLE,
    PARTS,
    ROWS,
    STEPS,
)
from lftj.join.kernels.triejoin_kernels import run
from lftj.maintenance.counting.apply_iteration_kernels import (
    ARITY,
    CURRENT,
    DOUBTED,
    FIRST_LOST,
    FIRST_MOVED,
    HALF,
    HEIGHT,
    HEIGHT_BEFORE,
    LAST_LOST,
    LAST_MOVED,
    LOST,
    NOTHING,
    OWN,
    ROOT,
    ROOT_BEFORE,
    end_iteration,
    judge,
    move,
    name_lost,
)
from lftj.maintenance.counting.choice_kernels import accept, change_candidates
from lftj.maintenance.counting.waiting_kernels import DUE_IN, HEAD, ROW, push, take_due
from lftj.scantree.jit import compiled, inlined, load, store
from lftj.scantree.page_kernels import GRANTED, NEXT_WORD

# One iteration's due proofs settled in compiled code: as `ElasticUpdate` does for many rows, for a
# few [Elastic, Algorithm 3].


@compiled
def apply(memory, trees, due, first, last, proven, count):
    """Bring a relation's trees up to date with due rows [first, last), and make those of what moved
    and of what was lost.

    How many rows moved, how many were lost, and how many changed; −1 in place of the first when
    counts make no sense. Then the new number of records in `proven`, to which candidates are
    appended that are due again.
    """
    relation, iteration = due[first, HEAD], due[first, DUE_IN]
    numbers = trees.relations[relation]
    rows = np.empty((numbers[ARITY] + 1, last - first), np.int64)
    stood = np.empty(last - first, np.int64)
    kinds = np.empty(last - first, np.int64)
    judge(memory, trees, relation, due, first, last, rows, stood, kinds)
    lost = changed = 0
    for i in range(kinds.size):
        if kinds[i] >= DOUBTED:
            return -1, 0, 0, count
        lost += kinds[i] == LOST
        changed += kinds[i] != NOTHING
    if lost > 0:
        name_lost(memory, trees, numbers, rows, kinds)
    if numbers[OWN] < numbers[CURRENT]:
        if changed > 0:
            change_candidates(memory, trees, relation, rows, stood, kinds, iteration)
        rows, stood, kinds, count = accept(memory, trees, relation, rows, iteration, proven, count)
        changed = 2 * changed + kinds.size
    moved = move(memory, trees, numbers, rows, stood, kinds, iteration)
    return moved, lost, changed, count


# words of a question's record
READY = 0  # 0: no plan yet; BARREN: some relation below that it reads has no rows
PLAN = 1  # addresses
STATE = 2
FRESH = 3
OUT = 4
LOG = 5
STATE_WORDS = 6
ROOM = 7  # rows of the output
COLUMNS = 8  # of the output, before its number of proofs
PROVES = 9  # the relation of the head
FIRST_BOUND = 10  # which parts read trees of the stratum
LAST_BOUND = 11
FIRST_PICK = 12  # the head's columns, as columns of the output
LAST_PICK = 13
VALUES = 14  # columns of the output before the standings
ASKED = 15  # rows that it was asked about in this run, what it found, and its steps
ANSWERS = 16
SPENT = 17
QUESTION_WORDS = 18

BARREN = 2

# words of the run
STATUS = 0
SIZE = 1  # records that wait
DUE = 2  # rows taken from them in an iteration that was not done
ITERATIONS = 3
WORK = 4  # kernel steps
COST = 5  # see `cost_model`
ASSIGNMENTS = 6
QUESTION = 7  # the one that could not be answered
MOST_ITERATIONS = 8  # limits
MOST_COST = 9
MOST_STEPS = 10  # of one question
NEED = 11  # words of the arena that an iteration may take
# charges of an iteration, of a row that waited, and of a row in a tree that it changes
ITERATION_COST = 12
DUE_COST = 13
MOVE_COST = 14
RUN_WORDS = 15

# statuses
FINISHED = 0  # nothing waits
LIMIT = 1  # a limit was reached, between two iterations
FULL = 2  # the heap may have no room for what the next iteration proves
UNPLANNED = 3
LEFT = 4  # this iteration is for others

LAST_ITERATION = (1 << 31) - 2  # that half a standing can tell


class Questions(NamedTuple):
    """`records` by number, the parts they bind and the columns they pick.

    A bound part: where its record is in the plan, which tree it reads, and whether as it was before
    this iteration.
    """

    records: np.ndarray
    bound: np.ndarray
    picks: np.ndarray


class Surroundings(NamedTuple):
    """Addresses: the arena's words, the texts of the dictionary, a bitmap."""

    memory: int
    offsets: int
    text: int
    cache: int


@inlined
def at_limit(control):
    """Test for a run that has done as much as it may before limits are looked at."""
    return (
        control[ITERATIONS] >= control[MOST_ITERATIONS]
        or control[COST] + control[WORK] >= control[MOST_COST]
    )


@inlined
def has_room(memory, control):
    """Test for an arena with room for an iteration."""
    return memory[NEXT_WORD] + control[NEED] <= memory[GRANTED]


@inlined
def bind(question, bound, trees):
    """Put the roots of this iteration into a plan; False when it reads a relation without rows."""
    plan = question[PLAN]
    for i in range(question[FIRST_BOUND], question[LAST_BOUND]):
        record = trees.records[bound[i, 1]]
        store(plan, bound[i, 0] + PART_ROOT, record[ROOT_BEFORE] if bound[i, 2] else record[ROOT])
        store(
            plan,
            bound[i, 0] + PART_HEIGHT,
            record[HEIGHT_BEFORE] if bound[i, 2] else record[HEIGHT],
        )
    for part in range(load(plan, PARTS)):
        if load(plan, load(plan, PART_TABLE) + part * PART_RECORD + PART_ROOT) == 0:
            return False
    return True


@compiled
def read_proofs(question, picks, after, proven, count):
    """Append what a question found, as records, that counts in iterations beyond `after`. The new
    number; −1 without room.
    """
    out, room = question[OUT], question[ROOM]
    for row in range(load(question[STATE], ROWS)):
        if count == proven.shape[0]:
            return -1
        iteration = -1
        proofs = load(out, question[COLUMNS] * room + row)
        for column in range(question[VALUES], question[COLUMNS]):
            word = load(out, column * room + row)
            gone = word >> 63  # a row as it was before it moved has the complement of its standing
            iteration = max(iteration, (word ^ gone) >> HALF)
            proofs = (proofs ^ gone) - gone
        if iteration + 1 <= after:
            continue
        proven[count, DUE_IN], proven[count, HEAD] = iteration + 1, question[PROVES]
        for word in range(ROW, proven.shape[1] - 1):
            proven[count, word] = 0
        for i in range(question[FIRST_PICK], question[LAST_PICK]):
            proven[count, ROW + i - question[FIRST_PICK]] = load(out, picks[i] * room + row)
        proven[count, proven.shape[1] - 1] = proofs
        count += 1
    return count


@compiled
def ask(around, trees, questions, number, control, after, proven, count):
    """Answer a question of this iteration. The new number of records in `proven`, or −1: STATUS
    says why.
    """
    question = questions.records[number]
    if question[READY] == 0:
        control[STATUS], control[QUESTION] = UNPLANNED, number
        return -1
    if question[READY] == BARREN or not bind(question, questions.bound, trees):
        return count
    plan, state = question[PLAN], question[STATE]
    for i in range(question[STATE_WORDS]):
        store(state, i, load(question[FRESH], i))
    store(state, BUDGET, control[MOST_STEPS])
    status = run(
        around.memory,
        plan,
        state,
        around.offsets,
        around.text,
        around.cache,
        question[OUT],
        question[LOG],
    )
    control[WORK] += load(state, STEPS)
    question[SPENT] += load(state, STEPS)
    question[ANSWERS] += load(state, ROWS)
    clear_cache(around.cache, state)
    count = read_proofs(question, questions.picks, after, proven, count) if status == DONE else -1
    if count < 0:
        control[STATUS] = LEFT
    return count


@compiled
def ask_all(around, trees, questions, control, moves, after, proven, count):
    """Ask what moving and lost rows ask. The number of records in `proven`, which has `count`, or
    −1.
    """
    for lost in (1, 0):
        for relation in range(trees.relations.shape[0]):
            numbers = trees.relations[relation]
            if moves[relation, lost] == 0:
                continue
            first = numbers[FIRST_LOST] if lost else numbers[FIRST_MOVED]
            last = numbers[LAST_LOST] if lost else numbers[LAST_MOVED]
            for number in range(first, last):
                before = count
                questions.records[number, ASKED] += moves[relation, lost]
                count = ask(around, trees, questions, number, control, after, proven, count)
                if count < 0:
                    return -1
                if lost == 0:
                    control[ASSIGNMENTS] += count - before
    return count


@compiled
def apply_all(memory, trees, control, due, count, moves, proven):
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
        moved, lost, changed, again = apply(memory, trees, due, first, last, proven, again)
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
            found = apply_all(memory, trees, control, due, count, moves, proven)
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
