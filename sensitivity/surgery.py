# SPDX-License-Identifier: Apache-2.0
"""Tree surgeries: which branches of a relation's trie a change makes appear or vanish [LFTJ-IVM
4.2.1].

A relation in some key order is a trie: the branches of depth k are the distinct k-column prefixes
of its rows. An insert makes a branch appear if no row under it was there before; an erase makes it
vanish if none is left. A row's branches of depth 1, 2, … so fall into some that stay and, from one
depth on, some that change, and one seek per column finds that depth: O(log n) per changed row.

For a positive atom the *topmost* changed branch is enough. Where the branch (α, a) was or becomes
absent, the context below it is alive in at most one of the two versions: what is won or lost under
it is won or lost at a, and found by the surgery there, whose region holds all that lies below. A
negated atom looks at whole look-up keys only, so for it every changed branch of that depth counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftj.scantree import Tree
from lftj.scantree.columns import Columns, as_matrix
from lftj.scantree.rows import equal_runs, sort_rows
from lftj.sensitivity.surgery_kernels import branch_depths


def depths_of(tree: Tree, rows: Columns, width: int) -> np.ndarray:
    """Depth of the first branch that the tree has not, for each of `rows` (`width` key columns, may
    be fewer than the tree's).
    """
    matrix = as_matrix(rows, width)
    depths = np.empty(matrix.shape[1], np.int64)
    branch_depths(tree.arena.memory, tree.root, tree.height, matrix, depths)
    return depths


class _Side(NamedTuple):
    """Changed rows, sorted, and the depth of the topmost branch that each changes; the key width +
    1 for none.
    """

    rows: Columns
    depths: np.ndarray

    def branches(self, depth: int, topmost: bool) -> list[np.ndarray]:
        chosen = self.depths == depth if topmost else self.depths <= depth
        rows = [column[chosen] for column in self.rows[:depth]]
        starts = equal_runs(rows, depth)
        return rows if len(starts) == len(rows[0]) else [column.take(starts) for column in rows]


class Surgeries:
    """The branches that one change makes appear and vanish in one trie. Make it with
    `surgeries`.
    """

    __slots__ = ("_appeared", "_known", "_vanished", "width")

    def __init__(self, width: int, appeared: _Side, vanished: _Side) -> None:
        self.width = width
        self._appeared = appeared
        self._vanished = vanished
        self._known: dict[tuple[int, bool], list[np.ndarray]] = {}

    def appeared(self, depth: int, *, topmost: bool = False) -> list[np.ndarray]:
        """The branches of this depth that were not there before, as `depth` sorted columns;
        `topmost`: whose parent was.
        """
        return self._appeared.branches(depth, topmost)

    def vanished(self, depth: int, *, topmost: bool = False) -> list[np.ndarray]:
        """The branches of this depth that are no longer there; `topmost`: whose parent still is."""
        return self._vanished.branches(depth, topmost)

    def changed(self, depth: int, *, topmost: bool) -> list[np.ndarray]:
        """Both, sorted. Remembered, for the atoms that share a trie."""
        known = self._known.get((depth, topmost))
        if known is None:
            new, gone = self.appeared(depth, topmost=topmost), self.vanished(depth, topmost=topmost)
            if len(gone[0]) == 0:
                known = new
            elif len(new[0]) == 0:
                known = gone
            else:
                known = sort_rows([np.concatenate(pair) for pair in zip(new, gone, strict=True)])
            self._known[depth, topmost] = known
        return known


def surgeries(old: Tree, new: Tree, inserts: Columns, erases: Columns) -> Surgeries:
    """The surgeries that lead from the trie of `old` to that of `new`: δ changed rows cost O(δ ·
    columns · log n).

    `inserts` and `erases`: key columns in the trees' key order, sorted and distinct; the rows that
    `new` has and `old` has not, and the reverse. A row that did not change after all is no surgery.
    """
    width = old.key_width
    if new.key_width != width:
        raise ValueError(f"{old!r} and {new!r} are not versions of one trie")
    return Surgeries(width, _side(old, inserts, width), _side(new, erases, width))


def _side(other: Tree, rows: Columns, width: int) -> _Side:
    if len(rows) == 0:
        rows = [np.empty(0, np.int64)] * width
    return _Side(rows, depths_of(other, rows, width))
