# SPDX-License-Identifier: Apache-2.0
"""Proofs that wait for their iteration, in compiled code: a heap of records, the least of which
come out first.

A record is an iteration, the number of a relation, a row and a signed number of proofs. Records are
ordered by all but the last word, so the records of one iteration come out relation by relation, row
by row, and equal ones one after the other. Places of records are never moved: `heap` names them, in
its first `size` entries the places in use, in the rest the free ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftj.scantree.jit import compiled, inlined, load, store

# words of a record; the row begins at ROW and the number of proofs is the last word
DUE_IN = 0
HEAD = 1
ROW = 2


class Waiting(NamedTuple):
    """A heap; record i is entries[i, :]."""

    entries: np.ndarray
    heap: np.ndarray


@inlined
def same_key(entries, i, others, j):
    """Test for two records of one row in one iteration."""
    for word in range(entries.shape[1] - 1):
        if entries[i, word] != others[j, word]:
            return False
    return True


@inlined
def precedes(entries, i, j):
    """Compare two records of the queue."""
    for word in range(entries.shape[1] - 1):
        if entries[i, word] != entries[j, word]:
            return entries[i, word] < entries[j, word]
    return False


@compiled
def push(waiting, size, records, number):
    """Let a record wait; there is room. The new size."""
    entries, heap = waiting.entries, waiting.heap
    record = load(heap, size)
    for word in range(entries.shape[1]):
        entries[record, word] = records[number, word]
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if not precedes(entries, record, load(heap, above)):
            break
        store(heap, place, load(heap, above))
        place = above
    store(heap, place, record)
    return size + 1


@compiled
def pop(waiting, size):
    """Take out the least record, whose place is free from now on: heap[new size] names it. The new
    size.
    """
    entries, heap = waiting.entries, waiting.heap
    least = load(heap, 0)
    size -= 1
    record = load(heap, size)
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and precedes(entries, load(heap, below + 1), load(heap, below)):
            below += 1
        if not precedes(entries, load(heap, below), record):
            break
        store(heap, place, load(heap, below))
        place = below
    store(heap, place, record)
    store(heap, size, least)
    return size


@compiled
def take_due(waiting, size, due):
    """Take what waits for the least iteration, proofs of one row added up: how many rows are in
    `due`, and the new size.

    Ends early, with a full `due`, when there are more rows than that.
    """
    entries, heap = waiting.entries, waiting.heap
    last = entries.shape[1] - 1
    rows = 0
    while size > 0:
        record = load(heap, 0)
        if rows > 0 and same_key(entries, record, due, rows - 1):
            due[rows - 1, last] += entries[record, last]
        elif rows == due.shape[0] or (rows > 0 and entries[record, DUE_IN] != due[0, DUE_IN]):
            break
        else:
            for word in range(entries.shape[1]):
                due[rows, word] = entries[record, word]
            rows += 1
        size = pop(waiting, size)
    return rows, size
