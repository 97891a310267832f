"""Support counts that follow changes, against a Counter after every step."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import ValueRangeError
from lftj.heads.support import support_counts
from lftj.heads.support_state import SupportState
from lftj.scantree import Arena

Row = tuple[int, ...]
row = st.tuples(st.integers(0, 2), st.sampled_from([-(2**63), 0, 2**63 - 1]))
step = st.lists(st.tuples(row, st.integers(-3, 4)), max_size=40)


def columns_of(rows: list[Row], width: int) -> list[np.ndarray]:
    return [np.array([row[c] for row in rows], dtype=np.int64) for c in range(width)]


@given(st.integers(0, 2), st.lists(step, max_size=5))
def test_oracle_histories(width: int, steps: list[list[tuple[Row, int]]]) -> None:
    state = SupportState.empty(Arena(1 << 28), width)
    bag: Counter[Row] = Counter()
    versions = [(state, Counter(bag))]
    for change in steps:
        signed = []
        for row, count in change:
            row = row[:width] or (0,)
            count = max(count, -bag[row])
            bag[row] += count
            signed.append((row, count))
        before, bag = versions[-1][1], +bag
        columns = columns_of([row for row, _ in signed], width)
        state, delta = state.update(
            columns, np.array([count for _, count in signed], dtype=np.int64)
        )
        assert list(zip(*(c.tolist() for c in delta.inserts), strict=True)) == sorted(
            set(bag) - set(before)
        )
        assert list(zip(*(c.tolist() for c in delta.erases), strict=True)) == sorted(
            set(before) - set(bag)
        )
        versions.append((state, Counter(bag)))
    for version, expected in versions:
        rows, counts = version.counts()
        assert (
            dict(zip(zip(*(c.tolist() for c in rows), strict=True), counts.tolist(), strict=True))
            == expected
        )
        assert len(version) == len(expected)


@given(st.lists(row, max_size=20))
def test_built_and_updated_states_agree(rows: list[Row]) -> None:
    columns, ones = columns_of(rows, 2), np.ones(len(rows), dtype=np.int64)
    built = SupportState.build(Arena(1 << 28), *support_counts(columns, ones))
    updated, delta = SupportState.empty(Arena(1 << 28), 2).update(columns, ones)
    assert [c.tolist() for c in built.tree.columns()] == [
        c.tolist() for c in updated.tree.columns()
    ]
    assert [c.tolist() for c in built.rows()] == [c.tolist() for c in delta.inserts]
    assert built.memory == 8 * 3 * len(set(rows))


def test_the_words_of_a_nullary_head() -> None:
    state = SupportState.build(Arena(1 << 28), [np.array([0])], np.array([2]))
    state, delta = state.update([], np.array([1, -2]))
    assert len(delta) == 0
    state, delta = state.update([], np.array([-1]))
    assert (len(state), delta.erased, delta.inserted) == (0, 1, 0)


@pytest.mark.parametrize("rows", [1, 40])
def test_counts_do_not_wrap(rows: int) -> None:
    state = SupportState.build(Arena(1 << 28), [np.array([7])], np.array([2**63 - 1]))
    with pytest.raises(ValueRangeError, match="2⁶³"):
        state.update([np.full(rows, 7)], np.ones(rows, dtype=np.int64))
    with pytest.raises(ValueRangeError, match="2⁶³"):
        state.update([np.full(2, 8)], np.full(2, 2**62))


def test_no_more_can_go_than_came() -> None:
    state = SupportState.build(Arena(1 << 28), [np.array([7])], np.array([1]))
    with pytest.raises(AssertionError):
        state.update([np.array([7])], np.array([-2]))
