"""Rows against Python sets and sorted lists, over ranges that pack into one number and ranges that
do not.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.scantree.rows import (
    contains,
    counted_together,
    difference,
    differences,
    equal_runs,
    intersection,
    locate,
    net_rows,
    sort_and_count,
    sort_order,
    sort_rows,
    union,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
VALUES = st.sampled_from(
    [
        st.integers(0, 3),
        st.integers(-5, 2**30),
        INT64,
        st.sampled_from([-(2**63), -1, 0, 1, 2**63 - 1]),
    ]
)
Rows = list[tuple[int, ...]]


def columns_of(rows: Rows, width: int) -> list[np.ndarray]:
    return [np.array([row[c] for row in rows], dtype=np.int64) for c in range(width)]


def rows_of(columns: list[np.ndarray]) -> Rows:
    return list(zip(*(column.tolist() for column in columns), strict=True))


@st.composite
def some_rows(draw: st.DrawFn, max_size: int = 30) -> tuple[int, Rows]:
    kinds = draw(st.lists(VALUES, min_size=1, max_size=5))
    rows = draw(st.lists(st.tuples(*(draw(st.just(kind)) for kind in kinds)), max_size=max_size))
    return len(kinds), rows


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[int, Rows, Rows]:
    width, rows = draw(some_rows(max_size=40))
    sides = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    a = [row for row, side in zip(rows, sides, strict=True) if side != 1]
    b = [row for row, side in zip(rows, sides, strict=True) if side in (1, 2)]
    return width, sorted(set(a)), sorted(set(b))


@given(some_rows())
def test_sorting_agrees_with_sorted(case: tuple[int, Rows]) -> None:
    width, rows = case
    columns = columns_of(rows, width)
    assert rows_of(sort_rows(columns)) == sorted(set(rows))
    assert sort_order(columns).tolist() == sorted(range(len(rows)), key=rows.__getitem__)
    assert rows_of(columns) == rows, "the argument was changed"


@given(some_rows(), st.data())
def test_counting_agrees_with_counter(case: tuple[int, Rows], data: st.DataObject) -> None:
    width, rows = case
    count = st.one_of(st.integers(1, 4), st.integers(-(2**40), 2**40))
    counts = data.draw(st.lists(count, min_size=len(rows), max_size=len(rows)))
    expected: Counter[tuple[int, ...]] = Counter()
    for row, times in zip(rows, counts, strict=True):
        expected[row] += times
    columns, sums = sort_and_count(columns_of(rows, width), np.array(counts, dtype=np.int64))
    assert list(zip(rows_of(columns), sums.tolist(), strict=True)) == sorted(expected.items())
    if rows:
        matrix, sums = net_rows(columns_of(rows, width), np.array(counts, dtype=np.int64))
        assert list(zip(rows_of(list(matrix)), sums.tolist(), strict=True)) == sorted(
            item for item in expected.items() if item[1]
        )
        assert matrix.flags.c_contiguous


@pytest.mark.parametrize("sizes", [(5, 200), (200, 5), (60, 70), (0, 9)])
def test_counts_of_two_sides_are_added(sizes: tuple[int, int]) -> None:
    random = np.random.default_rng(sizes[0])
    sides = [
        sort_and_count([random.integers(0, 9, size), random.integers(0, 30, size)],
                       random.integers(-3, 4, size))
        for size in sizes
    ]  # fmt: skip
    expected: Counter[tuple[int, ...]] = Counter()
    for rows, counts in sides:
        for row, count in zip(rows_of(rows), counts.tolist(), strict=True):
            expected[row] += count
    rows, counts = counted_together(*sides[0], *sides[1])
    assert list(zip(rows_of(rows), counts.tolist(), strict=True)) == sorted(expected.items())


def test_counts_of_two_sides_that_leave_the_range_are_an_error() -> None:
    many = [np.arange(50)], np.full(50, 2**63 - 1)
    with pytest.raises(OverflowError, match="64 bits"):
        counted_together(*many, [np.array([7])], np.ones(1, np.int64))
    _, counts = counted_together(*many, [np.array([7])], np.full(1, -1))
    assert counts.tolist().count(2**63 - 2) == 1


@pytest.mark.parametrize("bits", [8, 30, 62])
@pytest.mark.parametrize("count", [1, -3, 2**40])
def test_many_rows_that_count_the_same(bits: int, count: int) -> None:
    """Rows of few values, rows that fit into a word, and rows that do not: each several times, in
    any order and in order.
    """
    random = np.random.default_rng(bits)
    columns = [
        random.choice(random.integers(-(2**bits), 2**bits, 2000), 9000),
        random.integers(-1, 2, 9000),
    ]
    expected = Counter(rows_of(columns))
    order = np.lexsort(columns[::-1])
    for side in (columns, [column[order] for column in columns]):
        before = rows_of(side)
        for rows, sums in (
            sort_and_count(side, np.full(9000, count)),
            net_rows(side, np.full(9000, count)),
        ):
            assert rows_of(list(rows)) == sorted(expected)
            assert sums.tolist() == [count * expected[row] for row in sorted(expected)]
        assert rows_of(side) == before, "the argument was changed"


@given(two_sides())
def test_set_operations_agree_with_sets(case: tuple[int, Rows, Rows]) -> None:
    width, left, right = case
    a, b = columns_of(left, width), columns_of(right, width)
    assert contains(a, b).tolist() == [row in set(right) for row in left]
    assert rows_of(difference(a, b)) == sorted(set(left) - set(right))
    assert [rows_of(side) for side in differences(a, b)] == [
        rows_of(difference(a, b)),
        rows_of(difference(b, a)),
    ]
    assert rows_of(union(a, b)) == sorted(set(left) | set(right))
    assert rows_of(intersection(a, b)) == sorted(set(left) & set(right))
    positions, found = locate(a, b)
    assert positions.tolist() == [sum(other < row for other in right) for row in left]
    assert found.tolist() == [row in set(right) for row in left]


@pytest.mark.parametrize("at_once", [1, 2, 7, 60])
def test_sides_that_are_compared_in_pieces(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces end inside and between runs of a leading value, and are empty on either side."""
    monkeypatch.setattr("lftj.scantree.rows._AT_ONCE", at_once)
    random = np.random.default_rng(at_once)
    for leading in (1, 3, 40):
        a, b = (
            sort_rows([random.integers(0, leading, rows), random.integers(0, 30, rows)])
            for rows in (80, 60)
        )
        one, other = set(rows_of(a)), set(rows_of(b))
        assert [rows_of(side) for side in differences(a, b)] == [
            sorted(one - other),
            sorted(other - one),
        ]
        assert contains(a, b).tolist() == [row in other for row in rows_of(a)]


@pytest.mark.parametrize("at_once", [1, 2, 7, 60, 61])
def test_rows_in_order_are_seen_in_pieces(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal rows, and rows out of order, lie inside pieces and on either side of their ends."""
    monkeypatch.setattr("lftj.scantree.rows._AT_ONCE", at_once)
    monkeypatch.setattr("lftj.scantree.rows._LARGE", 0)
    for place in range(60):
        numbers = np.arange(61)
        for other in (numbers[place], numbers[place + 1], 61, -1):
            column = np.where(numbers == place, other, numbers)
            columns, listed = [column // 8, column], list(map(int, column))
            assert sort_order(columns).tolist() == sorted(range(61), key=listed.__getitem__)
            assert rows_of(sort_rows(columns)) == [(each // 8, each) for each in sorted({*listed})]
            counted, sums = sort_and_count(columns, numbers)
            expected = Counter[tuple[int, ...]]()
            for row, number in zip(rows_of(columns), numbers.tolist(), strict=True):
                expected[row] += number
            assert dict(zip(rows_of(counted), sums.tolist(), strict=True)) == expected


@pytest.mark.parametrize("span", [50, 2**62])
def test_a_much_smaller_side_gives_the_same_sets(span: int) -> None:
    random = np.random.default_rng(7)
    many = sort_rows([random.integers(-span, span, 2000), random.integers(-3, 3, 2000)])
    few = sort_rows([np.append(many[0][::211], [-span, span]), np.append(many[1][::211], [0, 9])])
    small, large = set(rows_of(few)), set(rows_of(many))
    for a, b, left, right in ((few, many, small, large), (many, few, large, small)):
        assert rows_of(union(a, b)) == sorted(left | right)
        assert rows_of(difference(a, b)) == sorted(left - right)
        assert rows_of(intersection(a, b)) == sorted(left & right)


@given(some_rows())
def test_runs_start_where_the_prefix_changes(case: tuple[int, Rows]) -> None:
    width, rows = case
    columns = sort_rows(columns_of(rows, width))
    ordered = rows_of(columns)
    for prefix in range(width + 1):
        expected = [
            i for i, row in enumerate(ordered) if i == 0 or row[:prefix] != ordered[i - 1][:prefix]
        ]
        assert equal_runs(columns, prefix).tolist() == expected


@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_many_wide_rows(seed: int) -> None:
    random = np.random.default_rng(seed)
    few = random.integers(-(2**63), 2**63 - 1, 40)
    columns = [
        random.choice(few, 5000),
        random.choice(few, 5000),
        random.integers(-(2**63), 2**63 - 1, 5000),
    ]
    columns = [np.append(column, column[:900]) for column in columns]
    rows = rows_of(columns)
    assert rows_of(sort_rows(columns)) == sorted(set(rows))
    assert sort_order(columns).tolist() == np.lexsort(columns[::-1]).tolist()


def test_sorted_input_is_not_copied() -> None:
    columns = [np.arange(5), np.zeros(5, dtype=np.int64)]
    assert all(before is after for before, after in zip(columns, sort_rows(columns), strict=True))


@pytest.mark.parametrize(
    ("counts", "total"),
    [
        ([2**63 - 1, 1, -1], 2**63 - 1),
        ([-(2**63), -1, 1], -(2**63)),
        ([-(2**63), -(2**63), 2**63 - 1, 2], 1 - 2**63 + 0),
    ],
)
def test_a_sum_may_leave_the_range_on_its_way(counts: list[int], total: int) -> None:
    assert sum(counts) == total
    for columns in ([], [np.zeros(len(counts), dtype=np.int64)]):
        _, sums = sort_and_count(columns, np.array(counts, dtype=np.int64))
        assert sums.tolist() == [total]


@pytest.mark.parametrize(
    "counts", [[2**63 - 1, 1], [-(2**63), -1], [2**63 - 1] * 5, [-(2**63)] * 2]
)
def test_a_sum_outside_the_range_is_an_error(counts: list[int]) -> None:
    with pytest.raises(OverflowError, match="64 bits"):
        sort_and_count([np.zeros(len(counts), dtype=np.int64)], np.array(counts, dtype=np.int64))


def test_no_columns() -> None:
    empty = np.zeros(0, dtype=np.int64)
    assert sort_rows([]) == []
    assert sort_and_count([], np.array([2, 3]))[1].tolist() == [5]
    assert sort_and_count([], empty)[1].tolist() == []
    for ambiguous in (
        lambda: union([], []),
        lambda: contains([], []),
        lambda: sort_order([]),
        lambda: equal_runs([], 0),
    ):
        with pytest.raises(ValueError, match="columns"):
            ambiguous()


def test_sides_of_different_width_are_refused() -> None:
    with pytest.raises(ValueError, match="1 and 2 columns"):
        difference([np.arange(3)], [np.arange(3), np.arange(3)])


def test_the_same_without_compilation() -> None:
    tests = "sorting or counting or set_operations or range"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-k",
        tests,
        __file__,
    ]
    run = subprocess.run(
        command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("lowest", [-(2**63), -3, 2**63 - 8])
def test_many_rows_of_few_values_are_added_up_as_they_come(width: int, lowest: int):
    by = np.random.default_rng(width)
    columns = [lowest + by.integers(0, 7, 5000) for _ in range(width)]
    counts = by.integers(-1, 2, 5000)
    counts[5:50] = 2**40
    expected: dict[tuple[int, ...], int] = {}
    for *row, count in zip(*(column.tolist() for column in columns), counts.tolist(), strict=True):
        expected[tuple(row)] = expected.get(tuple(row), 0) + count
    expected[tuple([lowest] * width)] -= (zero := expected[tuple([lowest] * width)])
    rows = [np.append(column, lowest) for column in columns]
    found, sums = sort_and_count(rows, np.append(counts, -zero))
    assert list(zip(*(column.tolist() for column in found), sums.tolist(), strict=True)) == [
        (*row, n) for row, n in sorted(expected.items())
    ]
    matrix, sums = net_rows(rows, np.append(counts, -zero))
    assert [*zip(*matrix.tolist(), sums.tolist(), strict=True)] == [
        (*row, n) for row, n in sorted(expected.items()) if n
    ]


def test_sums_of_many_rows_that_leave_a_word_are_noticed():
    rows = [np.arange(5000) % 7]
    for greatest, further in ((2**63 - 1, 1), (-(2**63), -1)):
        counts = np.zeros(5000, np.int64)
        counts[0] = greatest
        assert sort_and_count(rows, counts)[1].tolist() == [greatest, 0, 0, 0, 0, 0, 0]
        counts[7] = further
        with pytest.raises(OverflowError):
            sort_and_count(rows, counts)
