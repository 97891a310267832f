# SPDX-License-Identifier: Apache-2.0
"""Rows in doubt in compiled code: `doubted_rows` for a few, within an iteration."""

from __future__ import annotations

import numpy as np

from lftj.maintenance.counting.apply_iteration_kernels import (
    ARITY,
    BEFORE,
    DOUBTED,
    FALLEN,
    FIRST_DOUBTED,
    FIRST_LOST,
    GIVEN,
    HALF,
    HEIGHT,
    LAST_DOUBTED,
    LAST_LOST,
    LOWER,
    NOWHERE,
    RECOUNTED,
    ROOT,
    UNCOUNTED,
    name_rows,
)
from lftj.maintenance.counting.question_kernels import COST, DUE_COST, LEFT, STATUS, ask
from lftj.maintenance.counting.waiting_kernels import DUE_IN, ROW
from lftj.scantree.jit import compiled
from lftj.scantree.page_kernels import leaf_column
from lftj.scantree.read_kernels import find_row


@compiled
def place_of(rows, keys, records, number):
    """The place of a record's row among these, in ascending order, which have it."""
    low, high = 0, rows.shape[1]
    while high - low > 1:
        middle = (low + high) >> 1
        order = 0
        for column in range(keys):
            if order == 0 and rows[column, middle] != records[number, ROW + column]:
                order = -1 if rows[column, middle] < records[number, ROW + column] else 1
        low, high = (middle, high) if order <= 0 else (low, middle)
    return low


@compiled
def known_supports(memory, trees, numbers, rows, kinds):
    """The known part of the supports of rows in doubt: derivations won in this update, less those
    lost, and 1 for a base row.
    """
    supports = np.zeros(kinds.size, np.int64)
    arity, before, given = numbers[ARITY], numbers[BEFORE], numbers[GIVEN]
    for i in range(kinds.size):
        if kinds[i] != DOUBTED:
            continue
        record = trees.records[before]
        leaf, slot = find_row(memory, record[ROOT], record[HEIGHT], trees.layouts[before], rows, i)
        word = memory[leaf_column(leaf, arity) + slot]
        supports[i] = (rows[arity, i] & LOWER) - (word & LOWER)
        if given != NOWHERE:
            record = trees.records[given]
            leaf, _ = find_row(memory, record[ROOT], record[HEIGHT], trees.layouts[given], rows, i)
            supports[i] += leaf != 0
    return supports


@compiled
def ask_doubted(around, trees, questions, control, numbers, proven, count):
    """Ask for all derivations before the update of the rows that are named. The number of records
    in `proven`, or −1.
    """
    for number in range(numbers[FIRST_LOST], numbers[LAST_LOST]):
        if count >= 0:
            count = ask(around, trees, questions, number, control, -1, proven, count)
    for number in range(numbers[FIRST_DOUBTED], numbers[LAST_DOUBTED]):
        if count >= 0:
            count = ask(around, trees, questions, number, control, -1, proven, count)
    return count


@compiled
def count_doubted(
    memory, around, trees, questions, control, relation, rows, stood, kinds, proven, first
):
    """Count the supports of rows in doubt, whose `kinds` become RECOUNTED or FALLEN. Derivations
    that tell where fallen rows may return are appended to `proven`, which has `first` records; the
    new number, or −1: STATUS says why.
    """
    numbers = trees.relations[relation]
    arity = numbers[ARITY]
    name_rows(memory, trees, numbers, rows, kinds, DOUBTED)
    supports = known_supports(memory, trees, numbers, rows, kinds)
    count = ask_doubted(around, trees, questions, control, numbers, proven, first)
    for number in range(first, count):
        i = place_of(rows, arity, proven, number)
        if proven[number, DUE_IN] <= stood[i]:
            supports[i] += proven[number, proven.shape[1] - 1]
    kept = first
    for number in range(first, count):
        i = place_of(rows, arity, proven, number)
        if proven[number, DUE_IN] > stood[i] and supports[i] == 0:
            for word in range(proven.shape[1]):
                proven[kept, word] = proven[number, word]
            kept += 1
    for i in range(kinds.size):
        if kinds[i] == DOUBTED and count >= 0:
            control[COST] += 2 * control[DUE_COST]
            if not 0 <= supports[i] < UNCOUNTED:
                control[STATUS] = LEFT
                return -1
            kinds[i] = RECOUNTED if supports[i] > 0 else FALLEN
            rows[arity, i] = (stood[i] << HALF) | supports[i]
    return kept if count >= 0 else -1
