"""Trees beside sorted dicts that say what must be in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from sortedcontainers import SortedDict

from lftj.scantree import Arena, Tree
from lftj.scantree.page_kernels import ENTRIES, index_column
from lftj.scantree.rows import sort_rows

LEAST, GREATEST = -(2**63), 2**63 - 1
EXTREMES = (LEAST, LEAST + 1, -1, 0, 1, GREATEST - 1, GREATEST)

Key = tuple[int, ...]
Row = tuple[int, ...]


def columns_of(rows: Iterable[Row], width: int) -> list[np.ndarray]:
    """Rows as columns, in the order given."""
    listed = list(rows)
    return [np.array([row[c] for row in listed], dtype=np.int64) for c in range(width)]


def rows_of(columns: Sequence[np.ndarray]) -> list[Row]:
    """Columns as rows."""
    return list(zip(*(column.tolist() for column in columns), strict=True))


class Shape(NamedTuple):
    """Columns and page sizes of a family of trees."""

    keys: int
    values: int
    leaf: int = 4
    fan: int = 4
    aggregates: tuple[tuple[str, int], ...] = ()

    @property
    def width(self) -> int:
        return self.keys + self.values

    def empty(self, arena: Arena) -> Tree:
        """A tree of this shape without rows."""
        return Tree.empty(
            arena,
            self.keys,
            self.values,
            aggregates=self.aggregates,
            leaf_capacity=self.leaf,
            fan=self.fan,
        )

    def build(self, arena: Arena, rows: Iterable[Row]) -> Tree:
        """A bulk-loaded tree of these rows."""
        columns = columns_of(sorted(rows), self.width)
        options = {"aggregates": self.aggregates, "leaf_capacity": self.leaf, "fan": self.fan}
        return Tree.build(arena, columns[: self.keys], columns[self.keys :], **options)

    def apply(self, tree: Tree, inserts: Iterable[Row], erases: Iterable[Key] = ()) -> Tree:
        """The next version; inserts and erases in any order."""
        return tree.apply(
            columns_of(sorted(inserts), self.width), columns_of(sorted(erases), self.keys)
        )


class Version(NamedTuple):
    """A tree and what it must hold: key → values."""

    tree: Tree
    rows: SortedDict

    def listed(self) -> list[Row]:
        """All rows, in order."""
        return [(*key, *values) for key, values in self.rows.items()]


def numbers(spread: int) -> st.SearchStrategy[int]:
    """Small numbers that collide often, and the ends of int64."""
    return st.one_of(st.integers(-spread, spread), st.sampled_from(EXTREMES))


def shapes() -> st.SearchStrategy[Shape]:
    """Widths 1 … 16 with and without values, on the smallest pages and on a little larger ones."""
    widths = st.sampled_from([(1, 0), (1, 1), (2, 0), (2, 2), (3, 1), (5, 0), (16, 0), (15, 3)])
    pages = st.sampled_from([(4, 4), (5, 4), (8, 5), (16, 4)])
    return st.builds(
        lambda width, page: Shape(*width, *page, aggregates=_aggregates(sum(width))), widths, pages
    )


def _aggregates(width: int) -> tuple[tuple[str, int], ...]:
    return (("max", width - 1), ("sum", 0), ("min", width // 2))


def keys_of(shape: Shape, spread: int = 6) -> st.SearchStrategy[Key]:
    """Key tuples."""
    return st.tuples(*(numbers(spread) for _ in range(shape.keys)))


def rows_in(shape: Shape, spread: int = 6) -> st.SearchStrategy[dict[Key, Row]]:
    """Distinct keys and the values of each."""
    values = st.tuples(*(numbers(spread) for _ in range(shape.values)))
    return st.dictionaries(keys_of(shape, spread), values, max_size=40)


def pages_by_level(tree: Tree) -> list[list[int]]:
    """The pages of a tree, left to right, the leaves first."""
    memory = tree.arena.memory
    levels = [[tree.root]] if tree.root else [[]]
    for _ in range(tree.height):
        levels.append(
            [
                int(memory[index_column(page, 0) + slot])
                for page in levels[-1]
                for slot in range(int(memory[page + ENTRIES]))
            ]
        )
    return levels[::-1]


def entries_by_level(tree: Tree) -> list[list[int]]:
    """Number of entries of each page, left to right, the leaves first."""
    return [
        [int(tree.arena.memory[page + ENTRIES]) for page in level] for level in pages_by_level(tree)
    ]


def pages_apart(left: Tree, right: Tree) -> int:
    """Number of pages that only one of two trees has."""
    mine, other = (
        {page for level in pages_by_level(tree) for page in level} for tree in (left, right)
    )
    return len(mine ^ other)


def random_rows(
    seed: int, count: int, *, width: int = 2, spread: int = 1 << 40
) -> list[np.ndarray]:
    """Sorted distinct rows, as columns."""
    random = np.random.default_rng(seed)
    return sort_rows([random.integers(-spread, spread, count) for _ in range(width)])


def taken(columns: Sequence[np.ndarray], positions: Sequence[int] | np.ndarray) -> list[np.ndarray]:
    """The rows at these positions."""
    return [column[positions] for column in columns]
