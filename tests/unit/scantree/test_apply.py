"""Changes of particular shapes: how many pages they take, how full they leave them, and what they
must not touch.
"""

from __future__ import annotations

import numpy as np
import pytest

from lftj.scantree import Arena, Tree
from lftj.scantree.apply_kernels import words_to_change
from lftj.scantree.invariants import check_arena, check_invariants
from lftj.scantree.page_kernels import WORDS_IN_USE
from tests.unit.scantree.trees import (
    EXTREMES,
    Shape,
    columns_of,
    entries_by_level,
    random_rows,
    rows_of,
    taken,
)


def words_of_path(tree: Tree) -> int:
    """Words of one leaf and the index pages above it."""
    leaf = 8 + 512 * (tree.key_width + tree.value_width)
    return leaf + tree.height * (8 + 256 * (2 + tree.key_width + len(tree.aggregates)))


def test_a_commit_of_one_row_takes_the_pages_of_one_path() -> None:
    arena = Arena()
    columns = random_rows(1, 200_000)
    tree = Tree.build(arena, columns)
    before = int(arena.memory[WORDS_IN_USE])
    for place in (0, 77_777, 199_999):
        changed = tree.apply([], taken(columns, [place]))
        assert int(arena.memory[WORDS_IN_USE]) - before == words_of_path(tree)
        assert len(changed) == len(tree) - 1
        del changed
        assert arena.bytes_in_use == 8 * before


@pytest.mark.parametrize("leaf", [4, 512])
def test_rows_written_one_at_a_time_come_back(leaf: int) -> None:
    columns = random_rows(leaf, 300)
    order = np.random.default_rng(leaf).permutation(300)
    tree = Tree.empty(Arena(), 1, 1, leaf_capacity=leaf, fan=16)
    for place in order:
        tree = tree.apply(taken(columns, [place]))
    check_invariants(tree)
    assert rows_of(tree.columns()) == rows_of(columns)
    for place in order:
        tree = tree.apply([], taken(columns[:1], [place]))
    assert len(tree) == 0
    assert tree.root == 0


@pytest.mark.parametrize("step", [1, 3, 50])
def test_ascending_rows_leave_full_pages(step: int) -> None:
    arena = Arena()
    tree = Tree.empty(arena, 1, leaf_capacity=16, fan=8)
    for first in range(0, 3000, step):
        tree = tree.apply([np.arange(first, first + step)])
    check_invariants(tree)
    leaves, *indexes = entries_by_level(tree)
    assert sum(leaves) == 3000
    assert len(leaves) <= -(-3000 // 16) + 1  # the first rows were a load, which leaves room
    assert all(entries == 8 for level in indexes for entries in level[:-1])


def test_rows_in_random_order_leave_pages_two_thirds_full() -> None:
    arena = Arena()
    tree = Tree.empty(arena, 2, leaf_capacity=64, fan=16)
    columns = random_rows(5, 10_000)
    for batch in np.array_split(np.random.default_rng(5).permutation(10_000), 200):
        tree = tree.apply(taken(columns, np.sort(batch)))
    check_invariants(tree)
    assert len(entries_by_level(tree)[0]) < 1.6 * 10_000 / 64


def test_pages_that_lose_most_rows_are_joined() -> None:
    columns = random_rows(6, 8000)
    tree = Tree.build(Arena(), columns, leaf_capacity=16, fan=16)
    kept = np.arange(0, 8000, 40)
    for gone in np.array_split(
        np.random.default_rng(6).permutation(np.setdiff1d(np.arange(8000), kept)), 60
    ):
        tree = tree.apply([], taken(columns, np.sort(gone)))
    check_invariants(tree)
    assert rows_of(tree.columns()) == rows_of(taken(columns, kept))
    assert len(entries_by_level(tree)[0]) <= 4 * len(kept) / 16


def test_one_version_may_have_several_successors() -> None:
    arena = Arena()
    shape = Shape(2, 1)
    base = shape.build(arena, [(i, -i, 7) for i in range(40)])
    left = shape.apply(base, [(5, -5, 1), (100, 0, 0)], [(9, -9)])
    right = shape.apply(base, [(5, -5, 2)], [(i, -i) for i in range(10, 30)])
    assert [row for row in rows_of(left.columns()) if row[0] in (5, 9, 100)] == [
        (5, -5, 1),
        (100, 0, 0),
    ]
    assert rows_of(right.columns()) == [
        (i, -i, 2 if i == 5 else 7) for i in range(40) if not 10 <= i < 30
    ]
    assert rows_of(base.columns()) == [(i, -i, 7) for i in range(40)]
    check_arena(arena, [base, left, right])


def test_a_shared_page_under_a_root_that_loses_its_other_child_stays() -> None:
    arena = Arena()
    shape = Shape(1, 0)
    tree = shape.build(arena, [(i,) for i in range(24)])  # eight leaves under two index pages
    narrow = shape.apply(tree, [], [(i,) for i in range(3, 12)])  # the first of them keeps one leaf
    assert entries_by_level(narrow)[1] == [1, 4]
    lone = shape.apply(narrow, [], [(i,) for i in range(12, 24)])
    assert rows_of(lone.columns()) == [(0,), (1,), (2,)]
    assert lone.height == 0
    check_arena(arena, [tree, narrow, lone])
    assert rows_of(narrow.columns()) == [(i,) for i in (*range(3), *range(12, 24))]


def test_erasing_what_is_not_there_and_inserting_what_is_changes_no_row() -> None:
    shape = Shape(2, 1)
    rows = [(i, i, i) for i in range(0, 60, 2)]
    tree = shape.build(Arena(), rows)
    again = shape.apply(
        tree, rows[::3], [(i, i) for i in range(1, 60, 2)] + [(i, i) for i in range(0, 60, 6)]
    )
    assert rows_of(again.columns()) == rows
    assert tree.apply() is tree


@pytest.mark.parametrize("width", [1, 2, 16])
def test_the_ends_of_int64_are_numbers_like_others(width: int) -> None:
    rows = sorted(
        {
            tuple(np.roll(EXTREMES, i)[np.arange(width) % len(EXTREMES)].tolist())
            for i in range(len(EXTREMES))
        }
    )
    shape = Shape(width, 0)
    tree = shape.build(Arena(), rows[::2])
    tree = shape.apply(tree, rows[1::2])
    check_invariants(tree)
    assert rows_of(tree.columns()) == rows
    assert tree.contains(columns_of(rows, width)).all()
    assert [tree.seek_lub(row) for row in rows] == rows
    assert [tree.positions(None, row)[2] for row in rows] == list(range(len(rows)))


def test_a_change_larger_than_the_tree_needs_room_for_itself_only() -> None:
    arena = Arena(reserve_bytes=1 << 28)
    few = Tree.build(arena, taken(random_rows(7, 1000), np.arange(0, 1000, 10)))
    many = random_rows(8, 1_000_000)
    tree = few.apply(many)
    check_arena(arena, [few, tree])
    assert len(tree) == 1_000_100
    assert len(tree.apply([], taken(many, np.arange(500_000)))) == 500_100


def test_a_full_arena_refuses_and_keeps_what_it_has() -> None:
    arena = Arena(reserve_bytes=1 << 20)
    tree = Tree.build(arena, random_rows(9, 20_000))
    with pytest.raises(MemoryError, match="cannot hold another"):
        tree.apply(random_rows(10, 100_000))
    check_arena(arena, [tree])
    check_invariants(tree)


def test_too_many_levels_are_refused_and_leave_nothing_behind() -> None:
    arena = Arena()
    with pytest.raises(OverflowError, match="5 index levels"):
        Tree.build(arena, [np.arange(4000)], leaf_capacity=4, fan=4)
    check_arena(arena, [])
    tree = Tree.build(arena, [np.arange(2000)], leaf_capacity=4, fan=4)
    with pytest.raises(OverflowError, match="too small for 12000 rows"):
        tree.apply([np.arange(2000, 12_000)])
    check_arena(arena, [tree])
    check_invariants(tree)


def test_what_cannot_be_a_tree_is_refused() -> None:
    arena = Arena()
    with pytest.raises(ValueError, match="do not fit on a page"):
        Tree.empty(arena, 240)
    with pytest.raises(ValueError, match="needs a key column"):
        Tree.empty(arena, 0, 1)
    with pytest.raises(ValueError, match="leaf_capacity must be 4"):
        Tree.empty(arena, 1, leaf_capacity=3)
    with pytest.raises(ValueError, match="'mean' of column 0: expected sum, min or max"):
        Tree.empty(arena, 1, aggregates=[("mean", 0)])
    with pytest.raises(ValueError, match="below 2"):
        Tree.empty(arena, 1, 1, aggregates=[("min", 2)])
    with pytest.raises(ValueError, match="2 columns expected, 1 given"):
        Tree.empty(arena, 1, 1).apply([np.arange(3)])
    with pytest.raises(ValueError, match="columns of 3 and 2 rows"):
        Tree.empty(arena, 1, 1).apply([np.arange(3), np.arange(2)])


def test_keys_alone_are_read_and_changed_on_shared_pages() -> None:
    arena = Arena()
    keys = np.arange(0, 600, 2)
    whole = Tree.build(arena, [keys // 40, keys], [keys * 3], leaf_capacity=8, fan=4)
    used = arena.bytes_in_use
    alone = whole.without_values()
    assert arena.bytes_in_use == used
    assert [column.tolist() for column in alone.columns()] == [
        column.tolist() for column in whole.columns()[:2]
    ]
    moved = whole.apply([keys[:50] // 40, keys[:50], keys[:50]])
    assert [len(columns[0]) for columns in moved.without_values().diff(alone)] == [0, 0]
    changed = alone.apply([np.array([0, 3]), np.array([5, 121])], [keys[100:] // 40, keys[100:]])
    assert list(zip(*(column.tolist() for column in changed.columns()), strict=True)) == sorted(
        {*zip((keys[:100] // 40).tolist(), keys[:100].tolist(), strict=True), (0, 5), (3, 121)}
    )
    del whole, moved, alone, changed
    assert arena.bytes_in_use == 0


def test_a_tree_with_aggregates_has_no_keys_alone() -> None:
    tree = Tree.build(Arena(), [np.arange(9)], [np.arange(9)], aggregates=[("sum", 1)])
    with pytest.raises(ValueError, match="keeps aggregates"):
        tree.without_values()


@pytest.mark.parametrize(("leaf", "fan"), [(8, 16), (16, 8), (512, 256)])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
def test_a_change_takes_no_more_words_than_are_asked_for_it(
    leaf: int, fan: int, share: float
) -> None:
    rnd = np.random.default_rng(leaf)
    keys = np.arange(0, 12_000, 3)
    tree = Tree.build(Arena(), [keys], [keys], leaf_capacity=leaf, fan=fan)
    for _ in range(3):
        rows = np.flatnonzero(rnd.random(12_000) < max(share, 1e-4))
        gone = np.flatnonzero(rnd.random(12_000) < share)
        memory = tree.arena.memory
        used = int(memory[WORDS_IN_USE])
        asked = words_to_change(tree.layout, tree.height, len(rows), len(gone), used)
        after = tree.apply([rows, rows], [gone])
        assert int(memory[WORDS_IN_USE]) - used <= asked
        tree = after
        tree.arena.sweep()


def test_what_is_asked_for_a_large_change_is_in_proportion_to_what_is_there() -> None:
    tree = Tree.build(Arena(), [np.arange(500_000)])
    used = int(tree.arena.memory[WORDS_IN_USE])
    assert words_to_change(tree.layout, tree.height, 0, 500_000, used) <= 2.2 * used
