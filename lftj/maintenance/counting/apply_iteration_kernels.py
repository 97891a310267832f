# SPDX-License-Identifier: Apache-2.0
"""Application of the rows due in an iteration to the trees of their relations, in compiled code and
for a few rows at a time.

The trees of a run of iterations are numbered. Each has a record of words, a layout (`scantree`) and
a key order, the places of a row's columns; the derivation count has the place behind them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftj.maintenance.counting.waiting_kernels import DUE_IN, ROW
from lftj.scantree.apply_kernels import apply
from lftj.scantree.build_kernels import build
from lftj.scantree.jit import compiled, inlined
from lftj.scantree.page_kernels import LEAF_CAPACITY, REFERENCES, leaf_column, release
from lftj.scantree.piece_kernels import compare_columns
from lftj.scantree.read_kernels import find_row

# words of a relation's record; where there is a choice, rows stand and are counted as candidates,
# and its trees have those accepted
ARITY = 0  # columns of its rows, as stored
# its trees, the identity order first; then those of the rows that move; then those of the rows that
# are lost
CURRENT = 1
MOVING = 2
OVER_DELETED = 3
TREES_END = 4
FIRST_MOVED = 5  # the questions that its moving rows ask
LAST_MOVED = 6
FIRST_LOST = 7  # the questions that its lost rows ask
LAST_LOST = 8
FIRST_DOUBTED = 9  # the questions that only its rows in doubt ask, beside these
LAST_DOUBTED = 10
# where rows stand and are counted: CURRENT, or the tree of candidates, which their ranking follows
OWN = 11
DOMAIN = 12  # columns of the choice domain
BY_DOMAIN = 13  # a tree of the rows accepted whose order begins with these
FIXED = 14  # 1: ranks stay while rows do
BEFORE = 15  # its rows before the update
GIVEN = 16  # its base rows before the update
RELATION_WORDS = 17

# words of a tree's record
ROOT = 0
HEIGHT = 1
ROOT_BEFORE = 2
HEIGHT_BEFORE = 3
CHANGED = 4  # 1: ROOT is new in this iteration and has a reference of its own
TREE_WORDS = 5

# what happens to a row
NOTHING = 0
RECOUNTED = 1
FOUND = 2
LOST = 3
DOUBTED = 4  # its support was not counted, and it may have lost all
FALLEN = 5  # LOST after doubt, which told where it may return
BROKEN = 6

BLOCK = 16  # columns that are sorted by insertion
HALF = 32  # bits of a standing that count proofs
LOWER = (1 << HALF) - 1
UNCOUNTED = 1 << 31  # see `derivation_count`
NOWHERE = -1  # where a row stood that was not there


class Trees(NamedTuple):
    """`relations`, `records`, `layouts` and `orders` by number."""

    relations: np.ndarray
    records: np.ndarray
    layouts: np.ndarray
    orders: np.ndarray


@inlined
def less(rows, keys, i, j):
    """Compare columns i and j of a matrix in its first `keys` lines."""
    for key in range(keys):
        if rows[key, i] != rows[key, j]:
            return rows[key, i] < rows[key, j]
    return False


@inlined
def insert(rows, keys, first, last):
    """Sort columns [first, last) by insertion."""
    for i in range(first + 1, last):
        j = i
        while j > first and less(rows, keys, j, j - 1):
            for line in range(rows.shape[0]):
                rows[line, j], rows[line, j - 1] = rows[line, j - 1], rows[line, j]
            j -= 1


@inlined
def merge(rows, keys, scratch, first, middle, last):
    """Merge columns [first, middle) and [middle, last), each sorted, by way of `scratch`."""
    for line in range(rows.shape[0]):
        for i in range(first, middle):
            scratch[line, i - first] = rows[line, i]
    i, j, at = 0, middle, first
    while i < middle - first:
        later = j < last and compare_columns(keys, rows, j, scratch, i) < 0
        for line in range(rows.shape[0]):
            rows[line, at] = rows[line, j] if later else scratch[line, i]
        j += later
        i += not later
        at += 1


@compiled
def sort_few(rows, keys):
    """Sort the columns of a matrix by its first `keys` lines: for some hundreds, or for many that
    are sorted.
    """
    size = rows.shape[1]
    for first in range(0, size, BLOCK):
        insert(rows, keys, first, min(first + BLOCK, size))
    scratch = np.empty((rows.shape[0], size if size > BLOCK else 0), np.int64)
    width = BLOCK
    while width < size:
        for first in range(0, size - width, 2 * width):
            middle = first + width
            if less(rows, keys, middle, middle - 1):
                merge(rows, keys, scratch, first, middle, min(middle + width, size))
        width *= 2


@compiled
def picked(rows, kinds, first, last, order, width, keys):
    """The columns of `rows` whose kind is in [first, last], their first `width` lines in another
    order, sorted by `keys` of these.
    """
    count = 0
    for i in range(kinds.size):
        count += first <= kinds[i] <= last
    out = np.empty((width, count), np.int64)
    at = 0
    for i in range(kinds.size):
        if first <= kinds[i] <= last:
            for line in range(width):
                out[line, at] = rows[order[line], i]
            at += 1
    sort_few(out, keys)
    return out


@compiled
def replace_tree(memory, record, root, height):
    """Let a tree's record name a new root, which gains a reference."""
    if record[CHANGED] == 1:
        release(memory, record[ROOT])
    record[ROOT], record[HEIGHT] = root, height
    record[CHANGED] = 1
    if root != 0:
        memory[root + REFERENCES] += 1


@compiled
def change_tree(memory, trees, number, inserts, erases):
    """Apply a change to the tree of this number."""
    record, layout = trees.records[number], trees.layouts[number]
    if record[ROOT] != 0:
        root, height = apply(memory, layout, record[ROOT], record[HEIGHT], inserts, erases)
    else:
        root, height = build(memory, layout, inserts, layout[LEAF_CAPACITY])
    replace_tree(memory, record, root, height)


@compiled
def judge(memory, trees, relation, due, first, last, rows, stood, kinds):
    """Decide the due rows [first, last): write their `kinds`, their new derivation counts into
    `rows`, and the iterations they were in into `stood`.
    """
    arity = trees.relations[relation, ARITY]
    identity = trees.relations[relation, OWN]
    fixed = trees.relations[relation, FIXED] == 1
    root, height = trees.records[identity, ROOT], trees.records[identity, HEIGHT]
    layout = trees.layouts[identity]
    iteration = due[first, DUE_IN]
    for i in range(last - first):
        for column in range(arity):
            rows[column, i] = due[first + i, ROW + column]
        count = due[first + i, due.shape[1] - 1]
        leaf, slot = find_row(memory, root, height, layout, rows, i)
        word = memory[leaf_column(leaf, arity) + slot] if leaf != 0 else NOWHERE
        stood[i] = word >> HALF if leaf != 0 else NOWHERE
        kinds[i] = NOTHING
        if count == 0 or (leaf != 0 and stood[i] < iteration):
            continue
        here = leaf != 0 and (fixed or stood[i] == iteration)
        if here:
            count += word & LOWER
        uncounted = here and (word & LOWER) >= UNCOUNTED
        if uncounted:
            kinds[i] = RECOUNTED if count > UNCOUNTED else DOUBTED
        elif count < 0 or count >= UNCOUNTED:
            kinds[i] = BROKEN
        elif here:
            kinds[i] = RECOUNTED if count > 0 else LOST
        else:
            kinds[i] = FOUND
        rows[arity, i] = ((stood[i] if here else iteration) << HALF) | count


@compiled
def gather_moves(rows, stood, kinds, iteration):
    """Rows as they were, with the complement of their standing, and as they are: a matrix that ends
    with the standing, unsorted.
    """
    count = 0
    for i in range(kinds.size):
        count += (
            (kinds[i] == FOUND) + (kinds[i] == LOST) + (kinds[i] == FOUND and stood[i] != NOWHERE)
        )
    moves = np.empty((rows.shape[0], count), np.int64)
    at = 0
    for i in range(kinds.size):
        for turn in range(2):
            if kinds[i] == FOUND and turn == 0:
                word = iteration << HALF
            elif (kinds[i] == FOUND and stood[i] != NOWHERE) or (kinds[i] == LOST and turn == 0):
                word = ~(stood[i] << HALF)
            else:
                continue
            for line in range(rows.shape[0] - 1):
                moves[line, at] = rows[line, i]
            moves[rows.shape[0] - 1, at] = word
            at += 1
    return moves


@compiled
def move(memory, trees, numbers, rows, stood, kinds, iteration):
    """Bring a relation's trees up to date with what happens to rows, and make those of what moves.
    How many rows move.

    The rows' last line is changed.
    """
    arity = numbers[ARITY]
    moved = changed = 0
    for i in range(kinds.size):
        moved += kinds[i] >= FOUND
        changed += kinds[i] != NOTHING
    if changed == 0:
        return 0
    for number in range(numbers[CURRENT], numbers[MOVING]):
        if number > numbers[CURRENT] and moved == 0:
            break
        order = trees.orders[number]
        least = RECOUNTED if number == numbers[CURRENT] else FOUND
        inserts = picked(rows, kinds, least, FOUND, order, arity + 1, arity)
        change_tree(
            memory, trees, number, inserts, picked(rows, kinds, LOST, LOST, order, arity, arity)
        )
        for i in range(rows.shape[1]):
            rows[arity, i] &= ~LOWER  # other key orders know no counts
    if moved > 0:
        moves = gather_moves(rows, stood, kinds, iteration)
        every = np.zeros(moves.shape[1], np.int64)
        for number in range(numbers[MOVING], numbers[OVER_DELETED]):
            made = picked(moves, every, 0, 0, trees.orders[number], arity + 1, arity + 1)
            replace_tree(
                memory,
                trees.records[number],
                *build(memory, trees.layouts[number], made, made.shape[1]),
            )
    return moved


@compiled
def name_rows(memory, trees, numbers, rows, kinds, kind):
    """Make the trees of the rows of a kind, which are asked for proofs: those lost or in doubt."""
    for number in range(numbers[OVER_DELETED], numbers[TREES_END]):
        made = picked(rows, kinds, kind, kind, trees.orders[number], numbers[ARITY], numbers[ARITY])
        replace_tree(
            memory,
            trees.records[number],
            *build(memory, trees.layouts[number], made, made.shape[1]),
        )


@compiled
def end_iteration(memory, trees, keep):
    """Make the trees of this iteration those before the next, or (not `keep`) go back to those
    before it. Moves are forgotten.
    """
    for relation in range(trees.relations.shape[0]):
        numbers = trees.relations[relation]
        for number in range(numbers[OWN], numbers[TREES_END]):
            record = trees.records[number]
            if record[CHANGED] == 0:
                continue
            if keep and number < numbers[MOVING]:
                record[ROOT], record[ROOT_BEFORE] = record[ROOT_BEFORE], record[ROOT]
                record[HEIGHT], record[HEIGHT_BEFORE] = record[HEIGHT_BEFORE], record[HEIGHT]
            release(memory, record[ROOT])
            record[ROOT], record[HEIGHT] = record[ROOT_BEFORE], record[HEIGHT_BEFORE]
            record[CHANGED] = 0


# What becomes of many rows that are due in an iteration, by where they stand [Elastic, Algorithm
# 3].

GONE = -1
"""The standing of a row that is not there any more, among changes that are not applied yet."""
NEVER = (1 << 63) - 1
"""The iteration of a row that is not there."""


@compiled
def tell_iterations(found, first, iterations):
    """The iteration in which each column of `found` proves its head: the one after the latest of
    its standings, which are the lines from `first` on but for the last, its number of proofs. Where
    a standing is a complement, of a row as it was, that number becomes negative.
    """
    counts = found.shape[0] - 1
    for i in range(iterations.size):
        latest = -1
        for line in range(first, counts):
            word = found[line, i]
            if word < 0:
                word = ~word
                found[counts, i] = -found[counts, i]
            latest = max(latest, word >> HALF)
        iterations[i] = latest + 1


@compiled
def judge_rows(present, words, counts, iteration, fixed, kinds, stood):
    """Decide which due rows are FOUND in this iteration, RECOUNTED or LOST, and the iteration of
    each: into `kinds` and `stood`. `fixed`: ranks stay while rows do.

    `words` become the rows' new derivation counts. Return the least number of proofs that a row is
    left with, and the greatest.
    """
    least = most = 0
    for i in range(counts.size):
        word = words[i]
        stood[i] = word >> HALF if present[i] else NEVER
        kinds[i] = NOTHING
        if stood[i] < iteration or counts[i] == 0:
            continue
        here = stood[i] != NEVER and (fixed or stood[i] == iteration)
        count = counts[i] + (word & LOWER if here else 0)
        if here and word & LOWER >= UNCOUNTED:
            words[i] = (stood[i] << HALF) | count
            kinds[i] = RECOUNTED if count > UNCOUNTED else DOUBTED
            continue
        least, most = min(least, count), max(most, count)
        if here:
            kinds[i] = RECOUNTED if count > 0 else LOST
        elif count > 0:
            kinds[i] = FOUND
        words[i] = ((stood[i] if here else iteration) << HALF) | count
    return least, most


@compiled
def amend(rows, late, present, words):
    """Bring what was looked up for `rows` up to date with changes that came later. Both are in
    ascending order of rows.
    """
    keys = rows.shape[0]
    at = 0
    for i in range(rows.shape[1]):
        while at < late.shape[1] and compare_columns(keys, late, at, rows, i) < 0:
            at += 1
        if at < late.shape[1] and compare_columns(keys, late, at, rows, i) == 0:
            word = late[keys, at]
            present[i] = word != GONE
            words[i] = word if word != GONE else 0


@compiled
def follow(late, later, out):
    """Changes followed by later ones, which replace what is said of the same rows: their number.
    All ascend by rows.
    """
    keys = late.shape[0] - 1
    i = j = size = 0
    while i < late.shape[1] or j < later.shape[1]:
        order = -1
        if i == late.shape[1]:
            order = 1
        elif j < later.shape[1]:
            order = compare_columns(keys, late, i, later, j)
        for line in range(keys + 1):
            out[line, size] = late[line, i] if order < 0 else later[line, j]
        i += order <= 0
        j += order >= 0
        size += 1
    return size
