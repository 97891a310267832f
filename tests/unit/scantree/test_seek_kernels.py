"""Positions and seeks, the trie's view of a tree, against the same questions to a sorted list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.scantree import Arena, Tree
from lftj.scantree.jit import compiled
from lftj.scantree.read_kernels import at_rank
from lftj.scantree.seek_kernels import (
    END,
    LARGEST,
    gallop,
    leaf_at,
    next_leaf,
    rank,
    seek_after,
    seek_lub,
    step,
    value_at,
)
from tests.unit.scantree.trees import EXTREMES, Row, Shape, numbers

SHAPES = [(4, 4), (5, 4), (16, 8), (512, 256)]


@compiled
def all_positions(memory, root, height, out):
    """Every position of a tree, by steps; the position after the last."""
    position = 0
    for i in range(out.size):
        out[i] = position
        position = step(memory, root, height, leaf_at(memory, root, height, position), position)
    return position


def positions_of(tree: Tree) -> list[int]:
    """The position of each row, and END."""
    out = np.empty(len(tree), np.int64)
    assert not len(tree) or all_positions(tree.arena.memory, tree.root, tree.height, out) == END
    return [*out.tolist(), END]


@st.composite
def trees(draw: st.DrawFn) -> tuple[Tree, list[Row]]:
    """A tree of some history and its rows."""
    width = draw(st.integers(1, 3))
    shape = Shape(width, 0, *draw(st.sampled_from(SHAPES)))
    row = st.tuples(*[numbers(4)] * width)
    tree = shape.build(Arena(reserve_bytes=1 << 28), draw(st.sets(row, min_size=1, max_size=60)))
    tree = shape.apply(
        tree, draw(st.sets(row, min_size=1, max_size=30)), draw(st.sets(row, max_size=30))
    )
    return tree, list(zip(*(column.tolist() for column in tree.columns()), strict=True))


@given(trees())
def test_positions_ascend_and_name_their_rows(case: tuple[Tree, list[Row]]) -> None:
    tree, rows = case
    memory, root, height = tree.arena.memory, tree.root, tree.height
    positions = positions_of(tree)
    assert positions == sorted(set(positions))
    for number, position in enumerate(positions[:-1]):
        assert (
            tuple(
                value_at(memory, root, height, position, column) for column in range(tree.key_width)
            )
            == rows[number]
        )
        assert rank(memory, root, height, position) == number
        leaf, slot = at_rank(memory, root, height, number)
        assert (leaf, slot) == (leaf_at(memory, root, height, position), position & 511)
        after = next_leaf(memory, root, height, position)
        assert after in positions
        assert all(p >> 9 == position >> 9 for p in positions[number : positions.index(after)])
    assert rank(memory, root, height, END) == len(rows)


@given(trees(), st.data())
def test_a_seek_in_a_range_finds_the_first_row_that_reaches_the_value(
    case: tuple[Tree, list[Row]], data: st.DataObject
) -> None:
    tree, rows = case
    place = tree.arena.memory, tree.root, tree.height
    positions = positions_of(tree)
    for _ in range(8):
        first = data.draw(st.integers(0, len(rows) - 1))
        column = data.draw(st.integers(0, tree.key_width - 1))
        end = next(
            (i for i in range(first, len(rows)) if rows[i][:column] != rows[first][:column]),
            len(rows),
        )
        end = data.draw(
            st.integers(first + 1, end)
        )  # any range in which the columns before are constant
        for value in (
            rows[data.draw(st.integers(0, len(rows) - 1))][column],
            data.draw(numbers(5)),
        ):
            expected = next((i for i in range(first, end) if rows[i][column] >= value), end)
            assert (
                seek_lub(*place, positions[first], positions[end], column, value)
                == positions[expected]
            )
            expected = next((i for i in range(first, end) if rows[i][column] > value), end)
            assert (
                seek_after(*place, positions[first], positions[end], column, value)
                == positions[expected]
            )


def test_every_seek_in_every_range_of_a_small_tree() -> None:
    rows = [(group, 10 * number) for group in range(3) for number in range(24)]
    tree = Shape(2, 0).build(Arena(reserve_bytes=1 << 28), rows)
    place = tree.arena.memory, tree.root, tree.height
    positions = positions_of(tree)
    for first in range(len(rows)):
        group = 24 * (first // 24)
        for end in range(first + 1, group + 25):
            for value in range(10 * (first - group) - 5, 10 * (end - group), 15):
                expected = min(max(first, group - (-value // 10)), end)
                assert (
                    seek_lub(*place, positions[first], positions[end], 1, value)
                    == positions[expected]
                ), (rows[first], end, value)


@given(st.lists(numbers(9), max_size=40).map(sorted), st.data())
def test_galloping_is_bisection(values: list[int], data: st.DataObject) -> None:
    memory = np.array([0, 0, 0, *values], np.int64)
    low, high = sorted(
        data.draw(st.tuples(st.integers(0, len(values)), st.integers(0, len(values))))
    )
    value = data.draw(numbers(10))
    assert gallop(memory, 3, low, high, value) == next(
        (i for i in range(low, high) if values[i] >= value), high
    )


@pytest.mark.parametrize("value", EXTREMES)
def test_a_large_tree_seeks_as_a_sorted_array_does(value: int) -> None:
    keys = np.unique(np.random.default_rng(1).integers(-(2**62), 2**62, 60_000))
    tree = Tree.build(Arena(), [keys])
    place = tree.arena.memory, tree.root, tree.height
    positions = positions_of(tree)
    for sought in (value, int(keys[0]), int(keys[-1]), int(keys[31_000]), int(keys[31_000]) + 1):
        assert seek_lub(*place, 0, END, 0, sought) == positions[np.searchsorted(keys, sought)]
        assert (
            seek_after(*place, 0, END, 0, sought)
            == positions[np.searchsorted(keys, sought, "right")]
        )
    assert seek_after(*place, 0, END, 0, LARGEST) == END
