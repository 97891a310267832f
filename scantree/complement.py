# SPDX-License-Identifier: Apache-2.0
"""Complements: what a tree has beyond one of its subsets, found by equal counts
[LFTJ-IVM 3.1.2].
"""

from __future__ import annotations

from lftj.scantree.arena import Words
from lftj.scantree.complement_kernels import complement as find_missing
from lftj.scantree.tree import Tree


def complement(whole: Tree, part: Tree) -> tuple[list[Words], int]:
    """The rows of `whole` whose keys `part` does not have, every key of `part` being one of
    `whole`; and the number of pages read for it.

    O(m (page + log² n)) for m missing rows, however large both trees are. That `part` is a subset
    is not checked, but a violation that the numbers of rows show is a `ValueError`.
    """
    if whole.key_width != part.key_width:
        raise ValueError(
            f"trees of {whole.key_width} and {part.key_width} key columns cannot be compared"
        )
    if whole.arena is not part.arena:
        raise ValueError("trees of two arenas cannot be compared")
    sides = [(tree.root, tree.height, tree.count) for tree in (whole, part)]
    rows, found, pages = find_missing(whole.arena.memory, whole.layout, *sides)
    if found != len(whole) - len(part):
        raise ValueError(
            "the second tree is not a subset of the first: it has keys that the first lacks"
        )
    return list(rows[:, :found]), int(pages)
