# SPDX-License-Identifier: Apache-2.0
"""Compiled passes over a change: which rows it nets to, and where its groups begin. A change is
small, mostly.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled, load, store
from lftj.scantree.rows_kernels import sums_wrap

_NULL = -(2**63)
"""The code of NULL in optional columns."""
DONE, OVERFLOW = 0, 1
"""Outcomes: done, a count left int64."""


@compiled
def compare_rows(rows, i, j):
    """−1, 0, 1 as column i of `rows` (shape width × n) is before, equal to or after column j."""
    for column in range(rows.shape[0]):
        if rows[column, i] != rows[column, j]:
            return -1 if rows[column, i] < rows[column, j] else 1
    return 0


@compiled
def net_few(rows, signed, net_rows, net):
    """Sort few rows by insertion, add up the counts of equal ones, drop those that come to 0: (rows
    left, status). O(n² · width).
    """
    order = np.empty(signed.size, np.int64)
    for i in range(signed.size):
        at = i
        while at > 0 and compare_rows(rows, order[at - 1], i) > 0:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
    kept = 0
    status = DONE
    i = 0
    while i < order.size:
        total = 0
        first = order[i]
        while i < order.size and compare_rows(rows, first, order[i]) == 0:
            added = total + signed[order[i]]
            if sums_wrap(total, signed[order[i]], added):
                status = OVERFLOW
            total = added
            i += 1
        if total != 0:
            for column in range(rows.shape[0]):
                net_rows[column, kept] = rows[column, first]
            net[kept] = total
            kept += 1
    return kept, status


@compiled
def divide(rows, net, width, starts, moved):
    """Find the start of each run of equal first `width` columns of ascending rows, and sum its
    counts: (runs, status).
    """
    runs = 0
    status = DONE
    for i in range(net.size):
        fresh = i == 0
        for column in range(width):
            if not fresh and rows[column, i] != rows[column, i - 1]:
                fresh = True
        if fresh:
            starts[runs] = i
            moved[runs] = 0
            runs += 1
        total = moved[runs - 1] + net[i]
        if sums_wrap(moved[runs - 1], net[i], total):
            status = OVERFLOW
        moved[runs - 1] = total
    return runs, status


@compiled
def keep_values(codes, column, kept):
    """Write what a column has in rows whose code is not NULL, as many as there is room for."""
    row, many = 0, 0
    while many < kept.size:
        store(kept, many, load(column, row))
        many += 0 if load(codes, row) == _NULL else 1  # no branch, which would be missed
        row += 1
