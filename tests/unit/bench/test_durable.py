"""The benchmark of workspaces at a path measures what it says, on results that are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.bars import BARS
from bench.durable import beyond, commits, many, opening
from bench.figure import Report


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Report:
    for part, name, value in (
        (commits, "COMMITS", 6),
        (many, "COMMITS", 20),
        (opening, "ROWS", 2_000),
        (beyond, "ROWS", 2_000),
        (beyond, "TURNS", 3),
    ):
        monkeypatch.setattr(part, name, {"s": value})
    return Report("durable", "s", BARS["durable"])


def test_commits_branches_and_the_past_fill_their_figures(report: Report, tmp_path: Path) -> None:
    for part in (commits, many):
        part.measure(report, tmp_path)
        assert {each.name for each in report.figures} >= set(part.FIGURES)
    assert all(each.value > 0 for each in report.figures if each.name != "added_vs_sqlite")
    assert report.detail[0]["bytes"] > 200


def test_opening_and_limits_fill_theirs(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {"load": opening.loaded, "open": opening.opened}
    here = lambda kind, path, rows: runs[kind](path, rows)  # noqa: E731 - no process of its own
    monkeypatch.setattr(opening, "process", here)
    opening.measure(report, tmp_path)
    assert {each.name for each in report.figures} == set(opening.FIGURES)
    (detail,) = report.detail
    assert 0 < detail["pages"] < 4 * detail["files"]
    assert beyond.limited(tmp_path / "large.lftj", 3, 0)["answers"] > 0
