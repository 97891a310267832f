# SPDX-License-Identifier: Apache-2.0
"""Trees whose only value is a count, which changes add to: rows that come to 0 go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.columns import as_matrix
from lftj.scantree.count_kernels import DONE, FOUND_WORDS, FRESH, GONE, OVERFLOW, WRITTEN
from lftj.scantree.count_kernels import add_counts as add_in_place
from lftj.scantree.tree import Tree

Matrix = NDArray[np.int64]


class Recounted(NamedTuple):
    """A tree after a change of counts, and what became of the rows: matrices of columns × rows,
    ascending.

    `written`: those that are there afterwards, with their new counts in the last line; `gone`:
    those that no longer are; `fresh`: those that were not before.
    """

    tree: Tree
    written: Matrix
    gone: Matrix
    fresh: Matrix


def add_counts(tree: Tree, rows: Matrix, amounts: Matrix) -> Recounted:
    """The next version of a tree of counts: `amounts`, none of them 0, added to those of `rows`, a
    matrix of keys × n, ascending strictly.

    A row that is not there had 0, and one that comes to 0 goes. O(δ (page + log n)) for δ rows, in
    one descent for each leaf. OverflowError when a count leaves int64; ValueError for one below 0.
    """
    rows = as_matrix(rows, tree.key_width)
    keys, changes = rows.shape
    if not changes or tree.root == 0:
        if changes and amounts.min() < 0:
            raise _too_few()
        written = as_matrix([*rows, amounts], keys + 1)
        return Recounted(tree.apply(written), written, rows[:, :0], rows)
    lines = np.empty((3 * keys + 1, changes), np.int64)
    written, gone, fresh = lines[: keys + 1], lines[keys + 1 : 2 * keys + 1], lines[2 * keys + 1 :]
    found = np.zeros(FOUND_WORDS, np.int64)
    arena = tree.arena
    with arena.lock:
        given = rows, amounts, written, gone, fresh, found
        root, height, status = arena.made_in_room(
            add_in_place, tree.layout, tree.root, tree.height, *given
        )
        after = tree.version(root, height) if status == DONE else tree
    if status == OVERFLOW:
        raise OverflowError("a count leaves 64 bits")
    if status != DONE:
        raise _too_few()
    return Recounted(
        after, written[:, : found[WRITTEN]], gone[:, : found[GONE]], fresh[:, : found[FRESH]]
    )


def _too_few() -> ValueError:
    return ValueError("more is taken from a count than there is")
