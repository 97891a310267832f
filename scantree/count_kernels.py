# SPDX-License-Identifier: Apache-2.0
"""A change of counts: each row's value is added to, rows that come to 0 go, rows that were not
there come. One descent for all of it.

A leaf that a change touches is searched, judged and written while it is at hand, where a look-up
and a change would go there twice.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.apply_kernels import change_above, words_lacking
from lftj.scantree.jit import compiled, load
from lftj.scantree.leaf_kernels import fetched_leaf, leaf_path, remake_leaf, share_end
from lftj.scantree.page_kernels import ENTRIES, KEYS, LEAF_CAPACITY, discard, leaf_column
from lftj.scantree.piece_kernels import PIECE_WORDS
from lftj.scantree.rows_kernels import sums_wrap
from lftj.scantree.seek_kernels import compare_leaf_row, slot_from

DONE, OVERFLOW, NEGATIVE = 0, 1, 2
"""Outcomes: done, a count left int64, a count fell below zero."""

# words of `found`
WRITTEN = 0  # rows that are there afterwards
GONE = 1
FRESH = 2  # rows that were not there before
FOUND_WORDS = 3


@compiled
def count_row(rows, row, before, amount, written, gone, fresh, found):
    """Note what one row comes to: its new count in `written`, or the row in `gone`; in `fresh` too
    where it was not there. A status.
    """
    after = before + amount
    if sums_wrap(before, amount, after):
        return OVERFLOW
    if after < 0:
        return NEGATIVE
    keys = rows.shape[0]
    if after == 0:
        for column in range(keys):
            gone[column, found[GONE]] = rows[column, row]
        found[GONE] += 1
        return DONE
    for column in range(keys):
        written[column, found[WRITTEN]] = rows[column, row]
    written[keys, found[WRITTEN]] = after
    found[WRITTEN] += 1
    if before == 0:
        for column in range(keys):
            fresh[column, found[FRESH]] = rows[column, row]
        found[FRESH] += 1
    return DONE


@compiled
def count_share(memory, layout, leaf, rows, amounts, first, last, written, gone, fresh, found):
    """`count_row` for rows [first, last), which belong to one leaf. The worst status."""
    keys = layout[KEYS]
    entries = memory[leaf + ENTRIES]
    slot = 0
    worst = DONE
    for row in range(first, last):
        slot = slot_from(memory, leaf, slot, entries, keys, rows, row)
        there = slot < entries and compare_leaf_row(memory, leaf, slot, keys, rows, row) == 0
        before = load(memory, leaf_column(leaf, keys) + slot) if there else 0
        worst = max(worst, count_row(rows, row, before, amounts[row], written, gone, fresh, found))
    return worst


@compiled
def add_counts(memory, layout, root, height, rows, amounts, written, gone, fresh, found):
    """The tree at `root` (not 0; its first value column holds counts, of at least 1) with
    `amounts`, none 0, added to those of `rows`.

    `rows` (shape keys × n) ascend strictly. `written` (keys + 1 × n), `gone` and `fresh` (keys × n)
    get rows as `count_row` says, `found` their numbers. (root, height, status); the root is 0
    unless all went well and rows are left, and as `words_lacking` where the arena may lack room.
    """
    changes = rows.shape[1]
    lacking = words_lacking(memory, layout, height, changes, 0)
    if lacking < 0:
        return lacking, 0, DONE
    paths = np.empty(changes, np.int64)
    ends = np.empty(changes, np.int64)
    pages = np.empty(2 * changes + 2 * (changes // layout[LEAF_CAPACITY]) + 2, np.int64)
    pieces = np.empty((2 * changes + 1, PIECE_WORDS), np.int64)
    touched = made = row = 0
    status = DONE
    path = leaf_path(memory, root, height, layout[KEYS], rows, row)
    leaf = fetched_leaf(memory, root, height, layout, path)
    while row < changes and status == DONE:
        end = share_end(memory, root, height, layout[KEYS], path, rows, row)
        next_path, following = path, leaf
        if end < changes:
            next_path = leaf_path(memory, root, height, layout[KEYS], rows, end)
            following = fetched_leaf(memory, root, height, layout, next_path)
        in_at, out_at = found[WRITTEN], found[GONE]
        status = count_share(
            memory, layout, leaf, rows, amounts, row, end, written, gone, fresh, found
        )
        made = remake_leaf(
            memory,
            layout,
            leaf,
            written,
            in_at,
            found[WRITTEN],
            gone,
            out_at,
            found[GONE],
            pieces,
            pages,
            made,
        )
        paths[touched], ends[touched] = path, made
        touched += 1
        row, path, leaf = end, next_path, following
    if status != DONE:
        for i in range(made):
            discard(memory, pages[i])
        return 0, 0, status
    top, height = change_above(memory, layout, root, height, touched, paths, ends, pages)
    return top, height, DONE
