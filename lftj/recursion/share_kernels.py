"""The joins of one round in compiled code: shares of the work one after another, their rows straight into the sets of their heads.

Threads enter `work` at the same time, each with its number, and take shares until none is left; no thread waits for the interpreter
meanwhile. What a kernel cannot do ends the call of every thread at the next block of rows: a set or a note of new rows without room, a
row out of a set's ranges, an expression that fails. The thread that met it keeps its place, and goes on when it is called again.

A share is a plan that is assembled (`lftj.join.prepared`) with a state of its own, so pieces of one join are shares of one plan.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftj.join.bitmap_kernels import clear_cache
from lftj.join.layout_kernels import BUDGET, CAPACITY, DONE, FAILED, PAUSED, ROWS, STEPS
from lftj.recursion.row_set_kernels import BLOCK, EMPTY, mark, put, slot_of
from scantree.jit import call, claim, compiled, fetch, inlined, load, store

# words of a share
PLAN = 0  # addresses
STATE = 1
LOG = 2
HEAD = 3  # the set that its rows go into
FIRST_PICK = 4  # the head's columns, as columns of the output
FOUND = 5  # rows that came out
SHARE_WORDS = 6
# words of a set
KIND = 0
TABLE = 1  # an address
SHIFT = 2
ROOM = 3  # rows that may come before the table has to grow
FIRST_COLUMN = 4
WIDTH = 5
SET_WORDS = 6
# kinds of sets
OTHER = 0  # kept by the interpreter
DENSE = 1
SPARSE = 2
NARROW = 3  # slots of half a word

# words of a column of a set
LOW = 0
SPAN = 1
PLACE = 2  # its shift
COLUMN_WORDS = 3
# words of a lane, which has the new rows of one set that one thread found
WORDS = 0  # an address
COUNT = 1
LENGTH = 2
LANE_WORDS = 3

# words of a worker, which is what a thread works with
SHARE = 0  # the one in work, or −1
STATUS = 1
SPENT = 2  # steps since somebody looked
ENDED = 3  # 1: the share's plan has run to its end
TAKEN = 4  # rows of the output that are in the set
OUT = 5  # addresses: the output, a bitmap
CACHE = 6
WORKER_WORDS = 16  # two lines of the processor's cache: threads do not write into each other's

# words of the control
NEXT = 0  # the share to take
STOP = 8  # 1: threads come back
MOST = 16  # steps of one call
SHARED = 17  # 1: several threads
CONTROL_WORDS = 24

# statuses of a worker
DRY = 0  # no share is left
SPELL = 1  # the steps of one call are spent, or another worker stopped
FULL_SET = 2  # the set, or the lane, has no room
OUTSIDE = 3  # the set cannot take the row at TAKEN
BROKEN = 4  # an expression failed

_HALF = (1 << 32) - 1


class Shares(NamedTuple):
    """All arrays of a round. `shares`, `sets`, `columns` and `workers` are matrices of the words above, `lanes` workers × sets × words."""

    control: np.ndarray
    shares: np.ndarray
    picks: np.ndarray
    sets: np.ndarray
    columns: np.ndarray
    lanes: np.ndarray
    workers: np.ndarray


@inlined
def put_narrow(table, packed, shift, shared):
    """As `put`, with two slots in each word."""
    mask = (1 << (64 - shift)) - 1
    entry = packed + 1
    slot = slot_of(packed, shift)
    while True:
        at, bits = slot >> 1, (slot & 1) << 5
        word = load(table, at)
        found = (word >> bits) & _HALF
        if found == entry:
            return 1
        if found != EMPTY:
            slot = (slot + 1) & mask
        elif not shared:
            store(table, at, word | (entry << bits))
            return 0
        elif claim(table, at, word, word | (entry << bits)) == word:
            return 0


@inlined
def pack(out, room, first, last, columns, picks, block):
    """Pack rows [first, last) of an output into `block`; a negative number when a value lies outside the ranges."""
    outside = 0
    for column in range(columns.shape[0]):
        low, span, shift = columns[column, LOW], columns[column, SPAN], columns[column, PLACE]
        start = load(picks, column) * room + first
        for i in range(last - first):
            value = load(out, start + i) - low
            outside |= value | (span - value)
            store(block, i, (load(block, i) if column > 0 else 0) | (value << shift))
    return outside


@compiled
def add_rows(out, room, first, rows, columns, picks, kind, table, shift, shared, lane):
    """Add rows [first, rows) of an output to a set with room for them; how far, which is before a block with a row out of range."""
    block = np.empty(BLOCK, np.int64)
    fresh, count = lane[WORDS], lane[COUNT]
    while first < rows:
        last = min(first + BLOCK, rows)
        if pack(out, room, first, last, columns, picks, block) < 0:
            break
        if kind == DENSE:
            for i in range(last - first):
                packed = load(block, i)
                store(fresh, count, packed)
                count += 1 - mark(table, packed, shared)
        elif kind == NARROW:
            for i in range(last - first):
                fetch(table, slot_of(load(block, i), shift) >> 1)
            for i in range(last - first):
                packed = load(block, i)
                store(fresh, count, packed)
                count += 1 - put_narrow(table, packed, shift, shared)
        else:
            for i in range(last - first):
                fetch(table, slot_of(load(block, i), shift))
            for i in range(last - first):
                packed = load(block, i)
                store(fresh, count, packed)
                count += 1 - put(table, packed, shift, shared)
        first = last
    lane[COUNT] = count
    return first


@inlined
def gain(words, at, more):
    """Add to a word that other threads change too."""
    found = load(words, at)
    while True:
        seen = claim(words, at, found, found + more)
        if seen == found:
            break
        found = seen
    return found


@compiled
def hand_in(arrays, thread, worker, share):
    """Put the rows of an output into the set of their head: the status that this ends with, DRY when all are in."""
    state, head = share[STATE], arrays.sets[share[HEAD]]
    rows, lane = load(state, ROWS), arrays.lanes[thread, share[HEAD]]
    more = rows - worker[TAKEN]
    if more > 0:
        if head[KIND] == OTHER:
            return OUTSIDE
        if lane[COUNT] + more > lane[LENGTH]:
            return FULL_SET
        if head[KIND] != DENSE and gain(head, ROOM, -more) < more:
            gain(head, ROOM, more)
            return FULL_SET
        before = lane[COUNT]
        columns = arrays.columns[head[FIRST_COLUMN] : head[FIRST_COLUMN] + head[WIDTH]]
        picks = arrays.picks[share[FIRST_PICK] : share[FIRST_PICK] + head[WIDTH]]
        shared = arrays.control[SHARED] != 0
        out, room, taken = worker[OUT], load(state, CAPACITY), worker[TAKEN]
        until = add_rows(out, room, taken, rows, columns, picks, head[KIND], head[TABLE], head[SHIFT], shared, lane)
        worker[TAKEN] = until
        if head[KIND] != DENSE:
            gain(head, ROOM, more - (lane[COUNT] - before))
        if until < rows:
            return OUTSIDE
    share[FOUND] += rows
    worker[TAKEN] = 0
    store(state, ROWS, 0)
    return DRY


@inlined
def take_share(arrays, worker):
    """Take the next share, if there is one."""
    number = gain(arrays.control, NEXT, 1) if load(arrays.control, NEXT) < arrays.shares.shape[0] else arrays.shares.shape[0]
    if number >= arrays.shares.shape[0]:
        return False
    worker[SHARE], worker[ENDED], worker[TAKEN] = number, 0, 0
    return True


@compiled
def work(run, memory, offsets, text, arrays, thread):
    """Do shares until none is left or STATUS says why not. Any number of threads at a time, each with the number of its worker.

    `run`: where the code of the triejoin is.
    """
    control, worker = arrays.control, arrays.workers[thread]
    worker[STATUS] = DRY
    paused = False
    while True:
        if worker[SHARE] < 0 and not take_share(arrays, worker):
            return
        share = arrays.shares[worker[SHARE]]
        state = share[STATE]
        if not paused:
            worker[STATUS] = hand_in(arrays, thread, worker, share)
            if worker[STATUS] != DRY:
                control[STOP] = 1
                return
        if worker[ENDED] != 0:
            clear_cache(worker[CACHE], state)
            worker[SHARE] = -1
            continue
        if worker[SPENT] >= control[MOST] or claim(control, STOP, 0, 0) != 0:
            worker[STATUS] = SPELL
            return
        before = load(state, STEPS)
        store(state, BUDGET, before + control[MOST] - worker[SPENT])
        status = call(run, memory, share[PLAN], state, offsets, text, worker[CACHE], worker[OUT], share[LOG])
        worker[SPENT] += load(state, STEPS) - before
        if status == FAILED:
            worker[STATUS] = BROKEN
            control[STOP] = 1
            return
        worker[ENDED] = int(status == DONE)
        paused = status == PAUSED
