"""Row sets of every kind beside Python's sets."""

from __future__ import annotations

import random

import numpy as np
import pytest

from lftj.maintenance.semi_naive.row_set import RowSet

RANGES = {
    "dense": (-50, 50),
    "sparse": (-(10**8), 10**8),
    "wide": (-(2**63), 2**63 - 1),
}


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize("expected", [(0, 0), (-10, 10)])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_fresh_rows_are_those_not_seen_before(kind: str, expected: tuple[int, int], width: int):
    by = random.Random(width)
    low, high = RANGES[kind]
    rows = RowSet(width, np.full(width, expected[0]), np.full(width, expected[1]))
    seen: set[tuple[int, ...]] = set()
    for batch in (1, 500, 3000, 0, 2000):
        span = (
            [(low, high)] * width if seen else [(-3, 3)] * width
        )  # the ranges widen after the first batch
        candidates = [tuple(by.randint(*each) for each in span) for _ in range(batch)]
        candidates += candidates[: batch // 3]
        rows.add(np.array(candidates, np.int64).reshape(-1, width).T.copy(), np.arange(width))
        fresh = list(zip(*(column.tolist() for column in rows.take_fresh()), strict=True))
        assert len(fresh) == len(set(fresh))
        assert set(fresh) == set(candidates) - seen
        seen |= set(candidates)
        assert rows.count == len(seen)
    assert list(zip(*(column.tolist() for column in rows.columns()), strict=True)) == sorted(seen)


def test_reading_all_rows_leaves_the_fresh_ones_to_be_taken():
    for value in (5, 2**62):
        rows = RowSet(2, np.zeros(2), np.full(2, value))
        rows.add(np.array([[1, 5], [2, 3]], np.int64), np.arange(2))
        assert [column.tolist() for column in rows.columns()] == [[1, 5], [2, 3]]
        assert len(rows.take_fresh()[0]) == 2
        assert len(rows.take_fresh()[0]) == 0


def test_rows_too_wide_to_pack_are_kept_as_others_are() -> None:
    wide = RowSet(2, np.array([-(2**62), -(2**62)]), np.array([2**62, 2**62]))
    rows = np.array([[5, -(2**61), 5, 2**61], [7, 8, 7, 9]])
    wide.add(rows, np.array([0, 1]))
    assert wide.count == 3
    assert [column.tolist() for column in wide.take_fresh(ordered=True)] == [
        [-(2**61), 5, 2**61],
        [8, 7, 9],
    ]
    wide.add(rows[:, :2], np.array([1, 0]))
    assert [column.tolist() for column in wide.columns()] == [
        [-(2**61), 5, 7, 8, 2**61],
        [8, 7, 5, -(2**61), 9],
    ]
    assert sorted(wide.take_fresh()[0].tolist()) == [7, 8]


def test_a_set_that_becomes_too_wide_to_pack_keeps_what_is_fresh() -> None:
    growing = RowSet(2, np.array([0, 0]), np.array([9, 9]))
    growing.add(np.array([[1, 2], [3, 4]]), np.array([0, 1]))
    growing.take_fresh()
    growing.add(np.array([[1, 5], [3, 6]]), np.array([0, 1]))
    growing.add(np.array([[2**61, 1], [-(2**61), 3]]), np.array([0, 1]))
    assert growing.count == 4
    assert [column.tolist() for column in growing.take_fresh(ordered=True)] == [
        [5, 2**61],
        [6, -(2**61)],
    ]
    assert growing.columns()[0].tolist() == [1, 2, 5, 2**61]


def test_ranges_widen_up_to_the_ends_of_64_bits() -> None:
    for near, far in ((2**62 + 9, 2**63 - 1), (-(2**62) - 9, -(2**63))):
        rows = RowSet(1, np.array([near]), np.array([near]))
        for value in (near, far, far, near):
            rows.add(np.array([[value]]), np.array([0]))
        assert rows.columns()[0].tolist() == sorted([near, far])
