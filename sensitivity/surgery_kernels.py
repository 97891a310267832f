# SPDX-License-Identifier: Apache-2.0
"""Kernel that finds the depth to which a tree's trie already holds the path of a row."""

from __future__ import annotations

from lftj.scantree.jit import compiled
from lftj.scantree.seek_kernels import END, seek_after, seek_lub, value_at


@compiled
def branch_depths(memory, root, height, rows, depths):
    """depths[i] = 1 + the length of the longest prefix of column i of `rows` that some row of the
    tree begins with.

    So it is the depth of the first branch that the row would add to the trie, and rows.shape[0] + 1
    where it would add none. O(columns · log n) for each row.
    """
    for row in range(rows.shape[1]):
        column = 0
        position = 0
        end = END if root != 0 else 0
        while column < rows.shape[0] and position < end:
            value = rows[column, row]
            position = seek_lub(memory, root, height, position, end, column, value)
            if position >= end or value_at(memory, root, height, position, column) != value:
                break
            end = seek_after(memory, root, height, position, end, column, value)
            column += 1
        depths[row] = column + 1
