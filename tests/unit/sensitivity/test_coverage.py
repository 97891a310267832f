"""Merging intervals: what is covered, and how few intervals cover it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.sensitivity import (
    EXACT,
    NEGATIVE_INFINITY,
    NONE,
    POSITIVE_INFINITY,
    Granularity,
    hull,
    projected,
)
from lftj.sensitivity.coverage import consolidated
from tests.unit.scantree.trees import Row, columns_of, rows_of

LEAST, GREATEST = NEGATIVE_INFINITY, POSITIVE_INFINITY
END = st.integers(-3, 12) | st.sampled_from([LEAST, LEAST + 1, GREATEST - 1, GREATEST])
INTERVAL = st.tuples(END, END).map(lambda ends: (min(ends), max(ends)))
ROW = st.tuples(st.integers(0, 1), INTERVAL, st.integers(0, 1), st.integers(0, 2)).map(
    lambda row: (row[0], *row[1], row[2], row[3])
)
PROBES = [*range(-4, 14), LEAST, LEAST + 1, LEAST + 2, GREATEST - 2, GREATEST - 1, GREATEST]


def merged(rows: list[Row], granularity: Granularity) -> list[Row]:
    return rows_of(consolidated(columns_of(rows, 5), 1, granularity))


def covered(rows: list[Row], kept: int) -> set[Row]:
    """(α, γ cut, value) that some interval covers."""
    return {
        (row[0], *row[3 : 3 + kept], value)
        for row in rows
        for value in PROBES
        if row[1] <= value <= row[2]
    }


@settings(max_examples=80)
@given(st.lists(ROW, max_size=30))
def test_exact_covers_the_same_with_disjoint_intervals(rows: list[Row]) -> None:
    kept = merged(rows, EXACT)
    assert covered(kept, 2) == covered(rows, 2)
    assert kept == sorted(set(kept))
    in_order = sorted(kept, key=lambda row: (row[0], row[3], row[4], row[1]))
    for row, following in pairwise(in_order):
        assert (row[0], row[3:]) != (following[0], following[3:]) or row[2] < following[1] - 1


@settings(max_examples=80)
@given(st.lists(ROW, max_size=30), st.integers(1, 3))
def test_a_hull_covers_no_less_with_few_intervals(rows: list[Row], room: int) -> None:
    kept = merged(rows, hull(room))
    assert covered(kept, 2) >= covered(rows, 2)
    exact = merged(rows, EXACT)
    for context in {(row[0], *row[3:]) for row in exact}:
        these = [row for row in kept if (row[0], *row[3:]) == context]
        those = [row for row in exact if (row[0], *row[3:]) == context]
        assert len(these) == min(room, len(those))
        assert {row[1] for row in these} <= {row[1] for row in those}
        assert {row[2] for row in these} <= {row[2] for row in those}


@settings(max_examples=50)
@given(st.lists(ROW, max_size=30), st.integers(0, 1))
def test_a_projection_has_one_interval_for_each_shorter_context(rows: list[Row], cut: int) -> None:
    kept = merged(rows, projected(cut))
    assert covered(kept, cut) >= covered(rows, cut)
    assert len({(row[0], *row[3:]) for row in kept}) == len(kept)


def test_the_smallest_gaps_are_merged_first() -> None:
    rows = [(0, 0, 1, 0, 0), (0, 4, 5, 0, 0), (0, 30, 31, 0, 0), (0, 38, 40, 0, 0)]
    assert merged(rows, hull(3)) == [(0, 0, 5, 0, 0), rows[2], rows[3]]
    assert merged(rows, hull(2)) == [(0, 0, 5, 0, 0), (0, 30, 40, 0, 0)]
    assert merged(rows, hull(1)) == [(0, 0, 40, 0, 0)]


def test_of_equal_gaps_just_enough_are_merged() -> None:
    rows = [(0, low, low, 0, 0) for low in (0, 10, 20, 30)]
    assert [len(merged(rows, hull(room))) for room in (1, 2, 3, 4, 9)] == [1, 2, 3, 4, 4]


def test_gaps_wider_than_an_int64_are_compared_rightly() -> None:
    rows = [
        (0, LEAST, LEAST, 0, 0),
        (0, GREATEST - 9, GREATEST - 9, 0, 0),
        (0, GREATEST, GREATEST, 0, 0),
    ]
    assert merged(rows, hull(2)) == [rows[0], (0, GREATEST - 9, GREATEST, 0, 0)]


def test_no_intervals_stay_no_intervals() -> None:
    assert [len(column) for column in consolidated(columns_of([], 5), 1, projected(1))] == [
        0,
        0,
        0,
        0,
    ]


def test_intervals_without_any_context_are_merged() -> None:
    low, high = np.array([5, 1, 2]), np.array([6, 2, 3])
    assert rows_of(consolidated([low, high], 0, EXACT)) == [(1, 3), (5, 6)]


def test_which_granularity_can_be_made_of_which() -> None:
    order = [EXACT, hull(3), hull(1), projected(2), projected(0), NONE]
    for i, finer in enumerate(order):
        for j, coarser in enumerate(order):
            assert coarser.at_most(finer) == (i <= j), (str(finer), str(coarser))
    assert [str(granularity) for granularity in order] == [
        "exact",
        "hull(3)",
        "hull(1)",
        "projected(2)",
        "projected(0)",
        "none",
    ]
    assert [granularity.exact for granularity in order] == [True, True, False, False, False, False]


def test_impossible_granularities_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one interval"):
        hull(0)
    with pytest.raises(ValueError, match="cannot keep -1"):
        projected(-1)
