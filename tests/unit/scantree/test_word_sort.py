"""Sorting by digits, and where NumPy's sort takes over, against the latter: every width of words,
few and many, and equal ones.
"""

from __future__ import annotations

import numpy as np
import pytest

from lftj.partition.executor import ThreadExecutor
from lftj.scantree import word_sort
from lftj.scantree.sharing import SPAN
from lftj.scantree.word_sort import numpy_is_faster, sort_words

FEW, MANY = 100, 1500


@pytest.fixture(autouse=True, params=[False, True], ids=["digits", "numpy"])
def faster(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make either of the two the faster sort here."""
    monkeypatch.setattr(word_sort, "numpy_is_faster", lambda: request.param)


def test_one_of_the_two_is_faster_for_good() -> None:
    assert numpy_is_faster() is numpy_is_faster()


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


@pytest.mark.parametrize("bits", [1, 9, 30, 63])
@pytest.mark.parametrize("threads", [1, 3])
def test_runs_of_the_highest_digit_are_sorted_each_for_itself(bits: int, threads: int) -> None:
    words = np.random.default_rng(bits).integers(0, (1 << bits) - 1, 2 * SPAN + 1, endpoint=True)
    expected = np.sort(words)
    sort_words(words, bits, threads=ThreadExecutor(threads))
    assert np.array_equal(words, expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_may_be_very_uneven_and_leave_low_bits_alone(threads: int) -> None:
    words = np.random.default_rng(2).integers(0, 9, 2 * SPAN) << 20 | np.arange(2 * SPAN)
    words[7] = 1 << 62
    expected = np.sort(words)
    sort_words(words, 63, low=20, threads=ThreadExecutor(threads))
    assert np.array_equal(words, expected)
