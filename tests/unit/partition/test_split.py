"""Ranges of keys: nothing is left out or twice there, heavy keys stand apart, and no part is much
heavier than it has to be.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.partition.split import KeyRange, split

LEAST, GREATEST = -(2**63), 2**63 - 1
KEYS = st.one_of(st.integers(-20, 20), st.sampled_from([LEAST, LEAST + 1, GREATEST - 1, GREATEST]))
WEIGHTS = st.integers(1, 1000)


def holds(part: KeyRange, key: int, second: int) -> bool:
    def inside(value: int, low: int | None, high: int | None) -> bool:
        return (low is None or value >= low) and (high is None or value < high)

    return inside(key, part.low, part.high) and inside(second, part.second_low, part.second_high)


def below(key: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten values under every key, the last as heavy as the others together."""
    return np.arange(10, dtype=np.int64), np.array([1.0] * 9 + [9.0])


def cut(weights: dict[int, int], parts: int, divisible: bool) -> list[KeyRange]:
    keys = np.array(sorted(weights), np.int64)
    return split(
        keys,
        np.array([weights[key] for key in sorted(weights)], np.float64),
        parts,
        below if divisible else None,
    )


@given(
    st.dictionaries(KEYS, WEIGHTS, max_size=30),
    st.integers(1, 12),
    st.booleans(),
    KEYS,
    st.integers(-2, 12),
)
def test_every_pair_of_keys_lies_in_exactly_one_part(
    weights: dict[int, int], parts: int, divisible: bool, key: int, second: int
):
    ranges = cut(weights, parts, divisible)
    assert sum(holds(part, key, second) for part in ranges) == 1


@given(st.dictionaries(KEYS, WEIGHTS, min_size=1, max_size=30), st.integers(1, 12), st.booleans())
def test_parts_ascend_and_are_no_more_than_asked_for(
    weights: dict[int, int], parts: int, divisible: bool
):
    ranges = cut(weights, parts, divisible)
    assert sum(part.weight > 0 for part in ranges) <= parts
    starts = [
        (LEAST - 1 if p.low is None else p.low, LEAST - 1 if p.second_low is None else p.second_low)
        for p in ranges
    ]
    assert starts == sorted(set(starts))
    assert sum(part.weight for part in ranges) == pytest.approx(sum(weights.values()))


@given(st.dictionaries(KEYS, WEIGHTS, min_size=1, max_size=30), st.integers(1, 12), st.booleans())
def test_a_part_weighs_what_its_keys_weigh(weights: dict[int, int], parts: int, divisible: bool):
    seconds, shares = below(0)
    pairs = [
        (key, second, weight * share / shares.sum())
        for key, weight in weights.items()
        for second, share in zip(seconds, shares, strict=True)
    ]
    for part in cut(weights, parts, divisible):
        assert part.weight == pytest.approx(
            sum(weight for key, second, weight in pairs if holds(part, key, second))
        )


@given(st.lists(st.integers(50, 150), min_size=200, max_size=400), st.integers(2, 20))
def test_parts_of_many_light_keys_are_even(weights: list[int], parts: int):
    ranges = split(np.arange(len(weights)), np.array(weights, np.float64), parts)
    assert len(ranges) == parts
    assert max(part.weight for part in ranges) <= 1.01 * sum(weights) / parts + max(weights)


def test_a_heavy_key_has_parts_of_its_own():
    weights = dict.fromkeys(range(100), 1) | {40: 300}
    ranges = cut(weights, 8, divisible=True)
    own = [part for part in ranges if holds(part, 40, part.second_low or 0)]
    assert all(part.low == 40 and part.high == 41 and part.divides_key for part in own)
    assert len(own) > 2
    assert max(part.weight for part in ranges) <= 300 / 2
    whole = cut(weights, 8, divisible=False)
    assert not any(part.divides_key for part in whole)
    (holding,) = (part for part in whole if holds(part, 40, 0))
    assert holding.weight == 300


def test_a_heavy_key_under_which_nothing_is_known_stays_whole():
    ranges = split(
        np.array([4]), np.array([9.0]), 3, lambda key: (np.empty(0, np.int64), np.empty(0))
    )
    assert [(part.low, part.high, part.divides_key) for part in ranges] == [
        (None, 4, False),
        (4, 5, False),
        (5, None, False),
    ]


def test_the_last_of_all_keys_may_be_heavy_and_cut():
    ranges = cut({GREATEST: 9}, 3, divisible=True)
    assert [(part.low, part.high) for part in ranges] == [(None, GREATEST)] + [(GREATEST, None)] * (
        len(ranges) - 1
    )
    assert all(part.divides_key for part in ranges[1:])


def test_keys_that_are_heavy_for_a_part_but_not_for_two_stay_whole():
    weights = {key: 100 if key % 2 else 1 for key in range(7)}
    assert [part.weight for part in cut(weights, 7, divisible=True)] == [1, 100, 1, 100, 1, 100, 1]


def test_a_range_of_keys_is_divided_without_leaving_it():
    ranges = split(np.arange(5, 15), np.ones(10), 4, low=5, high=20)
    assert ranges[0].low == 5
    assert ranges[-1].high == 20
    assert [part.high for part in ranges[:-1]] == [part.low for part in ranges[1:]]


def test_nothing_is_one_part():
    nothing = np.empty(0, np.int64)
    assert split(nothing, np.empty(0), 7) == [KeyRange(None, None)]
    assert split(nothing, np.empty(0), 7, low=3) == [KeyRange(3, None)]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        split(np.arange(3), np.ones(3), 0)
    with pytest.raises(ValueError, match="3 keys with 2 weights"):
        split(np.arange(3), np.ones(2), 2)
