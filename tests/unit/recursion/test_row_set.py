"""Row sets of every kind beside Python's sets."""

from __future__ import annotations

import random

import numpy as np
import pytest

from lftj.recursion.row_set import RowSet

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
        span = [(low, high)] * width if seen else [(-3, 3)] * width  # the ranges widen after the first batch
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
