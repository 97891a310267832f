"""Kept float sums: `math.fsum` of the live values after any history, and no trace of what came and
went.
"""

from __future__ import annotations

import math
import struct
import tracemalloc
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lftj.heads.aggregate_shape import AggregateShape, CallShape
from lftj.heads.aggregate_state import AggregateState
from lftj.heads.float_sum import ExactSum, FloatTotals
from lftj.heads.float_sum_kernels import STATE_WORDS, WORDS, to_balanced, to_twos_complement
from lftj.scantree import Arena
from lftj.types import FLOAT, INT, codes_to_floats, floats_to_codes
from lftj.types.dictionary import Dictionary
from tests.unit.heads.heads import state_of

SUM, MEAN = (CallShape(name, (1,), (FLOAT,), FLOAT) for name in ("sum", "mean"))
SHAPE = AggregateShape((0, 1), (INT, FLOAT), 1, (0,), (SUM, MEAN), (0, 1, 2))

powers = st.integers(0, 2099).map(lambda n: 1 << n)
units = st.one_of(
    st.integers(-3, 3), st.integers(-(2**2100), 2**2100), powers, powers.map(lambda power: -power)
)


@given(units, st.integers(-1, 1))
def test_balanced_words_are_the_number_and_nothing_else(number: int, near: int) -> None:
    number += near
    state = state_of(ExactSum.of_parts(number, 0, 0))
    words = np.empty(STATE_WORDS, dtype=np.int64)
    to_balanced(state, words)
    assert sum(word << (64 * i) for i, word in enumerate(words[:WORDS].tolist())) == number
    to_twos_complement(words)
    assert words.tolist() == state.tolist()


def random_floats(random: np.random.Generator, count: int) -> np.ndarray:
    """Values of all sizes, subnormal and huge ones among them; no 2000 of them sum to more than a
    float holds.
    """
    kinds = [
        random.choice([1e16, 1.0, -1e16, 0.1, 5e-324, -5e-324, 2.0**53, 1e300, -1e300], count),
        random.normal(size=count),
        np.ldexp(random.normal(size=count), random.integers(-1074, 980, count)),
    ]
    return np.choose(random.integers(0, 3, count), kinds)


def test_a_hundred_thousand_changes() -> None:
    random = np.random.default_rng(11)
    state = AggregateState.empty(Arena(1 << 32), SHAPE, Dictionary())
    live: list[list[float]] = [[], []]
    for round in range(500):
        rows: list[tuple[int, float, int]] = []
        for value in random_floats(random, 100).tolist():
            rows.append((group := int(random.integers(2)), value, 1))
            live[group].append(value)
        for _ in range(100 if round > 10 else 60):
            if pool := live[group := int(random.integers(2))]:
                at = int(random.integers(len(pool)))
                pool[at], pool[-1] = pool[-1], pool[at]
                rows.append((group, pool.pop(), -1))
        keys, values, signed = (np.array(column) for column in zip(*rows, strict=True))
        state, _ = state.update([keys, floats_to_codes(values)], signed)
        if round % 10 == 9:
            _, sums, means = (column.tolist() for column in state.rows())
            for group, pool in enumerate(live):
                total = math.fsum(pool)
                assert [
                    struct.pack("d", x)
                    for x in codes_to_floats(np.array([sums[group], means[group]])).tolist()
                ] == [
                    struct.pack("d", total + 0.0),
                    struct.pack("d", total / len(pool) + 0.0),
                ]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2**31)), min_size=1, max_size=30))
def test_a_history_that_comes_to_nothing_leaves_nothing(seeds: list[tuple[int, int]]) -> None:
    keys = np.array([group for group, _ in seeds])
    codes = floats_to_codes(
        np.concatenate([random_floats(np.random.default_rng(seed), 1) for _, seed in seeds])
    )
    ones = np.ones(len(keys), dtype=np.int64)
    state = AggregateState.empty(Arena(1 << 28), SHAPE, Dictionary())
    state, _ = state.update([keys, codes], ones)
    (kept,) = (kept for kept in state.kept if isinstance(kept, FloatTotals))
    before = [column.tolist() for column in kept.words.columns()]
    for part in (slice(None), slice(None, None, 2)):
        moved, _ = state.update([keys[part], codes[part]], 5 * ones[part])
        back, _ = moved.update([keys[part], codes[part]], -5 * ones[part])
        (again,) = (kept for kept in back.kept if isinstance(kept, FloatTotals))
        assert [column.tolist() for column in again.words.columns()] == before
    gone, _ = state.update([keys, codes], -ones)
    (nothing,) = (kept for kept in gone.kept if isinstance(kept, FloatTotals))
    assert (len(gone), len(nothing.words)) == (0, 0)


def test_everyday_sums_take_few_words() -> None:
    groups, each = 5000, 4
    keys = np.repeat(np.arange(groups), each)
    values = np.round(np.random.default_rng(5).normal(100, 50, groups * each), 2)
    state, rows = AggregateState.build(
        Arena(1 << 30),
        SHAPE,
        [keys, floats_to_codes(values)],
        np.ones(len(keys), dtype=np.int64),
        Dictionary(),
    )
    (kept,) = (kept for kept in state.kept if isinstance(kept, FloatTotals))
    assert len(kept.words) <= 3 * groups
    exact = [
        float(sum(map(Fraction, values[keys == group].tolist()))) for group in range(0, groups, 500)
    ]
    assert codes_to_floats(rows[1])[::500].tolist() == exact


def test_many_groups_of_few_rows_take_the_room_of_their_words() -> None:
    random = np.random.default_rng(6)
    keys = np.sort(random.integers(0, 40_000, 60_000))
    values = random_floats(random, len(keys))
    arguments = [keys, floats_to_codes(values)], np.ones(len(keys), dtype=np.int64), Dictionary()
    tracemalloc.start()
    try:
        state, rows = AggregateState.build(Arena(1 << 30), SHAPE, *arguments)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    groups, starts = np.unique(keys, return_index=True)
    assert codes_to_floats(rows[1]).tolist() == [
        math.fsum(group) for group in np.split(values, starts[1:])
    ]
    assert (
        peak < len(groups) * STATE_WORDS * 8 * 3
    )  # what room for all words of each group took was twice that
    state, _ = state.update([keys, floats_to_codes(values)], np.full(len(keys), -1))
    assert len(state) == 0
