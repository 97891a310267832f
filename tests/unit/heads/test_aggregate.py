"""Every aggregate over random groups against plain Python, and the messages when a result has no
place.
"""

from __future__ import annotations

import datetime
import math
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import UserFunctionError, ValueRangeError
from lftj.heads.aggregate import AggregateCall, aggregate
from lftj.heads.user import UserAggregate
from lftj.types import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    STR,
    TIMESTAMP,
    Type,
    decimal,
    decode_scalar,
    encode_scalar,
)
from lftj.types.dictionary import Dictionary

CENTS = decimal(12, 2)
TEXTS = st.sampled_from(["", "a", "b", "ab", "é", "z", "\U0001f600", "\uffff"])
FLOATS = st.one_of(st.sampled_from([1e16, 1.0, -1e16, 0.1]), st.floats(-1e300, 1e300))
DECIMALS = st.integers(-(10**9), 10**9).map(lambda cents: Decimal(cents).scaleb(-2))
Row = tuple[Any, ...]


def encoded(dictionary: Dictionary, values: list[Any], type: Type) -> np.ndarray:
    return np.array([encode_scalar(type, value, dictionary) for value in values], dtype=np.int64)


def decoded(dictionary: Dictionary, codes: np.ndarray, type: Type) -> list[Any]:
    return [decode_scalar(type, code, dictionary) for code in codes.tolist()]


def run(
    rows: list[Row],
    types: list[Type],
    width: int,
    calls: list[tuple[str, list[int], Type]],
    user: Any = None,
) -> list[Row]:
    """Aggregate rows whose last value is their count; calls name argument columns by position."""
    dictionary = Dictionary()
    columns = [encoded(dictionary, [row[c] for row in rows], type) for c, type in enumerate(types)]
    counts = np.array([row[-1] for row in rows], dtype=np.int64)
    made = [
        AggregateCall(name, [columns[c] for c in args], [types[c] for c in args], result)
        for name, args, result in calls
    ]
    group, results = aggregate(
        columns[:width], made, counts, dictionary, user, group_types=types[:width]
    )
    result_types = [*types[:width], *(result for _, _, result in calls)]
    return list(
        zip(
            *(
                decoded(dictionary, c, t)
                for c, t in zip([*group, *results], result_types, strict=True)
            ),
            strict=True,
        )
    )


def by_group(rows: list[Row], width: int) -> dict[Row, list[Row]]:
    groups: dict[Row, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[:width]] += [row[width:-1]] * row[-1]
    return groups


TYPES = [INT, DATE, INT, FLOAT, CENTS, STR]
keys = st.tuples(st.integers(-1, 1), st.dates(datetime.date(2013, 1, 1), datetime.date(2013, 1, 2)))
values = st.tuples(st.integers(-(2**60), 2**60), FLOATS, DECIMALS, TEXTS)
table = st.lists(
    st.builds(lambda k, v, n: (*k, *v, n), keys, values, st.one_of(st.just(1), st.integers(1, 3))),
    max_size=12,
)


@given(table)
def test_numbers(rows: list[Row]) -> None:
    calls = [
        ("count", [], INT),
        ("mean", [2], FLOAT),
        ("sum", [3], FLOAT),
        ("mean", [3], FLOAT),
        ("sum", [4], CENTS),
        ("mean", [4], FLOAT),
    ]
    expected = []
    for key, members in sorted(by_group(rows, 2).items()):
        ints, floats, decimals, _ = zip(*members, strict=True)
        n = len(members)
        cents = sum(int(value * 100) for value in decimals)
        total = math.fsum(floats)
        expected.append(
            (*key, n, sum(ints) / n, total, total / n, sum(decimals), cents / (n * 100))
        )
    assert run(rows, TYPES, 2, calls) == expected


@given(table)
def test_deviations(rows: list[Row]) -> None:
    calls = [("stddev", [c], FLOAT) for c in (2, 3, 4)]
    expected = []
    for key, members in sorted(by_group(rows, 2).items()):
        if len(members) > 1:
            columns = [map(Fraction, column) for column in zip(*members, strict=True)][:3]
            expected.append((*key, *map(statistics.stdev, columns)))
    found = run(rows, TYPES, 2, calls)
    assert [row for row in found if not math.isnan(row[-1])] == expected  # which heads leave out


@given(table, st.sampled_from([0, 1, 2]))
def test_order_aggregates(rows: list[Row], width: int) -> None:
    calls = [(name, [c], TYPES[c]) for name in ("min", "max") for c in (2, 3, 4, 5)]
    expected = []
    for key, members in sorted(by_group(rows, width).items()):
        columns = [list(column) for column in zip(*members, strict=True)][-4:]
        expected.append((*key, *map(min, columns), *map(max, columns)))
    assert run(rows, TYPES, width, calls) == expected


@given(table)
def test_sum_of_ints_over_everything(rows: list[Row]) -> None:
    total = sum(row[2] * row[-1] for row in rows)
    if -(2**63) <= total < 2**63:
        assert run(rows, TYPES, 0, [("sum", [2], INT)]) == ([(total,)] if rows else [])
    else:
        with pytest.raises(
            ValueRangeError, match=f"sum over all rows is {total}, outside the range of int"
        ):
            run(rows, TYPES, 0, [("sum", [2], INT)])


rows_of_texts = st.lists(
    st.tuples(st.integers(0, 1), TEXTS, st.just(", "), st.integers(0, 2), TEXTS, st.integers(1, 2)),
    max_size=10,
)


@given(rows_of_texts)
def test_concatenation_follows_keys_then_texts(rows: list[Row]) -> None:
    calls = [("concat", [1], STR), ("concat", [1, 2], STR), ("concat", [1, 2, 3, 4], STR)]
    expected = []
    for key, members in sorted(by_group(rows, 1).items()):
        texts = sorted(member[0] for member in members)
        keyed = [
            member[0]
            for member in sorted(members, key=lambda member: (member[2], member[3], member[0]))
        ]
        expected.append((*key, "".join(texts), ", ".join(texts), ", ".join(keyed)))
    assert run(rows, [INT, STR, STR, INT, STR], 1, calls) == expected


@given(rows_of_texts)
def test_users_aggregates_fold_in_order(rows: list[Row]) -> None:
    path = UserAggregate("path", (), lambda s, k: (f"{s}{k}",), lambda a, b: a + b, finish="/".join)
    spread = UserAggregate(
        "spread",
        (0, 0),
        lambda v: (1, v),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        lambda a: (-a[0], -a[1]),
        max,
    )
    calls = [("path", [1, 3], STR), ("spread", [3], INT)]
    expected = []
    for key, members in sorted(by_group(rows, 1).items()):
        ordered = sorted((member[0], member[2]) for member in members)
        expected.append(
            (
                *key,
                "/".join(f"{s}{k}" for s, k in ordered),
                max(len(members), sum(k for _, k in ordered)),
            )
        )
    assert (
        run(rows, [INT, STR, STR, INT, STR], 1, calls, {"path": path, "spread": spread}) == expected
    )


def test_no_rows_make_no_groups() -> None:
    everything = [
        ("count", [], INT),
        ("sum", [0], INT),
        ("mean", [0], FLOAT),
        ("min", [0], INT),
        ("concat", [1], STR),
    ]
    assert run([], [INT, STR], 0, everything) == []
    assert run([], [INT, STR], 1, everything) == []


def test_bools_and_timestamps_have_extremes() -> None:
    noon, night = datetime.datetime(2013, 1, 1, 12), datetime.datetime(1969, 12, 31, 23)
    rows = [(True, noon, 1), (False, night, 1)]
    calls = [
        ("min", [0], BOOL),
        ("max", [0], BOOL),
        ("min", [1], TIMESTAMP),
        ("max", [1], TIMESTAMP),
    ]
    assert run(rows, [BOOL, TIMESTAMP], 0, calls) == [(False, True, night, noon)]


def test_separators_that_vary_stand_before_their_own_text() -> None:
    rows = [("a", "+", 1), ("c", "-", 1), ("b", "*", 2)]
    assert run(rows, [STR, STR], 0, [("concat", [0, 1], STR)]) == [("a*b*b-c",)]


def test_a_sum_may_leave_int64_on_its_way() -> None:
    rows = [("x", 2**63 - 1, 3), ("x", -(2**63), 2)]
    assert run(rows, [STR, INT], 1, [("sum", [1], INT)]) == [("x", 3 * (2**63 - 1) - 2 * 2**63)]


@pytest.mark.parametrize(
    ("type", "rows", "message"),
    [
        (
            INT,
            [(2**62, 2)],
            "sum for the group ('FR', 7) is 9223372036854775808, outside the range of int",
        ),
        (
            INT,
            [(-(2**63), 1), (-1, 1)],
            "sum for the group ('FR', 7) is -9223372036854775809, outside the range of int",
        ),
        (
            decimal(4, 2),
            [(Decimal("99.99"), 1), (Decimal("0.01"), 1)],
            "is 100.00, outside the range of decimal(4,2)",
        ),
        (
            FLOAT,
            [(1.7e308, 2)],
            "sum for the group ('FR', 7): the sum is beyond the greatest float",
        ),
        (FLOAT, [(math.inf, 1), (-math.inf, 1)], "has both +inf and -inf in it"),
    ],
)
def test_a_total_without_a_place_names_its_group(type: Type, rows: list[Row], message: str) -> None:
    zero = type.name == "float"
    full = [("DE", 1, 0.0 if zero else 0, 1), *(("FR", 7, *row) for row in rows)]
    with pytest.raises(ValueRangeError) as caught:
        run(full, [STR, INT, type], 2, [("sum", [2], type)])
    assert message in caught.value.message


def test_a_mean_needs_no_total_that_fits() -> None:
    assert run([(2**63 - 1, 4)], [INT], 0, [("mean", [0], FLOAT)]) == [(float(2**63 - 1),)]


def test_a_users_error_says_where() -> None:
    broken = UserAggregate("broken", 0, lambda v: 1 // v, lambda a, b: a + b)
    with pytest.raises(UserFunctionError) as caught:
        run([("FR", 0, 1)], [STR, INT], 1, [("broken", [1], INT)], {"broken": broken})
    assert caught.value.message.endswith(", for the group ('FR')")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_the_result_does_not_depend_on_the_order_of_rows() -> None:
    random = np.random.default_rng(5)
    drawn = zip(
        *random.integers(-50, 50, (3, 500)).tolist(),
        random.integers(1, 4, 500).tolist(),
        strict=True,
    )
    rows = [(g, v, f / 7, n) for g, v, f, n in drawn]
    calls = [("sum", [1], INT), ("sum", [2], FLOAT), ("max", [1], INT)]
    assert run(rows, [INT, INT, FLOAT], 1, calls) == run(sorted(rows), [INT, INT, FLOAT], 1, calls)


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
    chosen = ["-k", "numbers or order or everything or way"]
    done = subprocess.run(
        [*command, *chosen],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_empty_texts_and_more_than_there_is_memory_for() -> None:
    assert run([("", "", 3)], [STR, STR], 0, [("concat", [0], STR), ("concat", [0, 1], STR)]) == [
        ("", "")
    ]
    for row in (("a", "", 2**50), ("ab", ",", 2**63 - 1), ("", "é", 2**62)):
        with pytest.raises(MemoryError):
            run([row], [STR, STR], 0, [("concat", [0, 1], STR)])
