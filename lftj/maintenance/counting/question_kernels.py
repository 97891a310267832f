# SPDX-License-Identifier: Apache-2.0
"""The questions that compiled iterations ask about rows that move, are lost or are in doubt, and
their answers.

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
    FIRST_MOVED,
    HALF,
    HEIGHT,
    HEIGHT_BEFORE,
    LAST_MOVED,
    ROOT,
    ROOT_BEFORE,
)
from lftj.maintenance.counting.waiting_kernels import DUE_IN, HEAD, ROW
from lftj.scantree.jit import compiled, inlined, load, store
from lftj.scantree.page_kernels import GRANTED, NEXT_WORD

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
            for number in range(numbers[FIRST_MOVED + 2 * lost], numbers[LAST_MOVED + 2 * lost]):
                before = count
                questions.records[number, ASKED] += moves[relation, lost]
                count = ask(around, trees, questions, number, control, after, proven, count)
                if count < 0:
                    return -1
                if lost == 0:
                    control[ASSIGNMENTS] += count - before
    return count
