# SPDX-License-Identifier: Apache-2.0
"""Rows by weight: which row of a range stands at a number, and how many rows a range has, in trees
of counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.columns import Columns, as_matrix
from lftj.scantree.tree import Tree
from lftj.scantree.weight_kernels import rank_prefixes, read_units


def weight_kept(key_width: int) -> tuple[tuple[str, int], ...]:
    """The aggregates that a tree of counts keeps whose rows are found by weight."""
    return (("sum", key_width),)


def at_weights(
    tree: Tree, prefixes: Columns, units: NDArray[np.int64], column: int
) -> NDArray[np.int64]:
    """A column of the rows at these numbers among those that begin with each prefix, where a row is
    there as often as its count says; 0 for numbers below 0. O(page + fan · log n) each.

    The tree keeps `weight_kept`; no number is beyond its range.
    """
    out = np.zeros(len(units), np.int64)
    if tree.root:
        prefix = as_matrix(prefixes, len(prefixes))
        read_units(
            tree.arena.memory, tree.layout, tree.root, tree.height, prefix, units, column, out
        )
    return out


def ranks(tree: Tree, prefixes: Columns, count: int, *, behind: bool) -> NDArray[np.int64]:
    """The number of rows before those that begin with each of `count` prefixes, or up to the last
    of these with `behind`. O(fan · log n) each.
    """
    out = np.zeros(count, np.int64)
    if tree.root:
        prefix = as_matrix(prefixes, len(prefixes))
        rank_prefixes(tree.arena.memory, tree.layout, tree.root, tree.height, prefix, behind, out)
    return out


def rows_with(tree: Tree, prefixes: Columns, count: int) -> NDArray[np.int64]:
    """The number of rows that begin with each of `count` prefixes. O(fan · log n) each."""
    return ranks(tree, prefixes, count, behind=True) - ranks(tree, prefixes, count, behind=False)
