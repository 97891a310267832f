"""Functional dependencies: who conflicts, and what the error says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import KeyViolationError
from lftj.heads.function import (
    check_function,
    check_function_delta,
    conflicting_rows,
    conflicts,
    keeps_key,
)
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from lftj.types import INT


def columns_of(rows: list[tuple[int, ...]]) -> list[np.ndarray]:
    return [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]


@given(
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)), min_size=1),
    st.integers(0, 3),
)
def test_conflicts_are_the_rows_that_share_a_key(
    found: set[tuple[int, int, int]], width: int
) -> None:
    rows = sorted(found)
    keys = [row[:width] for row in rows]
    expected = [i for i, key in enumerate(keys) if keys.count(key) > 1]
    assert conflicts(columns_of(rows), width).tolist() == expected


def test_a_function_passes() -> None:
    check_function(columns_of([(1, 5), (2, 5), (3, 4)]), 1)
    check_function([np.array([7])], 0)
    check_function([], 0)


def test_the_error_names_both_rows() -> None:
    names = {0: "a", 1: "b"}
    with pytest.raises(KeyViolationError) as caught:
        check_function(
            columns_of([(0, 5), (1, 5), (1, 6)]),
            1,
            relation="F",
            decode=lambda row: (names[row[0]], row[1]),
        )
    assert caught.value.rows == [("b", 5), ("b", 6)]
    assert caught.value.message == "F has two values for one argument: ('b', 5) and ('b', 6)"
    assert caught.value.hint is not None


def test_the_error_of_a_key_says_what_to_do() -> None:
    rows = [(key, value) for key in range(12) for value in range(3)]
    with pytest.raises(
        KeyViolationError,
        match=r"two rows of acct share a key: \(0, 0\) and \(0, 1\); .*; and 9 more",
    ) as caught:
        check_function(columns_of(rows), 1, relation="acct", functional=False)
    assert caught.value.rows == rows[:30]
    assert "upsert" in str(caught.value)


def test_a_constant_function_has_one_row() -> None:
    with pytest.raises(KeyViolationError) as caught:
        check_function([np.array([3, 4])], 0, relation="limit")
    assert caught.value.rows == [(3,), (4,)]


# ── under change ──────────────────────────────────────────────────────────────────────────────────
Row = tuple[int, int, int]
Key = tuple[int, ...]
COLUMNS = (("a", INT), ("b", INT), ("c", INT))
KEYS = st.sampled_from([(0,), (1,), (0, 1), (2, 1), (0, 1, 2), (), None])


def delta_of(old: set[Row], new: set[Row]) -> Delta:
    came, went = sorted(new - old), sorted(old - new)
    return Delta(
        *(columns_of(rows) if rows else [np.zeros(0, dtype=np.int64)] * 3 for rows in (came, went))
    )


rows_of_all = st.tuples(st.integers(0, 4), st.integers(-1, 2), st.sampled_from([0, 2**63 - 1]))


@given(KEYS, st.lists(rows_of_all), st.sets(rows_of_all), st.booleans())
def test_conflicts_after_a_change_are_those_of_the_whole(
    key: tuple[int, ...] | None, first: list[Row], come: set[Row], replace: bool
) -> None:
    positions = key or tuple(range(3))
    old = {tuple(row[i] for i in positions): row for row in first}
    schema = RelationSchema("F", COLUMNS, key, functional=True)
    start = set(old.values())
    gone = (
        {old[k] for row in come if (k := tuple(row[i] for i in positions)) in old}
        if replace
        else set()
    )
    new = (start - gone) | come
    before = RelationVersion.empty(schema, Arena(1 << 28)).apply(delta_of(set(), start))
    version = before.apply(delta := delta_of(start, new))
    order = [*sorted(positions), *(i for i in range(3) if i not in positions)]
    whole = columns_of(sorted(tuple(row[i] for i in order) for row in new)) if new else []
    expected = [column.take(conflicts(whole, len(positions))).tolist() for column in whole]
    found = [column.tolist() for column in conflicting_rows(schema, version, delta)]
    assert found == (expected or [[], [], []])
    assert keeps_key(schema, before, delta) == (not (expected and expected[0]))
    if not (expected and expected[0]):
        check_function_delta(schema, version, delta)
        return
    with pytest.raises(KeyViolationError) as caught:
        check_function_delta(schema, version, delta)
    with pytest.raises(KeyViolationError) as of_all:
        check_function(whole, len(positions), relation="F")
    assert (str(caught.value), caught.value.rows) == (str(of_all.value), of_all.value.rows)
