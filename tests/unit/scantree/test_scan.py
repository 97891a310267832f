"""Scans: a₁ ⊕ … ⊕ aₘ for any associative ⊕, in order, and little to combine again after a little
change.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.scantree import COUNT, Arena, Monoid, Tree, max_of, min_of, sum_of
from lftj.scantree.monoid import PageCache
from lftj.scantree.page_kernels import PAGE_FAN, PAGE_ROWS
from tests.unit.scantree.trees import (
    GREATEST,
    LEAST,
    Shape,
    entries_by_level,
    random_rows,
    rows_of,
    taken,
)

Matrix = tuple[int, int, int, int]


def text_of(row: tuple[int, ...]) -> str:
    return f"{row[0]};"


class Counted:
    """Concatenation that counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0
        self.monoid: Monoid[str] = Monoid("", text_of, self.combine)

    def combine(self, a: str, b: str) -> str:
        self.calls += 1
        return a + b

    def calls_of(
        self, tree: Tree, low: tuple[int, ...] | None = None, high: tuple[int, ...] | None = None
    ) -> int:
        """Count the combinations of this scan, and check its answer."""
        before = self.calls
        assert tree.scan(self.monoid, low, high) == "".join(
            map(text_of, rows_of(tree.range(low, high)))
        )
        return self.calls - before


def multiplied(a: Matrix, b: Matrix) -> Matrix:
    """2 × 2 matrices modulo a prime: associative, not commutative."""
    p = 1_000_003
    return (
        (a[0] * b[0] + a[1] * b[2]) % p,
        (a[0] * b[1] + a[1] * b[3]) % p,
        (a[2] * b[0] + a[3] * b[2]) % p,
        (a[2] * b[1] + a[3] * b[3]) % p,
    )


MATRICES: Monoid[Matrix] = Monoid(
    (1, 0, 0, 1), lambda row: (row[0] % 7, row[1] % 11, 1, row[2] % 5), multiplied
)


@given(
    st.integers(0, 300),
    st.integers(0, 300),
    st.integers(0, 300),
    st.sampled_from([(4, 4), (6, 5), (512, 256)]),
)
def test_a_product_of_matrices_keeps_the_order(
    count: int, low: int, high: int, pages: tuple[int, int]
) -> None:
    rows = [(i, 3 * i + 1, i * i) for i in range(count)]
    tree = Shape(1, 2, *pages).build(Arena(reserve_bytes=1 << 28), rows)
    for bounds in ((None, None), ((low,), None), (None, (high,)), ((low,), (high,))):
        inside = [row for row in rows if (bounds[0] or (0,)) <= row[:1] < (bounds[1] or (count,))]
        expected = functools.reduce(multiplied, map(MATRICES.lift, inside), MATRICES.zero)
        assert tree.scan(MATRICES, *bounds) == expected
        assert tree.scan(MATRICES, *bounds) == expected, "the second time, from what was kept"


def test_after_a_small_change_only_new_pages_are_combined() -> None:
    columns = random_rows(1, 100_000)
    tree = Tree.build(Arena(), columns)
    counted = Counted()
    assert counted.calls_of(tree) == len(tree) - 1
    assert counted.calls_of(tree) == 0
    changed = tree.apply(taken(columns, [500]), taken(columns, [70_000]))
    assert 0 < counted.calls_of(changed) < 2 * PAGE_ROWS + 3 * PAGE_FAN
    assert counted.calls_of(tree) == 0, "the old version is still known"
    assert counted.calls_of(changed, (0,), (1 << 39,)) < 2 * PAGE_ROWS + 2 * PAGE_FAN


def test_words_that_are_used_again_are_combined_again() -> None:
    arena = Arena()
    counted = Counted()
    roots = set()
    tree = Tree.build(arena, [np.arange(40)], leaf_capacity=4, fan=4)
    for number in range(60):
        counted.calls_of(tree)
        roots.add(tree.root)
        tree = tree.apply([np.array([100 + number])], [np.array([number % 40])])
    assert len(roots) < 10, "no root's words were used twice"


def test_aggregates_of_dead_pages_are_dropped() -> None:
    arena = Arena()
    counted = Counted()
    for number in range(30):
        tree = Tree.build(arena, [np.arange(number, number + 4000)], leaf_capacity=32)
        tree = tree.apply([np.arange(-100, 0)])
        counted.calls_of(tree)
    pages = sum(len(level) for level in entries_by_level(tree))
    assert len(counted.monoid.cache(arena)) <= max(1024, 2 * pages)


def test_a_cache_forgets_pages_that_died_and_knows_the_others() -> None:
    arena = Arena()
    trees = [Tree.build(arena, [np.arange(i, i + 3)], leaf_capacity=4) for i in range(3000)]
    cache: PageCache[int] = PageCache(arena)
    for tree in trees[:1000]:
        cache.put(tree.root, tree.count)
    del trees[1:999], tree
    assert arena.bytes_in_use > 0
    for tree in trees[2:]:
        cache.put(tree.root, tree.count)
    assert len(cache) == 2002
    assert all(cache.get(tree.root) is not None for tree in trees[2:])


def test_two_arenas_and_two_monoids_are_kept_apart() -> None:
    left, right = (
        Tree.build(Arena(reserve_bytes=1 << 28), [np.arange(first, first + 50)])
        for first in (0, 100)
    )
    assert left.root == right.root
    sums: Monoid[int] = Monoid(0, lambda row: row[0], int.__add__)
    tens: Monoid[int] = Monoid(0, lambda row: 10 * row[0], int.__add__)
    totals = [tree.scan(monoid) for tree in (left, right) for monoid in (sums, tens)]
    assert totals == [1225, 12250, 6225, 62250]


def test_kept_aggregates_follow_changes() -> None:
    columns = random_rows(3, 50_000, width=3)
    tree = Tree.build(
        Arena(), columns[:1], columns[1:], aggregates=[("min", 2), ("sum", 1), ("max", 2)]
    )
    tree = tree.apply(
        [np.array([1 << 41]), np.array([5]), np.array([1 << 50])],
        taken(columns[:1], np.arange(0, 50_000, 3)),
    )
    for low, high in (
        (None, None),
        ((0,), None),
        (None, (0,)),
        ((-(1 << 38),), (1 << 38,)),
        ((7,), (7,)),
    ):
        _, second, third = tree.range(low, high)
        assert tree.scan(COUNT, low, high) == len(second)
        assert tree.scan(sum_of(1), low, high) == second.sum()
        assert tree.scan(min_of(2), low, high) == (third.min() if len(third) else None)
        assert tree.scan(max_of(2), low, high) == (third.max() if len(third) else None)


def test_nothing_to_scan() -> None:
    empty = Tree.empty(Arena(), 1, aggregates=[("min", 0), ("max", 0), ("sum", 0)])
    scans = [
        empty.scan(COUNT),
        empty.scan(min_of(0)),
        empty.scan(max_of(0)),
        empty.scan(sum_of(0)),
        empty.scan(Counted().monoid),
    ]
    assert scans == [0, None, None, 0, ""]


def test_extreme_values_are_no_stand_ins_for_none() -> None:
    tree = Tree.build(
        Arena(),
        [np.arange(2)],
        [np.array([GREATEST, LEAST])],
        aggregates=[("min", 1), ("max", 1), ("sum", 1)],
    )
    assert [tree.scan(what(1), (0,), (1,)) for what in (min_of, max_of, sum_of)] == [GREATEST] * 3
    assert [tree.scan(what(1), (1,), None) for what in (min_of, max_of, sum_of)] == [LEAST] * 3


def test_an_aggregate_that_the_tree_does_not_keep_is_refused() -> None:
    tree = Tree.build(Arena(), [np.arange(9)], aggregates=[("min", 0)])
    with pytest.raises(
        ValueError, match=r"keeps no max of column 0; build it with aggregates=\[\('max', 0\)\]"
    ):
        tree.scan(max_of(0))


@given(
    st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.sampled_from([(4, 4), (6, 5)])
)
def test_a_monoid_may_lift_whole_pages(
    count: int, low: int, high: int, pages: tuple[int, int]
) -> None:
    def lift_rows(columns: list[np.ndarray]) -> str:
        assert [len(column) > 0 for column in columns] == [True, True]
        return "".join(map(text_of, rows_of(columns)))

    tree = Shape(1, 1, *pages).build(Arena(reserve_bytes=1 << 28), [(i, i) for i in range(count)])
    monoid = Monoid.of_rows("", lift_rows, lambda a, b: a + b)
    assert monoid.lift((5, 6)) == "5;"
    for bounds in ((None, None), ((low,), None), (None, (high,)), ((low,), (high,))):
        assert tree.scan(monoid, *bounds) == "".join(map(text_of, rows_of(tree.range(*bounds))))
