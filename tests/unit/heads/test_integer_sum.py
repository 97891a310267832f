"""Totals and means of integers against Python's own."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lftj.heads.integer_sum import Totals, grouped_totals, means

INT64 = st.one_of(
    st.integers(-9, 9),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1]),
)
COUNTS = st.one_of(st.just(1), st.integers(1, 5), st.integers(-(2**40), 2**40))
Bag = list[tuple[int, int]]


def totals_of(groups: list[Bag]) -> Totals:
    rows = [row for group in groups for row in group]
    starts = np.cumsum([0, *(len(group) for group in groups)])[:-1]
    return grouped_totals(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        starts,
    )


def exact(groups: list[Bag]) -> list[int]:
    return [sum(value * count for value, count in group) for group in groups]


bags = st.lists(st.tuples(INT64, COUNTS), min_size=1, max_size=6)


@given(st.lists(bags, min_size=1, max_size=5))
def test_totals_are_exact(groups: list[Bag]) -> None:
    totals = totals_of(groups)
    expected = exact(groups)
    assert [totals.exact(group) for group in range(len(groups))] == expected
    fitting = totals.fitting().tolist()
    assert fitting == [-(2**63) <= total < 2**63 for total in expected]
    assert [
        total for total, fits in zip(totals.int64().tolist(), fitting, strict=True) if fits
    ] == [total for total, fits in zip(expected, fitting, strict=True) if fits]


@given(st.lists(st.tuples(bags, bags), min_size=1, max_size=4))
def test_totals_merge_and_forget(pairs: list[tuple[Bag, Bag]]) -> None:
    left, right = totals_of([pair[0] for pair in pairs]), totals_of([pair[1] for pair in pairs])
    both = left.merged(right)
    together = totals_of([a + b for a, b in pairs])
    assert [both.high.tolist(), both.low.tolist()] == [
        together.high.tolist(),
        together.low.tolist(),
    ]
    back = both.merged(totals_of([[(value, -count) for value, count in pair[1]] for pair in pairs]))
    assert [back.high.tolist(), back.low.tolist()] == [left.high.tolist(), left.low.tolist()]


@given(st.lists(st.tuples(bags, st.integers(1, 2**62)), min_size=1, max_size=5), st.integers(0, 18))
def test_means_round_once(groups: list[tuple[Bag, int]], scale: int) -> None:
    sizes = np.array([size for _, size in groups], dtype=np.int64)
    found = means(totals_of([bag for bag, _ in groups]), sizes, scale)
    expected = [
        total / (size * 10**scale)
        for total, (_, size) in zip(exact([bag for bag, _ in groups]), groups, strict=True)
    ]
    assert found.tolist() == expected
