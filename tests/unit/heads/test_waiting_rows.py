"""Rows in the order of their groups, in pieces that end where a group does."""

from __future__ import annotations

import numpy as np
import pytest

from lftj.heads import waiting_rows
from lftj.heads.waiting_rows import ONCE, WaitingRows
from lftj.partition.executor import ThreadExecutor

WIDEST = 2**62


def sorted_rows(matrix: np.ndarray) -> list[list[int]]:
    return matrix[:, np.lexsort(matrix[::-1])].T.tolist()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize(
    ("groups", "values"),
    [
        ((0, 50), (-5, 5)),  # everything in a word
        ((-(2**40), 2**40), (-WIDEST, WIDEST)),  # groups and the number of the row
        ((-WIDEST, WIDEST), (-WIDEST, WIDEST)),  # no more than a column in a word
        ((7, 8), (0, 3)),  # one group
    ],
)
def test_pieces_have_all_rows_and_whole_groups(
    threads: int,
    once: bool,
    groups: tuple[int, int],
    values: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by = np.random.default_rng(3)
    for piece, block in ((1, 1 << 15), (64, 100), (10_000, 7)):
        monkeypatch.setattr(waiting_rows, "_PIECE", piece)
        monkeypatch.setattr(waiting_rows, "_BLOCK", block)
        waiting, given = WaitingRows(2), []
        for number in range(5):
            part, rows = WaitingRows(2), int(by.integers(1, 300))
            lines = [by.integers(*groups, rows) for _ in range(2)] + [by.integers(*values, rows)]
            counts = ONCE if once or number == 2 else by.integers(-3, 4, rows)
            part.add(lines, counts)
            waiting.absorb(part)
            given.append(np.array([*lines, np.broadcast_to(counts, rows)]))
        assert waiting.rows == sum(rows.shape[1] for rows in given)
        found = [each() for each in waiting.pieces(ThreadExecutor(threads))]
        assert waiting.rows == waiting.nbytes == 0
        assert sorted_rows(np.concatenate(found, axis=1)) == sorted_rows(
            np.concatenate(given, axis=1)
        )
        firsts = [each[:2, 0].tolist() for each in found]
        lasts = [each[:2, -1].tolist() for each in found]
        assert all(last < first for last, first in zip(lasts, firsts[1:], strict=False))
        for each in found:
            keys = each[:2].T.tolist()
            assert keys == sorted(keys)
        if piece == 1 and groups == (0, 50):
            assert len(found) > 100
