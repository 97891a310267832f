# SPDX-License-Identifier: Apache-2.0
"""Iterations of improvement with small numbers of offers each, in compiled code: rules read the
best offers and make new ones.

The trees, the questions and the way to answer them are the same as in compiled iterations
(`question_kernels`); the delta of a relation is the rows that move. Offers are records like
proofs, with no data but the row. An iteration is done whole or not at all.
"""

from __future__ import annotations

import numpy as np

from lftj.maintenance.counting.apply_iteration_kernels import (
    ARITY,
    CURRENT,
    FOUND,
    HEIGHT,
    LOST,
    MOVING,
    OVER_DELETED,
    RELATION_WORDS,
    ROOT,
    change_tree,
    end_iteration,
    less,
    picked,
    replace_tree,
    sort_few,
)
from lftj.maintenance.counting.question_kernels import (
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
    RUN_WORDS,
    STATUS,
    WORK,
    ask_all,
    at_limit,
    has_room,
)
from lftj.maintenance.counting.waiting_kernels import DUE_IN, HEAD, ROW
from lftj.scantree.build_kernels import build
from lftj.scantree.jit import compiled, inlined
from lftj.scantree.page_kernels import leaf_column
from lftj.scantree.read_kernels import first_with

# words of a relation's record, behind those that other iterations know
BY_GROUP = RELATION_WORDS  # the tree in whose order a group's columns come first
GROUP = RELATION_WORDS + 1  # how many columns these are: all, where every row is kept
RISING = RELATION_WORDS + 2  # 1: the greatest value is the best
IMPROVED_WORDS = RELATION_WORDS + 3

# words of the run, behind those that other runs know
MOST_DUE = RUN_WORDS  # offers beyond which an iteration is for others
NOTED = RUN_WORDS + 1  # rows in the notes of what each iteration found
IMPROVEMENT_WORDS = RUN_WORDS + 2


@compiled
def gather_offers(numbers, order, due, count, relation):
    """The offers to a relation with their columns in this order, sorted; the complement of a rising
    value, so that the best come first.
    """
    size = 0
    for i in range(count):
        size += due[i, HEAD] == relation
    rows = np.empty((numbers[ARITY], size), np.int64)
    at = 0
    for i in range(count):
        if due[i, HEAD] == relation:
            for line in range(rows.shape[0]):
                rows[line, at] = due[i, ROW + order[line]]
            if numbers[RISING]:
                rows[rows.shape[0] - 1, at] = ~rows[rows.shape[0] - 1, at]
            at += 1
    sort_few(rows, rows.shape[0])
    return rows


@compiled
def compare_offers(memory, trees, relation, due, count, kinds):
    """The rows that come, FOUND, and those that go for them, LOST, as `kinds` tell, by their
    columns and in no order. Their number.
    """
    numbers = trees.relations[relation]
    number, group, flip = numbers[BY_GROUP], numbers[GROUP], -numbers[RISING]
    order, layout = trees.orders[number], trees.layouts[number]
    root, height = trees.records[number, ROOT], trees.records[number, HEIGHT]
    rows = gather_offers(numbers, order, due, count, relation)
    changes = np.empty((numbers[ARITY], 2 * rows.shape[1]), np.int64)
    groups = rows[:group]
    size = 0
    for i in range(rows.shape[1]):
        if i > 0 and not less(rows, group, i - 1, i):
            continue
        leaf, slot, _ = first_with(memory, root, height, layout, groups, i, groups.shape[0])
        if leaf != 0:
            had = memory[leaf_column(leaf, group) + slot] if group < rows.shape[0] else 0
            if group == rows.shape[0] or had ^ flip <= rows[group, i]:
                continue
            for line in range(rows.shape[0]):
                changes[order[line], size] = rows[line, i]
            changes[order[group], size] = had
            kinds[size] = LOST
            size += 1
        for line in range(rows.shape[0]):
            changes[order[line], size] = rows[line, i]
        if group < rows.shape[0]:
            changes[order[group], size] = rows[group, i] ^ flip
        kinds[size] = FOUND
        size += 1
    return changes, size


@inlined
def note_found(notes, control, relation, rows, kinds):
    """Note the rows that this iteration found, where notes are taken; there is room."""
    for i in range(kinds.size if notes.shape[0] > 0 else 0):
        if kinds[i] == FOUND:
            notes[control[NOTED], DUE_IN] = control[ITERATIONS]
            notes[control[NOTED], HEAD] = relation
            for column in range(rows.shape[0]):
                notes[control[NOTED], ROW + column] = rows[column, i]
            control[NOTED] += 1


@compiled
def take_better(memory, trees, control, relation, due, notes):
    """Bring a relation's trees up to date with what it is offered, and make those of its delta:
    rows of the delta, and rows changed.
    """
    count = control[DUE]
    kinds = np.empty(2 * count, np.int64)
    changes, size = compare_offers(memory, trees, relation, due, count, kinds)
    numbers, kinds = trees.relations[relation], kinds[:size]
    arity = numbers[ARITY]
    better = 0
    for i in range(size):
        better += kinds[i] == FOUND
    if better == 0:
        return 0, 0
    note_found(notes, control, relation, changes, kinds)
    for number in range(numbers[CURRENT], numbers[MOVING]):
        order = trees.orders[number]
        inserts = picked(changes, kinds, FOUND, FOUND, order, arity, arity)
        change_tree(
            memory, trees, number, inserts, picked(changes, kinds, LOST, LOST, order, arity, arity)
        )
    for number in range(numbers[MOVING], numbers[OVER_DELETED]):
        made = picked(changes, kinds, FOUND, FOUND, trees.orders[number], arity, arity)
        replace_tree(
            memory, trees.records[number], *build(memory, trees.layouts[number], made, better)
        )
    return better, size * (numbers[MOVING] - numbers[CURRENT])


@compiled
def take_all(memory, trees, control, due, notes, moves):
    """As `take_better`, of every relation; `moves`: the rows of each delta. Whether
    there are any.
    """
    control[COST] += control[ITERATION_COST] + control[DUE] * control[DUE_COST]
    found = 0
    for relation in range(trees.relations.shape[0]):
        better, changed = take_better(memory, trees, control, relation, due, notes)
        control[COST] += control[MOVE_COST] * changed
        moves[relation, 0] = better
        found += better
    return found > 0


@compiled
def run_improvement(memory, around, trees, questions, due, found, notes, control):
    """Do iterations until nothing is offered or STATUS says why not; the first DUE records of `due`
    are offers, as is what they are then. `notes`, where there is room for any: the rows that each
    iteration found.
    """
    moves = np.zeros((trees.relations.shape[0], 2), np.int64)
    control[STATUS] = FINISHED
    while control[DUE] > 0:
        if at_limit(control):
            control[STATUS] = LIMIT
            return
        noted = control[NOTED]
        room = notes.shape[0] == 0 or noted + control[DUE] <= notes.shape[0]
        control[STATUS] = LEFT if room and has_room(memory, control) else FULL
        if control[STATUS] == FULL or control[DUE] > control[MOST_DUE]:
            return
        work, cost = control[WORK], control[COST]
        count = 0
        improved = take_all(memory, trees, control, due, notes, moves)
        if improved:
            count = ask_all(around, trees, questions, control, moves, -1, found, 0)
        end_iteration(memory, trees, count >= 0)
        if count < 0:
            control[WORK], control[COST], control[NOTED] = work, cost, noted
            return
        for i in range(count):
            for word in range(found.shape[1]):
                due[i, word] = found[i, word]
        control[DUE] = count
        control[ITERATIONS] += improved
        control[STATUS] = FINISHED
