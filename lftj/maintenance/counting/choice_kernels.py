# SPDX-License-Identifier: Apache-2.0
"""Choice among the candidates of one iteration in compiled code, where values order as their codes
do: `Choosing` for a few rows.
"""

from __future__ import annotations

import numpy as np

from lftj.maintenance.counting.apply_iteration_kernels import (
    ARITY,
    BY_DOMAIN,
    DOMAIN,
    FOUND,
    HALF,
    HEIGHT,
    LOST,
    NEVER,
    NOWHERE,
    OWN,
    RECOUNTED,
    ROOT,
    change_tree,
    picked,
    sort_few,
)
from lftj.maintenance.counting.waiting_kernels import DUE_IN, HEAD, ROW
from lftj.scantree.jit import compiled, inlined
from lftj.scantree.read_kernels import read_edges


@compiled
def ranked(rows, stood, kinds, order, width, iteration, coming):
    """The candidates that come to the ranking in this iteration, or those that go, as it has them:
    domain, iteration, other columns.
    """
    count = 0
    for i in range(kinds.size):
        count += (
            kinds[i] == FOUND
            if coming
            else kinds[i] == LOST or (kinds[i] == FOUND and stood[i] != NOWHERE)
        )
    out = np.empty((rows.shape[0], count), np.int64)
    at = 0
    for i in range(kinds.size):
        if not (
            kinds[i] == FOUND
            if coming
            else kinds[i] == LOST or (kinds[i] == FOUND and stood[i] != NOWHERE)
        ):
            continue
        for place in range(rows.shape[0] - 1):
            out[place + (place >= width), at] = rows[order[place], i]
        out[width, at] = iteration if coming else stood[i]
        at += 1
    sort_few(out, out.shape[0])
    return out


@compiled
def change_candidates(memory, trees, relation, rows, stood, kinds, iteration):
    """Bring the candidates of a relation and their ranking up to date with what happens to due
    rows.
    """
    numbers = trees.relations[relation]
    arity, width, own = numbers[ARITY], numbers[DOMAIN], numbers[OWN]
    identity, order = trees.orders[own], trees.orders[numbers[BY_DOMAIN]]
    inserts = picked(rows, kinds, RECOUNTED, FOUND, identity, arity + 1, arity)
    change_tree(
        memory, trees, own, inserts, picked(rows, kinds, LOST, LOST, identity, arity, arity)
    )
    inserts = ranked(rows, stood, kinds, order, width, iteration, True)
    erases = ranked(rows, stood, kinds, order, width, iteration, False)
    if inserts.size > 0 or erases.size > 0:  # not where rows are only recounted
        change_tree(memory, trees, own + 1, inserts, erases)


@compiled
def groups_of(rows, order, width):
    """The values of the domain, the first `width` columns of this order, in these rows: the columns
    of a matrix, ascending.
    """
    out = np.empty((width, rows.shape[1]), np.int64)
    for line in range(width):
        for i in range(rows.shape[1]):
            out[line, i] = rows[order[line], i]
    sort_few(out, width)
    count = 0
    for i in range(rows.shape[1]):
        new = i == 0
        for line in range(width):
            new = new or out[line, i] != out[line, count - 1]
        if new:
            for line in range(width):
                out[line, count] = out[line, i]
            count += 1
    return out[:, :count].copy()


@compiled
def first_rows(memory, trees, number, groups, lines):
    """Find the first row of each group in a tree: whether there is one, and so many words of it."""
    found = np.zeros(groups.shape[1], np.bool_)
    out = np.zeros((lines, groups.shape[1]), np.int64)
    record = trees.records[number]
    if record[ROOT] != 0:
        layout, alike = trees.layouts[number], groups.shape[0]
        read_edges(memory, record[ROOT], record[HEIGHT], layout, groups, alike, False, found, out)
    return found, out


@inlined
def note(moved, stood, kinds, at, row, order, word, kind, left):
    """Make a row, given in another order, number `at` of those that move."""
    for place in range(moved.shape[0] - 1):
        moved[order[place], at] = row[place]
    moved[moved.shape[0] - 1, at] = word
    kinds[at], stood[at] = kind, left


@compiled
def accept(memory, trees, relation, rows, iteration, proven, count):
    """Decide the accepted rows after candidates in the groups of `rows` changed: rows, kinds,
    iterations they were in.

    Candidates that are due again, with no proofs, are appended to `proven`, which has `count`
    records; the new number.
    """
    numbers = trees.relations[relation]
    arity, width = numbers[ARITY], numbers[DOMAIN]
    order = trees.orders[numbers[BY_DOMAIN]]
    groups = groups_of(rows, order, width)
    there, ranks = first_rows(memory, trees, numbers[OWN] + 1, groups, arity + 1)
    present, holds = first_rows(memory, trees, numbers[BY_DOMAIN], groups, arity + 1)
    moved = np.empty((arity + 1, 2 * there.size), np.int64)
    stood, kinds = np.empty(2 * there.size, np.int64), np.empty(2 * there.size, np.int64)
    first = np.empty(arity, np.int64)
    at = 0
    for i in range(there.size):
        stands = ranks[width, i] if there[i] else NEVER
        if stands < iteration:
            continue
        same = present[i] and stands == iteration
        for place in range(arity):
            first[place] = ranks[place + (place >= width), i]
            same = same and first[place] == holds[place, i]
        held = holds[arity, i] >> HALF
        if stands == iteration and not (same and held == iteration):
            note(
                moved,
                stood,
                kinds,
                at,
                first,
                order,
                iteration << HALF,
                FOUND,
                held if same else NOWHERE,
            )
            at += 1
        if present[i] and not same:
            note(moved, stood, kinds, at, holds[:, i], order, 0, LOST, held)
            at += 1
        if stands > iteration and there[i]:
            record = proven[count]
            record[:] = 0
            record[DUE_IN], record[HEAD] = stands, relation
            for place in range(arity):
                record[ROW + order[place]] = first[place]
            count += 1
    return moved[:, :at].copy(), stood[:at].copy(), kinds[:at].copy(), count
