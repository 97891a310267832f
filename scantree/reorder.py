# SPDX-License-Identifier: Apache-2.0
"""A tree's rows in another key order.

They are sorted by no more columns than need be: rows in the order of (a, b, c, d) that are then
sorted by c, equal ones staying as they are, are in the order of (c, a, b, d).

Making one reads and writes every row once and sorts one word a row in between: the fresh memory
that the new leaves take costs more than the work. Rows that do not fit into a word, and rows so few
that loading more code would cost more than it saves, take the way by columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.scantree.buffer_pool import give_back, unfilled
from lftj.scantree.columns import as_matrix
from lftj.scantree.packing_kernels import KEY_BITS
from lftj.scantree.page_kernels import FAN_CAPACITY, LEAF_CAPACITY
from lftj.scantree.reorder_kernels import pack_leaves, survey_leaves
from lftj.scantree.rows import sort_order
from lftj.scantree.tree import Tree
from lftj.scantree.word_sort import sort_words

FEW = 1 << 14
"""Rows below which they are reordered by columns."""


def columns_to_sort(order: Sequence[int]) -> int:
    """Number of leading columns of a key order by which ascending rows have to be sorted. The
    columns behind these are in order already.
    """
    first = len(order)
    while first and (first == len(order) or order[first - 1] < order[first]):
        first -= 1
    return first


def reordered(tree: Tree, order: Sequence[int], dropped: int = 0) -> Tree:
    """The rows of `tree` with its key columns in this order, the low `dropped` bits of every value
    zero. Aggregates are not kept.

    O(n log n), by sorting plain integers where a row's columns, each as wide as its range, fit into
    63 bits.
    """
    like = Tree.empty(
        tree.arena,
        tree.key_width,
        tree.value_width,
        leaf_capacity=int(tree.layout[LEAF_CAPACITY]),
        fan=int(tree.layout[FAN_CAPACITY]),
    )
    if not len(tree):
        return like
    found = packed(tree, like, order, dropped) if len(tree) >= FEW else None
    return by_columns(tree, like, order, dropped) if found is None else found


def packed(tree: Tree, like: Tree, order: Sequence[int], dropped: int) -> Tree | None:
    """`reordered` by packed rows, None where they are too wide. `like`: a tree of that layout;
    `tree` has rows.
    """
    columns = np.array(
        [*order, *range(tree.key_width, tree.key_width + tree.value_width)], np.int64
    )
    zeros = np.where(columns < tree.key_width, 0, dropped)
    lows, highs = np.empty((2, len(columns)), np.int64)
    memory = tree.arena.memory
    survey_leaves(memory, tree.root, tree.height, columns, zeros, lows, highs)
    widths = [
        (high - low).bit_length() for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
    ]
    if sum(widths) > KEY_BITS:
        return None
    bits, rows = np.array(widths, np.int64), unfilled(len(tree))
    pack_leaves(memory, tree.root, tree.height, columns, zeros, lows, bits, rows)
    in_order = sum(widths[columns_to_sort(order) :])
    sort_words(rows, sum(widths), in_order, tree.arena.threads)
    found = like.with_packed(rows, lows, bits, zeros)
    give_back(rows)
    return found


def by_columns(tree: Tree, like: Tree, order: Sequence[int], dropped: int) -> Tree:
    """`reordered` by whole columns."""
    width = tree.key_width
    rows = as_matrix(
        tree.columns([*order, *range(width, width + tree.value_width)]), width + tree.value_width
    )
    if first := columns_to_sort(order):
        rows = rows.take(sort_order(list(rows[:first])), axis=1)
    rows[width:] = rows[width:] >> dropped << dropped
    return like.apply(rows)
