"""The first and the last row of every key prefix, and what it costs to find them; and rows at equal
distances.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.scantree import Arena, Tree, after_prefix
from tests.unit.scantree.trees import EXTREMES, GREATEST, Shape, columns_of, numbers, random_rows

keys = st.tuples(numbers(2), numbers(2), numbers(2))


@given(
    st.sets(keys, max_size=60),
    st.integers(0, 3),
    st.lists(keys, max_size=8),
    st.sampled_from([(4, 4), (5, 4), (512, 256)]),
)
def test_edges_of_prefixes(
    found: set[tuple[int, ...]], width: int, asked: list[tuple[int, ...]], pages: tuple[int, int]
) -> None:
    rows = [(*key, 7 * i) for i, key in enumerate(sorted(found))]
    tree = Shape(3, 1, *pages).build(Arena(reserve_bytes=1 << 28), rows)
    prefixes = [key[:width] for key in [*asked, *sorted(found)[:3]]]
    matrix = np.array(prefixes, dtype=np.int64).reshape(len(prefixes), width).T.copy()
    for last in (False, True):
        there, columns, pages_opened = tree.edge_rows(matrix, last=last)
        for i, prefix in enumerate(prefixes):
            matching = [row for row in rows if row[:width] == prefix]
            assert bool(there[i]) == bool(matching)
            assert tuple(int(column[i]) for column in columns) == (
                matching[-1 if last else 0] if matching else (0, 0, 0, 0)
            )
        assert (pages_opened == 0) == (not rows or not prefixes)


@pytest.mark.parametrize("last", [False, True])
def test_few_pages_are_opened(last: bool) -> None:
    tree = Tree.build(Arena(), random_rows(1, 100_000))
    prefixes = columns_of([(value,) for value in EXTREMES], 1)
    assert tree.edge_rows(prefixes, last=last)[2] <= 2 * (tree.height + 1) * len(EXTREMES)


@given(st.sets(keys, max_size=40), st.lists(numbers(3), min_size=1, max_size=3))
def test_a_tree_ends_before_a_key_that_none_of_its_rows_reaches(
    found: set[tuple[int, ...]], key: list[int]
) -> None:
    arena = Arena(reserve_bytes=1 << 28)
    tree = Shape(3, 0).build(arena, found) if found else Shape(3, 0).empty(arena)
    assert tree.ends_before(key) == all(row[: len(key)] < tuple(key) for row in found)


def test_what_comes_behind_all_keys_that_begin_so() -> None:
    prefixes = [
        [],
        [3],
        [3, GREATEST],
        [1, GREATEST, GREATEST],
        [GREATEST, 5],
        [GREATEST, GREATEST],
    ]
    assert [after_prefix(prefix) for prefix in prefixes] == [
        None,
        [4],
        [4],
        [2],
        [GREATEST, 6],
        None,
    ]


@pytest.mark.parametrize("behind", [0, 1, 3])
@pytest.mark.parametrize("pages", [(4, 4), (512, 256)])
def test_samples_are_rows_at_equal_distances_or_all(behind: int, pages: tuple[int, int]) -> None:
    tree = Shape(1, 1, *pages).build(Arena(reserve_bytes=1 << 28), [(3 * i, i) for i in range(100)])
    for rows in (1, 7, 50, 99):
        places = [min(i * 100 // rows + behind, 99) for i in range(rows)]
        assert [column.tolist() for column in tree.sample(rows, behind=behind)] == [
            [3 * place for place in places],
            places,
        ]
    for rows in (100, 1000):
        assert tree.sample(rows, behind=behind)[1].tolist() == list(range(behind, 100))
