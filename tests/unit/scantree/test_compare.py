# SPDX-License-Identifier: Apache-2.0
"""Comparison of rows that come in pieces with rows that are there, against sets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from lftj.scantree.compare import PIECE, compared

Row = tuple[int, ...]


def matrix(rows: list[Row], width: int) -> np.ndarray:
    return np.array(rows, np.int64).reshape(len(rows), width).T.copy()


def pieces_of(rows: list[Row], width: int, chance: random.Random) -> Iterator[np.ndarray]:
    """Pieces of rows, each in the place of the one before."""
    room, first = np.empty(width * PIECE, np.int64), 0
    while first < len(rows):
        some = rows[first : first + chance.choice([1, 2, 7, 300, PIECE])]
        piece = room[: width * len(some)].reshape(width, len(some))
        piece[:] = matrix(some, width)
        yield piece
        first += len(some)


def differences(
    coming: list[Row], there: list[Row], width: int, alone: int, chance: random.Random
) -> Any:
    data = matrix(coming, width)

    def read(first: int, out: np.ndarray, beside: np.ndarray) -> None:
        assert out.shape[1] <= (beside.shape[1] or PIECE)
        out[:] = data[:, first : first + out.shape[1]]

    found = compared(read, len(coming), width, alone, pieces_of(there, width, chance))
    return None if found is None else [list(zip(*map(np.ndarray.tolist, side))) for side in found]  # noqa: B905


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("kind", ["alike", "gaps", "mostly other", "unrelated"])
def test_what_came_and_went_is_found_in_order(width: int, kind: str) -> None:
    chance = random.Random(f"{width} {kind}")
    for size in (0, 1, 5, 70, 400, 5000):
        reach = {1: 10**6, 2: 900, 3: 40}[width]
        values = [-(2**63), 2**63 - 1, *range(reach)]
        rows = sorted({tuple(chance.choices(values, k=width)) for _ in range(size)})
        if kind == "unrelated":
            coming = sorted({tuple(chance.choices(values, k=width)) for _ in range(size)})
        else:
            share = {"alike": 0.0, "gaps": 0.01, "mostly other": 0.7}[kind]
            kept = {row for row in rows if chance.random() >= share}
            news = {(*row[:-1], chance.choice(values)) for row in rows if chance.random() < share}
            coming = sorted(kept | news)
            if kind == "gaps":
                del coming[size // 3 : size // 3 + chance.randrange(400)]
        expected = [sorted({*coming} - {*rows}), sorted({*rows} - {*coming})]
        assert differences(coming, rows, width, width, chance) == expected


def test_rows_that_do_not_ascend_by_their_identity_are_told() -> None:
    chance = random.Random(5)
    rows = [(number, number % 3) for number in range(0, 4000, 2)]
    for place in (0, 1, 500, 1998):
        for news in [(rows[place][0], 9), (rows[place][0], -9), (rows[place + 1][0], -9)]:
            coming = sorted([*rows, news])
            found = differences(coming, rows, 2, 2, chance)
            assert found == [[news], []]
            assert differences(coming, rows, 2, 1, chance) is None
        again = [*rows[: place + 1], *rows[place:]]
        swapped = [*rows[:place], rows[place + 1], rows[place], *rows[place + 2 :]]
        for coming in (again, swapped):
            assert differences(coming, rows, 2, 2, chance) is None
    news = [(1, 0), (1, 1)]
    assert differences(news, [], 2, 2, chance) == [news, []]
    assert differences(news, [], 2, 1, chance) is None
    assert differences(rows[::-1], [], 2, 1, chance) is None


def test_another_order_is_told_before_all_that_is_there_was_read() -> None:
    rows = np.arange(8 * PIECE)
    for first in (0, 4 * PIECE, 8 * PIECE - 1):
        coming = np.random.default_rng(first).permutation(rows)
        coming[coming == first], coming[0] = coming[0], first
        read_of = list[int]()

        def there(read_of: list[int] = read_of) -> Iterator[np.ndarray]:
            for start in range(0, len(rows), PIECE):
                read_of.append(start)
                yield rows[start : start + PIECE].reshape(1, -1).copy()

        def read(
            first: int, out: np.ndarray, beside: np.ndarray, coming: np.ndarray = coming
        ) -> None:
            out[0] = coming[first : first + out.shape[1]]

        assert compared(read, len(rows), 1, 1, there()) is None
        assert len(read_of) == 1
