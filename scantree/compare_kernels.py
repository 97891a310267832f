# SPDX-License-Identifier: Apache-2.0
"""Compiled comparison of rows that come with rows that are there, a stretch of both at a time."""

from __future__ import annotations

from lftj.scantree.jit import compiled, inlined, load, store

# words of the state
ROW = 0  # the next row that comes
ROWS = 1  # rows of the stretch
SLOT = 2  # the next row that is there
LAST = 3  # what is known of the last row that came
CAME = 4  # rows that came and are not there
WENT = 5  # rows that are there and did not come
FINAL = 6  # 1: behind these rows there are no others
WORDS = 7

# of the last row that came
NONE, KNOWN, NEW = 0, 1, 2

STRETCH = 64  # rows that are compared in vain, at most, where each differs
LONGEST = 1 << 12


@inlined
def equal_rows(mine, row, theirs, slot, most):
    """The number of rows from there on, up to `most`, that are equal."""
    equal = most
    for column in range(mine.shape[0]):
        one = mine[column, row : row + equal]
        other = theirs[column, slot : slot + equal]
        unlike = 0
        for i in range(equal):
            unlike |= load(one, i) ^ load(other, i)
        if unlike != 0:
            equal = 0
            while load(one, equal) == load(other, equal):
                equal += 1
    return equal


@inlined
def comes_before(mine, row, theirs, slot):
    """Test for a row that comes before another, which is not equal."""
    column = 0
    while mine[column, row] == theirs[column, slot]:
        column += 1
    return mine[column, row] < theirs[column, slot]


@inlined
def ascends(mine, row, before, width):
    """Test for a row that is behind the one before it in the first columns."""
    for column in range(width):
        value = mine[column, row - 1] if row > 0 else load(before, column)
        if value != mine[column, row]:
            return value < mine[column, row]
    return False


@compiled
def all_ascend(mine, row, rows, before, width):
    """Test for rows each of which is behind the one before it in the first columns."""
    while row < rows and ascends(mine, row, before, width):
        row += 1
    return row == rows


@compiled
def compare(mine, theirs, width, state, before, came, went):
    """Compare the next rows that come, in a stretch, with those that are there until one side is at
    its end, and note the numbers of those that one side alone has. `before` keeps the last row that
    came.

    False where the rows that come do not ascend in their first `width` columns, in which those that
    are there ascend. O(rows).
    """
    row, slot, last = load(state, ROW), load(state, SLOT), load(state, LAST)
    rows, slots, final = load(state, ROWS), theirs.shape[1], load(state, FINAL) == 1
    added, removed, stretch = 0, 0, STRETCH
    while row < rows and (slot < slots or final):
        most = min(stretch, rows - row, slots - slot)
        equal = equal_rows(mine, row, theirs, slot, most)
        if equal == 0 and slot < slots and not comes_before(mine, row, theirs, slot):
            store(went, removed, slot)
            slot, removed, stretch = slot + 1, removed + 1, STRETCH
            # so many that did not come: before all are passed over it is seen whether rows ascend
            if removed == STRETCH and not all_ascend(mine, row + 1, rows, before, width):
                return False
            continue
        unsure = last == NEW or (last == KNOWN and equal == 0)
        if unsure and not ascends(mine, row, before, width):
            return False
        if equal == 0:
            store(came, added, row)
            row, added, last, stretch = row + 1, added + 1, NEW, STRETCH
        else:
            row, slot, last = row + equal, slot + equal, KNOWN
            stretch = min(2 * stretch, LONGEST) if equal == most else STRETCH
    for column in range(mine.shape[0] if row > 0 else 0):
        store(before, column, mine[column, row - 1])
    store(state, ROW, row)
    store(state, SLOT, slot)
    store(state, LAST, last)
    store(state, CAME, added)
    store(state, WENT, removed)
    return True
