"""Sorting by digits against NumPy's sort: every width of words, few and many, equal ones, and rows of columns as wide as an int64."""

from __future__ import annotations

import numpy as np
import pytest

from scantree.word_sort import places_in_order, sort_words

FEW, MANY = 100, 1500
LEAST, MOST = -(2**63), 2**63 - 1


@pytest.mark.parametrize("size", [0, 1, FEW, MANY])
@pytest.mark.parametrize("bits", [1, 9, 10, 11, 20, 21, 40, 62, 63])
def test_words_ascend(size: int, bits: int) -> None:
    words = np.random.default_rng(bits).integers(0, (1 << bits) - 1, size, endpoint=True)
    expected = np.sort(words)
    sort_words(words, bits)
    assert np.array_equal(words, expected)


@pytest.mark.parametrize("same", [0, 12, 30])
def test_digits_that_all_words_have_in_common_are_passed_over(same: int) -> None:
    words = np.random.default_rng(same).integers(0, 64, MANY) << same | (1 << 40)
    expected = np.sort(words)
    sort_words(words, 63)
    assert np.array_equal(words, expected)


def test_words_in_order_already_stay() -> None:
    words = np.arange(MANY)
    sort_words(words, 11)
    assert np.array_equal(words, np.arange(MANY))


@pytest.mark.parametrize("size", [FEW, MANY])
def test_low_bits_may_be_left_to_the_order_of_the_words(size: int) -> None:
    words = np.random.default_rng(1).integers(0, 50, size) << 12 | np.arange(size)
    expected = np.sort(words)
    sort_words(words, 18, low=12)
    assert np.array_equal(words, expected)


@pytest.mark.parametrize("size", [1, FEW, MANY])
def test_rows_in_order_by_places(size: int) -> None:
    random = np.random.default_rng(size)
    wide = random.integers(LEAST, MOST, size, endpoint=True)
    wide[:: max(1, size // 4)] = LEAST
    wide[-1] = MOST
    columns = [random.integers(-2, 3, size), wide, random.integers(0, 2, size), np.full(size, 7)]
    assert places_in_order(columns).tolist() == np.lexsort(columns[::-1]).tolist()


def test_equal_rows_keep_their_order() -> None:
    assert places_in_order([np.zeros(MANY, np.int64)]).tolist() == list(range(MANY))
    assert places_in_order([np.empty(0, np.int64)]).tolist() == []
