"""Values counted before rules come, and the precision of their counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import lftj
from lftj.distributed.hub_counts import HeavyHittersTask, two_digits
from tests.distributed.inline import InlineExecutor


@pytest.mark.parametrize(
    ("parts", "least", "counts"), [(2, 20, True), (2, 10_000, False), (1, 20, False)]
)
def test_no_job_counts_small_relations_or_a_single_part(
    tmp_path: Path, parts: int, least: int, counts: bool
) -> None:
    executor = InlineExecutor(tmp_path, parts)
    with lftj.connect(executor=executor, tuning=lftj.Tuning(hub_rows=least)) as workspace:
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", [(1, y) for y in range(40)])
        workspace.add_rules(".decl v(x: number) v(x) :- e(x, _).")
    assert any(isinstance(task, HeavyHittersTask) for task in executor.tasks) == counts


def test_sizes_are_told_to_two_digits() -> None:
    assert [two_digits(count) for count in (0, 7, 99, 123, 12_345)] == [0, 7, 99, 120, 12_000]
