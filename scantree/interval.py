# SPDX-License-Identifier: Apache-2.0
"""Trees of closed intervals [a, b]: which of them hold a value, in time for the answers and not for
the intervals [LFTJ-IVM 3.2].

Keys are (α…, a, b, γ…): intervals of one prefix α lie together, γ tells equal ones apart. Index
pages hold the greatest b below them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.scantree.arena import Arena, Words
from lftj.scantree.columns import Columns, as_matrix
from lftj.scantree.interval_kernels import overlap
from lftj.scantree.tree import Tree

_NO_COLUMNS: tuple[Words, ...] = ()


def _check_width(prefix_width: int, key_width: int) -> None:
    if not 0 <= prefix_width <= key_width - 2:
        raise ValueError(
            f"{key_width} key columns are not a prefix of {prefix_width}, a, b and more"
        )


def _one(numbers: Sequence[int]) -> list[Words]:
    return [np.array([number], np.int64) for number in numbers]


class IntervalTree:
    """One version of a set of intervals, a `Tree` whose key columns `prefix_width` and
    `prefix_width + 1` are a and b, a ≤ b.
    """

    __slots__ = ("prefix_width", "tree")

    def __init__(self, tree: Tree, prefix_width: int) -> None:
        """Wrap a tree that keeps the maximum of column `prefix_width + 1` as its first aggregate.
        Use `build` or `empty` for a new one.
        """
        _check_width(prefix_width, tree.key_width)
        if tree.aggregates[:1] != (("max", prefix_width + 1),):
            raise ValueError(f"the tree's first aggregate must be ('max', {prefix_width + 1})")
        self.tree = tree
        self.prefix_width = prefix_width

    @classmethod
    def empty(
        cls,
        arena: Arena,
        prefix_width: int,
        key_width: int,
        value_width: int = 0,
        **capacities: int,
    ) -> IntervalTree:
        """No intervals; `key_width` counts α, a, b and γ. `capacities` as in `Tree.empty`."""
        _check_width(prefix_width, key_width)
        return cls(
            Tree.empty(
                arena, key_width, value_width, aggregates=[("max", prefix_width + 1)], **capacities
            ),
            prefix_width,
        )

    @classmethod
    def build(
        cls,
        arena: Arena,
        prefix_width: int,
        keys: Columns,
        values: Columns = _NO_COLUMNS,
        **capacities: int,
    ) -> IntervalTree:
        """Intervals from key columns (α…, a, b, γ…), sorted and distinct (not checked), and value
        columns. O(n).
        """
        empty = cls.empty(arena, prefix_width, len(keys), len(values), **capacities)
        return empty.apply([*keys, *values])

    def apply(self, inserts: Columns = _NO_COLUMNS, erases: Columns = _NO_COLUMNS) -> IntervalTree:
        """The next version, as `Tree.apply`. ValueError for an interval that ends
        before it begins.
        """
        if len(inserts) and np.any(
            np.asarray(inserts[self.prefix_width]) > np.asarray(inserts[self.prefix_width + 1])
        ):
            raise ValueError("an interval ends before it begins")
        return IntervalTree(self.tree.apply(inserts, erases), self.prefix_width)

    def __len__(self) -> int:
        return len(self.tree)

    def stab(self, prefix: Sequence[int], value: int) -> list[Words]:
        """The intervals with this prefix that hold `value`, as columns of all keys and values. O((m
        + 1) log n) for m of them.
        """
        return self.overlap(prefix, value, value)

    def overlap(self, prefix: Sequence[int], low: int, high: int) -> list[Words]:
        """The intervals with this prefix that share a value with [low, high]. O((m + 1) log n) for
        m with a ≤ high and b ≥ low.
        """
        return self.overlap_many(_one(prefix), *_one([low, high]))[1]

    def stab_many(self, prefixes: Columns, values: Words) -> tuple[Words, list[Words]]:
        """`stab` for many: the number of the stab that each found interval answers, ascending, and
        the intervals' columns.
        """
        return self.overlap_many(prefixes, values, values)

    def overlap_many(
        self, prefixes: Columns, lows: Words, highs: Words
    ) -> tuple[Words, list[Words]]:
        """`overlap` for many, prefixes as columns (none when there is no prefix): the number of the
        query and the intervals' columns.
        """
        tree = self.tree
        queries = as_matrix([*prefixes, highs], self.prefix_width + 1)
        starts = np.ascontiguousarray(lows, np.int64)
        if tree.root == 0 or starts.size == 0:
            return np.empty(0, np.int64), list(
                np.empty((tree.key_width + tree.value_width, 0), np.int64)
            )
        rows, query_of, found = overlap(
            tree.arena.memory,
            tree.layout,
            tree.root,
            tree.height,
            self.prefix_width,
            queries,
            starts,
        )
        return query_of[:found], list(rows[:, :found])
