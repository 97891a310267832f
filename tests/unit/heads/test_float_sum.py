"""Exact float sums against math.fsum and rational arithmetic, through every path: scalar, grouped,
by states.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import ValueRangeError
from lftj.heads.float_sum import ExactSum, advanced, grouped_sums
from lftj.heads.float_sum_kernels import EXACT, NOT_A_NUMBER, OVERFLOW, STATE_WORDS
from lftj.types import codes_to_floats, floats_to_codes
from tests.unit.heads.heads import state_of

GREATEST = sys.float_info.max
LEAST = 5e-324

EXTREMES = [
    1e16,
    1.0,
    -1e16,
    0.1,
    LEAST,
    -LEAST,
    2.2250738585072014e-308,
    -2.225073858507201e-308,
    GREATEST,
    -GREATEST,
    2.0**53,
    1e308,
]
finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(EXTREMES),
    st.integers(-(2**53), 2**53).map(float),
    st.builds(math.ldexp, st.integers(-(2**53) + 1, 2**53 - 1).map(float), st.integers(-1100, 960)),
)
times = st.one_of(st.just(1), st.integers(1, 3000), st.integers(-(2**63), 2**63 - 1))


def exact_or_none(bag: list[tuple[float, int]]) -> float | None:
    total = sum((Fraction(value) * count for value, count in bag), Fraction(0))
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return None


def grouped(groups: list[list[tuple[float, int]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = [row for group in groups for row in group]
    starts = np.cumsum([0, *(len(group) for group in groups)])[:-1]
    return (
        floats_to_codes(np.array([row[0] for row in rows])),
        np.array([row[1] for row in rows], dtype=np.int64),
        starts,
    )


def from_nothing(
    columns: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return advanced(np.zeros((len(columns[2]), STATE_WORDS), dtype=np.int64), *columns)


def published(codes: np.ndarray, status: np.ndarray) -> list[float | None]:
    return [
        value if how == EXACT else None
        for value, how in zip(codes_to_floats(codes).tolist(), status.tolist(), strict=True)
    ]


@given(st.lists(finite, min_size=1, max_size=12))
def test_the_sum_is_fsum(values: list[float]) -> None:
    try:
        expected: float | None = math.fsum(values)
    except OverflowError:
        expected = exact_or_none([(value, 1) for value in values])
    codes, counts, starts = grouped([[(value, 1) for value in values]])
    assert published(*grouped_sums(codes, counts, starts)) == [expected]
    if expected is None:
        with pytest.raises(ValueRangeError):
            ExactSum(values).value()
    else:
        assert ExactSum(values).value() == expected


@given(st.lists(st.lists(st.tuples(finite, times), min_size=1, max_size=6), min_size=1, max_size=4))
def test_groups_with_counts(groups: list[list[tuple[float, int]]]) -> None:
    expected = [exact_or_none(group) for group in groups]
    columns = grouped(groups)
    assert published(*grouped_sums(*columns)) == expected
    states, *results = from_nothing(columns)
    assert published(*results) == expected
    for group, state in zip(groups, states, strict=True):
        scalar = ExactSum()
        for value, count in group:
            scalar.add(value, count)
        assert state.tolist() == state_of(scalar).tolist()
        assert ExactSum.of_parts(*scalar.parts).parts == scalar.parts


@given(st.lists(finite, max_size=8), st.lists(finite, max_size=8))
def test_no_history_leaves_a_trace(live: list[float], gone: list[float]) -> None:
    before, changes = (
        grouped([[(value, 1) for value in values] + [(0.0, 1)]]) for values in (live, gone)
    )
    states = from_nothing(before)[0]
    both = advanced(states, *changes)[0]
    assert both[0].tolist() == state_of(ExactSum(live + gone)).tolist()
    codes, counts, starts = changes
    assert advanced(both, codes, -counts, starts)[0].tolist() == states.tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e16, 1.0, -1e16], 1.0),
        ([LEAST, LEAST], 1e-323),
        ([2.0**53, 1.0], 2.0**53),
        ([2.0**53, 1.0, 2.0**-60], 2.0**53 + 2),
        ([2.0**53 + 2, 1.0], 2.0**53 + 4),
        ([-(2.0**53), -1.0, -(2.0**-1000)], -(2.0**53) - 2),
        ([GREATEST, GREATEST, -GREATEST], GREATEST),
        ([GREATEST, 2.0**969], GREATEST),
        ([0.1] * 10, 1.0),
        ([2.2250738585072014e-308, -LEAST], 2.225073858507201e-308),
        ([math.inf, 1.0], math.inf),
        ([-math.inf, -math.inf, GREATEST], -math.inf),
    ],
)
def test_hard_cases(values: list[float], expected: float) -> None:
    assert ExactSum(values).value() == expected
    columns = grouped([[(value, 1) for value in values]])
    assert published(*grouped_sums(*columns)) == [expected]
    assert published(*from_nothing(columns)[1:]) == [expected]


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ([GREATEST, GREATEST], OVERFLOW),
        ([-GREATEST, -(2.0**970)], OVERFLOW),
        ([math.inf, 1.0, -math.inf], NOT_A_NUMBER),
    ],
)
def test_what_has_no_value(values: list[float], status: int) -> None:
    with pytest.raises(ValueRangeError, match="sum"):
        ExactSum(values).value()
    columns = grouped([[(value, 1) for value in values]])
    assert grouped_sums(*columns)[1].tolist() == [status]
    assert from_nothing(columns)[2].tolist() == [status]


def test_an_infinity_can_be_taken_out_again() -> None:
    total = ExactSum([1.5, math.inf, -math.inf])
    total.add(-math.inf, -1)
    assert total.value() == math.inf
    total.add(math.inf, -1)
    assert total.value() == 1.5


def test_zero_has_no_sign_and_nan_no_place() -> None:
    assert math.copysign(1.0, ExactSum([1e-300, -1e-300]).value()) == 1.0
    assert grouped_sums(*grouped([[(1.5, 1), (-1.5, 1)]]))[0].tolist() == [0]
    with pytest.raises(ValueRangeError, match="NaN"):
        ExactSum([math.nan])


def test_many_values_in_one_group() -> None:
    values = np.random.default_rng(3).normal(size=20_000) * 10.0 ** np.random.default_rng(
        4
    ).integers(-200, 200, 20_000)
    sums, _ = grouped_sums(
        floats_to_codes(values), np.ones(len(values), dtype=np.int64), np.zeros(1, dtype=np.int64)
    )
    assert codes_to_floats(sums)[0] == math.fsum(values)


def test_the_same_without_compilation() -> None:
    command = [
        sys.executable,
        "-W",
        "error::RuntimeWarning",
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        __file__,
    ]
    chosen = ["-k", "fsum or with_counts or trace or cases or no_value"]
    run = subprocess.run(
        [*command, *chosen],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
