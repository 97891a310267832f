"""Differences between versions: right for any two trees of one arena, and in proportion to what
they do not share.
"""

from __future__ import annotations

import numpy as np
import pytest

from lftj.scantree import Arena, Tree
from lftj.scantree.rows import difference, sort_rows
from tests.unit.scantree.trees import Shape, pages_apart, random_rows, rows_of, taken


def _equal(found: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("rows", [1000, 100_000])
def test_ten_changes_open_the_pages_of_ten_paths(rows: int) -> None:
    arena = Arena()
    columns = random_rows(1, rows)
    old = Tree.build(arena, columns)
    picked = np.sort(np.random.default_rng(1).choice(rows, 10, replace=False))
    gone, new = taken(columns, picked[:5]), [columns[0][picked[5:]], columns[1][picked[5:]] + 1]
    changed = old.apply(new, gone)
    inserted, erased, pages = changed.diff_pages(old)
    assert rows_of(inserted) == rows_of(new)
    assert rows_of(erased) == rows_of(gone)
    assert pages == pages_apart(changed, old) <= 2 * 10 * (changed.height + 1)
    assert old.diff_pages(old)[2] == 0


def test_pages_opened_do_not_grow_with_the_tree() -> None:
    opened = []
    for rows in (20_000, 400_000):
        old = Tree.build(Arena(), [np.arange(rows) * 2])
        opened.append(
            old.apply([np.array([5, rows, 2 * rows - 1])], [np.array([0, 100])]).diff_pages(old)[2]
        )
    assert opened[1] <= opened[0] + 2 * 5


def test_splits_and_joins_in_between_do_not_open_what_is_shared() -> None:
    arena = Arena()
    columns = [np.arange(0, 200_000, 2)]
    old = Tree.build(arena, columns, leaf_capacity=32, fan=32)
    stretch = np.arange(40_000, 44_000)
    new = old.apply([stretch], [np.arange(100_000, 103_000)])
    inserted, erased, pages = new.diff_pages(old)
    assert inserted[0].tolist() == list(range(40_001, 44_000, 2))
    assert erased[0].tolist() == list(range(100_000, 103_000, 2))
    assert pages == pages_apart(new, old)


@pytest.mark.parametrize(("left", "right"), [(0, 0), (0, 700), (700, 0), (700, 1), (3000, 900)])
@pytest.mark.parametrize("pages", [{"leaf_capacity": 16, "fan": 8}, {}])
def test_unrelated_trees(left: int, right: int, pages: dict[str, int]) -> None:
    arena = Arena()
    a, b = random_rows(3, left, spread=40), random_rows(4, right, spread=40)
    mine = Tree.build(arena, a, **pages)
    other = Tree.build(arena, b, leaf_capacity=12, fan=12)
    inserted, erased = mine.diff(other)
    assert _equal(inserted, difference(a, b))
    assert _equal(erased, difference(b, a))


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.9, 1.0])
@pytest.mark.parametrize("spread", [3, 50, 1_000_000])
def test_rows_that_are_in_no_tree_are_compared_as_they_lie(kept: float, spread: int) -> None:
    """Little in common or much, in one column or three, on small pages and over several reads."""
    draw, arena = np.random.default_rng(spread), Arena()
    for width, rows in ((1, 200), (2, 3_000), (3, 40_000)):
        all_rows = sort_rows(list(draw.integers(0, spread, (width, rows))))
        chance = draw.random((2, len(all_rows[0])))
        mine, theirs = (taken(all_rows, np.flatnonzero(side < (1 + kept) / 2)) for side in chance)
        tree = Tree.build(arena, theirs, leaf_capacity=16, fan=8)
        new, gone = tree.differences(mine)
        assert _equal(new, difference(mine, theirs))
        assert _equal(gone, difference(theirs, mine))
        assert _equal(tree.differences(taken(mine, np.arange(0)))[1], theirs)
    assert _equal(Tree.empty(arena, 2).differences([np.arange(3)] * 2)[0], [np.arange(3)] * 2)


def test_trees_of_equal_rows_on_other_pages_do_not_differ() -> None:
    arena = Arena()
    columns = random_rows(5, 5000)
    loaded = Tree.build(arena, columns)
    grown = Tree.build(arena, taken(columns, np.arange(0, 5000, 2))).apply(
        taken(columns, np.arange(1, 5000, 2))
    )
    assert [len(side[0]) for side in loaded.diff(grown)] == [0, 0]


def test_a_changed_value_is_on_both_sides() -> None:
    shape = Shape(1, 2)
    old = shape.build(Arena(), [(i, 0, 0) for i in range(30)])
    new = shape.apply(old, [(4, 0, 0), (5, 0, 1), (6, 1, 0)])
    assert [rows_of(side) for side in new.diff(old)] == [
        [(5, 0, 1), (6, 1, 0)],
        [(5, 0, 0), (6, 0, 0)],
    ]


def test_a_difference_applied_to_the_old_version_gives_the_new_one() -> None:
    arena = Arena()
    columns = random_rows(6, 20_000, width=3)
    keys, values = columns[:2], columns[2:]
    old = Tree.build(arena, keys, values)
    new = old.apply(
        [*taken(keys, np.arange(0, 20_000, 7)), np.arange(len(range(0, 20_000, 7)))],
        taken(keys, np.arange(1, 20_000, 5)),
    )
    inserted, erased = new.diff(old)
    again = old.apply(inserted, erased[:2])
    assert _equal(again.columns(), new.columns())


def test_trees_that_cannot_be_compared_are_refused() -> None:
    arena = Arena()
    tree = Tree.build(arena, [np.arange(3)])
    for other in (
        Tree.build(Arena(), [np.arange(3)]),
        Tree.build(arena, [np.arange(3), np.arange(3)]),
        Tree.empty(arena, 1, 1),
    ):
        with pytest.raises(ValueError, match="cannot be compared"):
            tree.diff(other)
