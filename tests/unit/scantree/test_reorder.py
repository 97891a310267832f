"""Trees in another key order: the same rows whichever way they are made."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.scantree import Arena, Tree, reorder
from lftj.scantree.invariants import check_arena, check_invariants
from lftj.scantree.reorder import by_columns, packed, reordered
from lftj.scantree.word_sort import FEW
from tests.unit.scantree.trees import GREATEST, LEAST, Row, Shape, random_rows, rows_of


def wanted(rows: list[Row], order: tuple[int, ...], dropped: int) -> list[Row]:
    keys = len(order)
    return sorted(
        (*(row[column] for column in order), *(value >> dropped << dropped for value in row[keys:]))
        for row in rows
    )


def without_rows(tree: Tree) -> Tree:
    return Shape(tree.key_width, tree.value_width).empty(tree.arena)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(0, 2), st.integers(0, 3))
def test_a_tree_in_another_order_has_the_same_rows(data, keys, values, dropped):
    numbers = st.integers(-6, 6)
    order = data.draw(st.permutations(range(keys)))
    found = data.draw(
        st.dictionaries(
            st.tuples(*[numbers] * keys), st.tuples(*[numbers] * values), min_size=1, max_size=60
        )
    )
    rows = [(*key, *found[key]) for key in sorted(found)]
    tree = Shape(keys, values).build(Arena(reserve_bytes=1 << 24), rows)
    made = [
        packed(tree, without_rows(tree), order, dropped),
        by_columns(tree, without_rows(tree), order, dropped),
    ]
    for other in made:
        assert other is not None
        assert rows_of(other.columns()) == wanted(rows, tuple(order), dropped)
        check_invariants(other)
    check_arena(tree.arena, [tree, *made])


@pytest.mark.parametrize(
    "ends",
    [
        (0, 1 << 62),
        (-(1 << 61), (1 << 61)),
        (LEAST, GREATEST),
        (LEAST, 0),
        (GREATEST - 1, GREATEST),
    ],
)
def test_ranges_of_any_width_are_reordered(ends):
    rows = [(ends[0], 5), (ends[1], -5)]
    tree = Shape(2, 0).build(Arena(reserve_bytes=1 << 24), rows)
    assert rows_of(reordered(tree, (1, 0)).columns()) == wanted(rows, (1, 0), 0)
    narrow = (ends[1] - ends[0]).bit_length() + 4 <= 63
    assert (packed(tree, without_rows(tree), (1, 0), 0) is not None) == narrow


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_every_order_of_many_rows_with_equal_values(order, wide):
    """So many that they are sorted by digits, and by the columns alone that do not stand as they
    did.
    """
    random = np.random.default_rng(1)
    drawn = random.integers(0, 6, (3000, 4)) * (1 << 59 if wide else 1)
    rows = [(*key, place) for place, key in enumerate(sorted(set(map(tuple, drawn.tolist()))))]
    tree = Tree.build(
        Arena(reserve_bytes=1 << 27), list(np.array(rows).T[:4].copy()), [np.arange(len(rows))]
    )
    found = by_columns(tree, without_rows(tree), order, 1)
    assert len(rows) > FEW
    assert rows_of(found.columns()) == wanted(rows, order, 1)
    if not wide:
        also = packed(tree, without_rows(tree), order, 1)
        assert also is not None
        assert rows_of(also.columns()) == wanted(rows, order, 1)


def test_bits_that_are_dropped_need_no_room():
    rows = [(0, 1 << 30, 7 << 32 | 9), (1 << 20, 0, 1 << 32 | 5)]
    tree = Shape(2, 1).build(Arena(reserve_bytes=1 << 24), rows)
    assert packed(tree, without_rows(tree), (1, 0), 0) is None
    found = packed(tree, without_rows(tree), (1, 0), 32)
    assert found is not None
    assert rows_of(found.columns()) == [(0, 1 << 20, 1 << 32), (1 << 30, 0, 7 << 32)]


def test_many_rows_go_packed_and_few_by_columns(monkeypatch):
    gone = []
    monkeypatch.setattr(
        reorder, "packed", lambda *asked: gone.append(len(asked[0])) or packed(*asked)
    )
    for rows in (reorder.FEW - 1, reorder.FEW):
        columns = random_rows(rows, rows, width=3, spread=1 << 19)
        tree = Tree.build(Arena(reserve_bytes=1 << 28), columns)
        assert np.array_equal(
            reordered(tree, (2, 0, 1)).columns(),
            np.array(columns)[[2, 0, 1]][:, np.lexsort([columns[1], columns[0], columns[2]])],
        )
    assert gone == [reorder.FEW]


def test_no_rows_stay_none():
    tree = Shape(3, 1).empty(Arena(reserve_bytes=1 << 24))
    assert len(reordered(tree, (2, 1, 0), 4)) == 0


def test_a_full_arena_refuses_another_order() -> None:
    tree = Tree.build(Arena(reserve_bytes=1 << 21), [np.arange(80_000), np.arange(80_000)])
    with pytest.raises(MemoryError, match="cannot hold another"):
        reordered(tree, (1, 0))
    check_arena(tree.arena, [tree])
