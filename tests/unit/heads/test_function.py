"""Functional dependencies: who conflicts, and what the error says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import KeyViolationError
from lftj.heads.function import check_function, conflicts


def columns_of(rows: list[tuple[int, ...]]) -> list[np.ndarray]:
    return [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)), min_size=1), st.integers(0, 3))
def test_conflicts_are_the_rows_that_share_a_key(found: set[tuple[int, int, int]], width: int) -> None:
    rows = sorted(found)
    keys = [row[:width] for row in rows]
    expected = [i for i, key in enumerate(keys) if keys.count(key) > 1]
    assert conflicts(columns_of(rows), width).tolist() == expected


def test_a_function_passes() -> None:
    check_function(columns_of([(1, 5), (2, 5), (3, 4)]), 1)
    check_function([np.array([7])], 0)
    check_function([], 0)


def test_the_error_names_both_rows() -> None:
    names = {0: "a", 1: "b"}
    with pytest.raises(KeyViolationError) as caught:
        check_function(columns_of([(0, 5), (1, 5), (1, 6)]), 1, relation="F", decode=lambda row: (names[row[0]], row[1]))
    assert caught.value.rows == [("b", 5), ("b", 6)]
    assert caught.value.message == "F has two values for one argument: ('b', 5) and ('b', 6)"
    assert caught.value.hint is not None


def test_the_error_of_a_key_says_what_to_do() -> None:
    rows = [(key, value) for key in range(12) for value in range(3)]
    with pytest.raises(KeyViolationError, match=r"two rows of acct share a key: \(0, 0\) and \(0, 1\) \(and 11 more\)") as caught:
        check_function(columns_of(rows), 1, relation="acct", functional=False)
    assert caught.value.rows == rows[:30]
    assert "upsert" in str(caught.value)


def test_a_constant_function_has_one_row() -> None:
    with pytest.raises(KeyViolationError) as caught:
        check_function([np.array([3, 4])], 0, relation="limit")
    assert caught.value.rows == [(3,), (4,)]
