"""Rows go to the part that holds their keys, and to all pieces of a key where they do not tell."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lftj.partition.route import route
from lftj.partition.split import KeyRange, split
from tests.unit.partition.test_split import KEYS, WEIGHTS, below, cut, holds

ROWS = st.lists(st.tuples(KEYS, st.integers(-3, 12)), max_size=20)


def columns(rows: list[tuple[int, int]]) -> list[np.ndarray]:
    return [np.array([row[i] for row in rows], np.int64) for i in range(2)]


@given(st.dictionaries(KEYS, WEIGHTS, max_size=30), st.integers(1, 12), ROWS)
def test_rows_with_both_variables_go_to_the_part_that_holds_them(
    weights: dict[int, int], parts: int, rows: list[tuple[int, int]]
):
    ranges = cut(weights, parts, divisible=True)
    first, after = route(ranges, *columns(rows))
    assert (after - first == 1).all()
    assert all(holds(ranges[part], *row) for part, row in zip(first, rows, strict=True))


@given(st.dictionaries(KEYS, WEIGHTS, max_size=30), st.integers(1, 12), ROWS)
def test_rows_without_the_second_go_to_all_parts_of_their_key(
    weights: dict[int, int], parts: int, rows: list[tuple[int, int]]
):
    ranges = cut(weights, parts, divisible=True)
    first, after = route(ranges, columns(rows)[0])
    for (key, _), low, high in zip(rows, first, after, strict=True):
        assert [
            number
            for number, part in enumerate(ranges)
            if any(holds(part, key, second) for second in range(-3, 12))
        ] == [*range(low, high)]


def test_rows_outside_all_parts_go_nowhere():
    ranges = split(np.arange(10), np.ones(10), 3, low=0, high=10)
    first, after = route(ranges, np.array([-1, 0, 9, 10]))
    assert (after - first).tolist() == [0, 1, 1, 0]
    heavy = split(np.array([4]), np.array([9.0]), 3, below, low=4, high=5)
    first, after = route(heavy, np.array([3, 4, 5]), np.array([0, 9, 0]))
    assert (after - first).tolist() == [0, 1, 0]


def test_there_may_be_no_parts_and_no_rows():
    first, after = route([], np.array([1, 2]))
    assert (first == after).all()
    first, after = route([KeyRange(None, None)], np.empty(0, np.int64), np.empty(0, np.int64))
    assert len(first) == len(after) == 0
