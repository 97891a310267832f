"""Results gathered in blocks: listed, counted, or added up where values lie close together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lftj.join.access.gathering import Listed, Number, Totals, gathering, together
from tests.unit.join.evaluating import tallied

LOW = -(2**63)


def gathered(
    bounds: Sequence[tuple[int, int]] | None,
    rows: int,
    *,
    needed: Sequence[int] = (3, 1),
    count: bool = True,
) -> Any:
    return gathering(needed, bounds, rows, count=count, held=lambda size: None)


@pytest.mark.parametrize(
    ("kind", "bounds", "rows"),
    [
        (Totals, [(0, 9), (5, 6)], 80),
        (Totals, [(LOW, LOW + 9), (-1, 0)], 80),
        (Listed, [(0, 9), (5, 6)], 79),
        (Listed, [(0, 1 << 20), (0, 0)], 1 << 23),
        (Listed, [(LOW, 2**63 - 1), (LOW, 2**63 - 1)], 1 << 20),
        (Listed, None, 80),
    ],
)
def test_rows_are_added_up_where_there_are_many_for_each_place(
    kind: type, bounds: Any, rows: int
) -> None:
    assert type(gathered(bounds, rows)) is kind
    assert type(gathered(bounds and [], rows, needed=())) is Number


@pytest.mark.parametrize("bounds", [[(-3, 3), (LOW, LOW + 4)], None])
@pytest.mark.parametrize("count", [True, False])
@pytest.mark.parametrize("apart", [1, 3])
def test_blocks_are_added_to_each_other(bounds: Any, count: bool, apart: int) -> None:
    random = np.random.default_rng(1)
    several, expected = (
        [gathered(bounds, 1000, count=count) for _ in range(apart)],
        Counter[tuple[int, int]](),
    )
    for number, many in enumerate((0, 1, 300, 40)):
        found = several[number % apart]
        first, second = random.integers(-3, 4, many), LOW + random.integers(0, 5, many)
        times = random.integers(1, 1 << 40, many) if count and many != 40 else None
        found.add({1: second, 3: first, 7: first}, many, times)
        expected.update(
            Counter(dict.fromkeys(zip(first.tolist(), second.tolist(), strict=True), 0))
        )
        for pair, each in zip(
            zip(first.tolist(), second.tolist(), strict=True),
            [1] * many if times is None else times.tolist(),
            strict=True,
        ):
            expected[pair] += each
    columns, counts = together(several).rows()
    if count:
        assert tallied(columns, counts) == expected
    else:
        assert set(tallied(columns, counts)) == set(expected)
        assert set(counts.tolist()) == {1}
    if bounds is not None:
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == sorted(expected)


def test_rows_without_values_are_counted() -> None:
    assert [
        counts.tolist()
        for counts in (_number(count, many)[1] for count in (True, False) for many in (0, 5))
    ] == [[], [15], [], [1]]


def _number(count: bool, many: int) -> Any:
    found = [gathered([], 100, needed=(), count=count) for _ in range(2)]
    found[0].add({}, many, None)
    found[1].add({}, many, np.full(many, 2))
    return together(found).rows()
