"""Values counted before rules come, and the precision of their counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.hub_counts import HeavyHittersTask, two_digits
from tests.distributed.inline import InlineExecutor

RULE = ".decl v(x: number) v(x) :- e(x, _)."


def begun(folder: Path, parts: int, least: int) -> tuple[Any, InlineExecutor]:
    """A workspace with a relation without rows; `least`: rows of a hub."""
    executor: Any = InlineExecutor(folder, parts)
    workspace: Any = lftj.connect(executor=executor, tuning=lftj.Tuning(hub_rows=least))
    workspace.relation("e", {"x": int, "t": str})
    return workspace, executor


def has_asked(executor: InlineExecutor) -> bool:
    """Test for a job that counted hubs."""
    return any(isinstance(task, HeavyHittersTask) for task in executor.tasks)


@pytest.mark.parametrize(
    ("parts", "least", "counts"), [(2, 20, True), (2, 10_000, False), (1, 20, False)]
)
def test_no_job_counts_small_relations_or_a_single_part(
    tmp_path: Path, parts: int, least: int, counts: bool
) -> None:
    workspace, executor = begun(tmp_path, parts, least)
    workspace.load("e", [(1, f"{y}") for y in range(30)])
    workspace.load("e", [(1, f"{y}") for y in range(30, 40)])
    workspace.add_rules(RULE)
    assert has_asked(executor) == counts


def test_a_load_counts_its_hubs_by_itself_as_a_job_would(tmp_path: Path) -> None:
    rows = [(1, f"{y}") for y in range(110)] + [(x, "many") for x in range(150)]
    found = list[Any]()
    for pieces in (1, 2):
        workspace, executor = begun(tmp_path / f"{pieces}", 3, 20)
        for piece in range(pieces):
            workspace.load("e", rows[piece::pieces])
        workspace.add_rules(RULE)
        assert has_asked(executor) == (pieces == 2)
        found.append(workspace._backend.manifest.program["hubs"])
    assert found[0] == found[1] == {"e": {"0": [110, [1]], "1": [150, ["many"]]}}


def test_rows_that_change_after_a_load_are_counted_again(tmp_path: Path) -> None:
    workspace, executor = begun(tmp_path, 2, 20)
    workspace.load("e", [(1, f"{y}") for y in range(40)])
    with workspace.transaction() as tx:
        tx.delete("e", [(1, f"{y}") for y in range(30)])
        tx.insert("e", [(2, f"{y}") for y in range(30)])
    workspace.add_rules(RULE)
    assert has_asked(executor)
    assert workspace._backend.manifest.program["hubs"] == {"e": {"0": [30, [2]]}}


def test_sizes_are_told_to_two_digits() -> None:
    assert [two_digits(count) for count in (0, 7, 99, 123, 12_345)] == [0, 7, 99, 120, 12_000]
