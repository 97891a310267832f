"""Packed rows in every key order, whichever order they come in."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from lftj.maintenance.semi_naive.packed_rows import PACKED_BITS, Packed
from lftj.scantree import Arena

WIDTHS = (5, 7, 6)
SHIFTS = np.array([13, 6, 0])
LOWS = np.array([-3, 0, 100])
WORDS = np.unique(np.random.default_rng(1).integers(0, 1 << sum(WIDTHS), 4000))


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("ordered", [True, False])
def test_rows_in_every_order(order: tuple[int, ...], ordered: bool) -> None:
    words = WORDS if ordered else np.random.default_rng(2).permutation(WORDS)
    rows = Packed(words, LOWS, SHIFTS, WIDTHS, ordered)
    expected = sorted(tuple(row[column] for column in order) for row in rows.columns().T.tolist())
    found = rows.sorted_by(order)
    assert list(map(tuple, found.columns().T.tolist())) == expected
    assert found.ordered


@pytest.mark.parametrize(
    ("numbers", "counts"),
    [([0], [len(WORDS)]), ([2, 0, 6, 4], [1000, 1, 0, len(WORDS) - 1001])],
)
def test_a_tree_of_rows_with_values(numbers: list[int], counts: list[int]) -> None:
    words = np.random.default_rng(3).permutation(WORDS)
    rows = Packed(words, LOWS, SHIFTS, WIDTHS, False)
    given = words.copy()
    tree = rows.tree_with_values(Arena(), np.array(numbers), np.array(counts), 1, 31)
    assert tree is not None
    values = (np.repeat(numbers, counts) + 1) << 31
    expected = sorted(zip(map(tuple, rows.columns().T.tolist()), values.tolist(), strict=True))
    *columns, found = (column.tolist() for column in tree.columns())
    assert list(zip(zip(*columns, strict=True), found, strict=True)) == expected
    assert (words == given).all(), "the rows that were given stay as they lie"


def test_words_without_room_for_values_make_no_tree() -> None:
    rows = Packed(np.arange(3), np.zeros(1, np.int64), np.zeros(1, np.int64), (PACKED_BITS,), True)
    assert rows.tree_with_values(Arena(), np.array([1]), np.array([3]), 1, 31) is None
