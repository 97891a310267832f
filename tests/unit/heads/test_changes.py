"""Assignments sorted by groups: the same rows and counts on several threads as on one."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lftj
from lftj.heads.changes import by_groups
from lftj.scantree import rows
from lftj.scantree.sharing import spans

ROWS = 5000


@pytest.fixture
def short_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share passes over fewer rows than pays."""
    monkeypatch.setattr(rows, "spans", partial(spans, least=100))


class Threads(lftj.ThreadExecutor):
    """Threads that count what they were asked for."""

    asked = 0

    def together(self, task: Any, payloads: Any, **options: Any) -> Any:
        self.asked += len(payloads) > 1
        return super().together(task, payloads, **options)


def counted(rows: np.ndarray, counts: np.ndarray) -> Counter[tuple[int, ...]]:
    found = Counter[tuple[int, ...]]()
    for *row, count in zip(*rows.tolist(), counts.tolist(), strict=True):
        found[tuple(row)] += count
    return found


@pytest.mark.parametrize("most", [1, 4])
@pytest.mark.parametrize("width", [0, 1, 2])
@pytest.mark.usefixtures("short_spans")
def test_rows_by_groups_are_those_given(width: int, most: int) -> None:
    by = np.random.default_rng(width + most)
    columns = [
        by.integers(0, 50, ROWS),
        by.integers(-3, 3, ROWS),
        by.integers(-(2**62), 2**62, ROWS),
    ]
    counts = by.integers(1, most + 1, ROWS)
    given = counted(np.array(columns), counts)
    for threads in (None, Threads(2), Threads(1)):
        found, net, _ = by_groups(columns, counts, width, threads)
        assert counted(found, net) == given
        groups = list(zip(*found[:width].tolist(), strict=True))
        assert groups == sorted(groups)
        if threads is not None:
            assert threads.asked == (width > 0 and threads.threads == 2)


@pytest.mark.usefixtures("short_spans")
def test_a_commit_of_many_groups_shares_them_among_threads() -> None:
    by, size = np.random.default_rng(5), 8 * ROWS
    table = pa.table({"n": range(size), "g": by.integers(0, 999, size), "v": by.random(size)})
    many = size // 9
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
