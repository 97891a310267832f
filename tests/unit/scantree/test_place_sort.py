"""The places of rows in order against NumPy's lexsort: rows that fit into a word, and wide ones of
which few or many begin alike.
"""

from __future__ import annotations

import numpy as np
import pytest

from lftj.scantree.place_sort import places_in_order

LEAST, MOST = -(2**63), 2**63 - 1
FEW, SOME, MANY = 100, 1500, 20_000

Columns = list[np.ndarray]


def assert_in_order(columns: Columns) -> None:
    expected = np.lexsort(columns[::-1]).tolist()
    assert places_in_order(columns).tolist() == expected
    assert places_in_order(np.array(columns)).tolist() == expected


@pytest.mark.parametrize("size", [1, FEW, SOME, MANY])
def test_rows_of_wide_and_narrow_columns(size: int) -> None:
    random = np.random.default_rng(size)
    wide = random.integers(LEAST, MOST, size, endpoint=True)
    wide[:: max(1, size // 4)] = LEAST
    wide[-1] = MOST
    assert_in_order(
        [random.integers(-2, 3, size), wide, random.integers(0, 2, size), np.full(size, 7)]
    )


@pytest.mark.parametrize("size", [FEW, SOME, MANY])
def test_rows_that_fit_into_a_word_with_their_places(size: int) -> None:
    random = np.random.default_rng(size)
    assert_in_order(
        [
            random.integers(-9, 9, size),
            np.full(size, MOST),
            random.integers(LEAST, LEAST + 99, size),
        ]
    )


@pytest.mark.parametrize("size", [SOME, MANY])
def test_low_bits_that_all_values_have_in_common_take_no_room(size: int) -> None:
    random = np.random.default_rng(size)
    assert_in_order(
        [(random.integers(-200, 200, size) << 50) + 12345, random.integers(0, 2**40, size)]
    )


@pytest.mark.parametrize("alike", [2, 5, 50, MANY])
def test_wide_rows_of_which_so_many_begin_alike(alike: int) -> None:
    random = np.random.default_rng(alike)
    first = random.integers(0, 2**60, MANY // alike + 1)
    columns = [random.choice(first, MANY), random.integers(0, 2**60, MANY)]
    assert_in_order(columns)
    order = np.argsort(
        columns[0], kind="stable"
    )  # those alike side by side, where a sample sees few of them
    assert_in_order([column[order] for column in columns])


def test_a_value_far_from_all_others() -> None:
    random = np.random.default_rng(3)
    assert_in_order(
        [random.integers(0, 50, MANY), np.append(random.integers(0, 10**6, MANY - 1), 2**62)]
    )


@pytest.mark.parametrize("size", [SOME, MANY])
def test_equal_rows_keep_their_order(size: int) -> None:
    assert places_in_order([np.zeros(size, np.int64)]).tolist() == list(range(size))
    assert_in_order(
        [
            np.full(size, 3),
            np.random.default_rng(1).choice([LEAST, 0, MOST], size),
            np.full(size, LEAST),
        ]
    )


def test_no_rows_and_columns_with_gaps() -> None:
    assert places_in_order([np.empty(0, np.int64)]).tolist() == []
    every_other = np.random.default_rng(2).integers(0, 100, (MANY, 2))[:, 1]
    assert_in_order([every_other, every_other[::-1]])
