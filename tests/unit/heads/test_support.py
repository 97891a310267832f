"""Support counts against a Counter, and the rows that a change brings and takes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import ValueRangeError
from lftj.heads.support import group_sizes, support_counts


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 2), st.integers(1, 4))))
def test_supports_are_counted(rows: list[tuple[int, int, int]]) -> None:
    expected: Counter[tuple[int, int]] = Counter()
    for a, b, count in rows:
        expected[a, b] += count
    columns = [np.array([row[c] for row in rows], dtype=np.int64) for c in range(3)]
    head, counts = support_counts(columns[:2], columns[2])
    assert list(
        zip(zip(*(column.tolist() for column in head), strict=True), counts.tolist(), strict=True)
    ) == sorted(expected.items())


def test_a_nullary_head_counts_all_rows() -> None:
    assert support_counts([], np.array([1, 2, 4]))[1].tolist() == [7]
    assert support_counts([], np.array([], dtype=np.int64))[1].tolist() == []


def test_too_many_derivations() -> None:
    column, counts = np.zeros(2, dtype=np.int64), np.array([2**62, 2**62])
    with pytest.raises(ValueRangeError, match="2⁶³"):
        support_counts([column], counts)
    with pytest.raises(ValueRangeError, match="2⁶³"):
        group_sizes(counts, np.zeros(1, dtype=np.int64))
