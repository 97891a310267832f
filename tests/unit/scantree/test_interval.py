"""Interval trees against the `intervaltree` package and against all intervals looked at
one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intervaltree import IntervalTree as Oracle

from lftj.scantree import Arena, IntervalTree
from lftj.scantree.invariants import check_invariants
from tests.unit.scantree.trees import GREATEST, LEAST, Row, columns_of, numbers, rows_of


class Case(NamedTuple):
    """Intervals (α…, a, b, γ…) and the pages to keep them on."""

    prefix: int
    width: int
    rows: list[Row]
    pages: tuple[int, int]

    def tree(self, rows: list[Row] | None = None) -> IntervalTree:
        """An interval tree of these rows."""
        leaf, fan = self.pages
        columns = columns_of(sorted(self.rows if rows is None else rows), self.width)
        return IntervalTree.build(
            Arena(reserve_bytes=1 << 28), self.prefix, columns, leaf_capacity=leaf, fan=fan
        )

    def overlapping(self, prefix: Row, low: int, high: int) -> list[Row]:
        """Expected result of `overlap`."""
        p = self.prefix
        return sorted(
            row for row in self.rows if row[:p] == prefix and row[p] <= high and row[p + 1] >= low
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    prefix, rest = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    row = st.tuples(
        st.tuples(*[st.integers(0, 2)] * prefix),
        st.tuples(numbers(20), numbers(20)).map(sorted),
        st.tuples(*[st.integers(0, 1)] * rest),
    ).map(lambda parts: (*parts[0], *parts[1], *parts[2]))
    rows = draw(st.sets(row, max_size=60))
    return Case(
        prefix, prefix + 2 + rest, sorted(rows), draw(st.sampled_from([(4, 4), (7, 5), (512, 256)]))
    )


@given(cases(), st.data())
def test_stabs_and_overlaps_find_what_looking_at_all_finds(case: Case, data: st.DataObject) -> None:
    tree = case.tree()
    for _ in range(5):
        prefix = data.draw(st.tuples(*[st.integers(0, 2)] * case.prefix))
        low, high = sorted(data.draw(st.tuples(numbers(20), numbers(20))))
        assert rows_of(tree.stab(prefix, low)) == case.overlapping(prefix, low, low)
        assert rows_of(tree.overlap(prefix, low, high)) == case.overlapping(prefix, low, high)


@given(cases(), st.data())
def test_many_stabs_at_once_are_the_single_ones_in_order(case: Case, data: st.DataObject) -> None:
    tree = case.tree()
    queries = data.draw(
        st.lists(st.tuples(*[st.integers(0, 2)] * case.prefix, numbers(20)), max_size=12)
    )
    columns = columns_of(queries, case.prefix + 1)
    which, found = tree.stab_many(columns[:-1], columns[-1])
    expected = [
        (i, row)
        for i, query in enumerate(queries)
        for row in case.overlapping(query[:-1], query[-1], query[-1])
    ]
    assert list(zip(which.tolist(), rows_of(found), strict=True)) == expected


@given(st.data())
def test_changed_trees_agree_with_the_intervaltree_package(data: st.DataObject) -> None:
    interval = st.tuples(st.integers(-50, 50), st.integers(0, 30)).map(
        lambda start: (start[0], start[0] + start[1])
    )
    case = Case(0, 2, sorted(data.draw(st.sets(interval, max_size=60))), (4, 4))
    tree, oracle = (
        case.tree(),
        Oracle.from_tuples((a, b + 1) for a, b in case.rows),
    )  # its intervals are open to the right
    for _ in range(3):
        inserts = data.draw(st.sets(interval, max_size=20))
        erases = (
            data.draw(st.sets(st.sampled_from(sorted(case.rows)), max_size=20))
            if case.rows
            else set()
        )
        tree = tree.apply(columns_of(sorted(inserts), 2), columns_of(sorted(erases), 2))
        for a, b in erases:
            oracle.discardi(a, b + 1)
        for a, b in inserts:
            oracle.addi(a, b + 1)
        check_invariants(tree.tree)
        assert len(tree) == len(oracle)
        for value in range(-55, 85, 7):
            assert rows_of(tree.stab((), value)) == sorted(
                (i.begin, i.end - 1) for i in oracle.at(value)
            )
            assert rows_of(tree.overlap((), value, value + 5)) == sorted(
                (i.begin, i.end - 1) for i in oracle.overlap(value, value + 6)
            )


def test_twenty_thousand_intervals_agree_with_the_intervaltree_package() -> None:
    random = np.random.default_rng(1)
    starts = np.unique(random.integers(0, 1 << 40, 20_000))
    lengths = random.choice([10, 1 << 20, 1 << 33, 1 << 38], len(starts), p=[0.5, 0.3, 0.19, 0.01])
    tree = IntervalTree.build(Arena(), 0, [starts, starts + lengths])
    oracle = Oracle.from_tuples(zip(starts.tolist(), (starts + lengths + 1).tolist(), strict=True))
    values = random.integers(0, 1 << 40, 40)
    which, (begins, ends) = tree.stab_many([], values)
    for number, value in enumerate(values.tolist()):
        mine = which == number
        expected = sorted((i.begin, i.end - 1) for i in oracle.at(value))
        assert list(zip(begins[mine].tolist(), ends[mine].tolist(), strict=True)) == expected


def test_values_travel_with_their_intervals() -> None:
    tree = IntervalTree.build(
        Arena(), 1, columns_of([(0, 1, 5), (0, 2, 3), (1, 1, 9)], 3), [np.array([10, 20, 30])]
    )
    assert rows_of(tree.stab([0], 3)) == [(0, 1, 5, 10), (0, 2, 3, 20)]
    assert rows_of(tree.apply(columns_of([(0, 2, 3, 21)], 4)).stab([0], 2)) == [
        (0, 1, 5, 10),
        (0, 2, 3, 21),
    ]


def test_the_ends_of_int64_bound_intervals_too() -> None:
    rows = [(LEAST, LEAST), (LEAST, GREATEST), (0, GREATEST), (GREATEST, GREATEST)]
    tree = IntervalTree.build(Arena(), 0, columns_of(rows, 2))
    assert rows_of(tree.stab((), LEAST)) == rows[:2]
    assert rows_of(tree.stab((), GREATEST)) == rows[1:]
    assert rows_of(tree.overlap((), LEAST, GREATEST)) == rows


def test_no_intervals() -> None:
    tree = IntervalTree.empty(Arena(), 1, 4)
    assert len(tree) == 0
    assert rows_of(tree.stab([3], 0)) == []
    assert [len(column) for column in tree.stab_many([np.arange(5)], np.arange(5))[1]] == [0] * 4


def test_what_cannot_be_an_interval_tree_is_refused() -> None:
    arena = Arena()
    with pytest.raises(ValueError, match="ends before it begins"):
        IntervalTree.build(arena, 0, columns_of([(1, 2), (4, 3)], 2))
    with pytest.raises(ValueError, match="2 key columns are not a prefix of 1, a, b"):
        IntervalTree.empty(arena, 1, 2)
    with pytest.raises(ValueError, match=r"first aggregate must be \('max', 2\)"):
        IntervalTree(IntervalTree.empty(arena, 0, 4).tree, 1)
    with pytest.raises(ValueError, match="2 columns expected, 1 given"):
        IntervalTree.build(arena, 1, columns_of([(0, 1, 2)], 3)).stab([], 1)
