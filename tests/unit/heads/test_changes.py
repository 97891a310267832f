"""Assignments sorted by groups: the same rows and counts on several threads as on one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lftj
from lftj.heads.changes import by_groups

ROWS = 5000


class Threads(lftj.ThreadExecutor):
    """Threads that count what they were asked for."""

    asked = 0

    def together(self, task: Any, payloads: Any, **options: Any) -> Any:
        self.asked += 1
        return super().together(task, payloads, **options)


def counted(rows: np.ndarray, counts: np.ndarray) -> Counter[tuple[int, ...]]:
    found = Counter[tuple[int, ...]]()
    for *row, count in zip(*rows.tolist(), counts.tolist(), strict=True):
        found[tuple(row)] += count
    return found


@pytest.mark.parametrize("most", [1, 4])
@pytest.mark.parametrize("width", [0, 1, 2])
def test_rows_by_groups_are_those_given(width: int, most: int) -> None:
    by = np.random.default_rng(width + most)
    columns = [
        by.integers(0, 50, ROWS),
        by.integers(-3, 3, ROWS),
        by.integers(-(2**62), 2**62, ROWS),
    ]
    counts = by.integers(1, most + 1, ROWS)
    given = counted(np.array(columns), counts)
    for threads in (None, Threads(2, patience=100), Threads(1, patience=100), Threads(2)):
        rows, net, _ = by_groups(columns, counts, width, threads)
        assert counted(rows, net) == given
        groups = list(zip(*rows[:width].tolist(), strict=True))
        assert groups == sorted(groups)
        if threads is not None:
            assert threads.asked == (width > 0 and threads.threads == 2 and threads.patience == 100)


def test_a_commit_of_many_groups_shares_them_among_threads() -> None:
    by, rows = np.random.default_rng(5), 8 * ROWS
    table = pa.table({"n": range(rows), "g": by.integers(0, 999, rows), "v": by.random(rows)})
    many = rows // 9
    found = []
    for threads in (Threads(1, patience=2 * many), Threads(2, patience=2 * many)):
        with lftj.connect(executor=threads) as workspace:
            workspace.relation("e", {"n": int, "g": int, "v": float})
            workspace.load("e", table.slice(many))
            workspace.add_rules(
                ".decl s(g: number, v: float, m: float) s(g, sum(v), mean(v)) :- e(_, g, v)."
            )
            threads.asked = 0
            workspace.load("e", table.slice(0, many))
            found.append(workspace["s"].fetchall())
            assert bool(threads.asked) == (threads.threads == 2)
    assert found[0] == found[1]
