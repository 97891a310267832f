"""The benchmark of latency at its smallest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.bars import BARS


def test_the_smallest_size_fills_every_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant, value in (("COMMITS", 20), ("VIEWS", 10)):
        monkeypatch.setattr(f"bench.latency.commits.{constant}", {"s": value})
    monkeypatch.setattr("bench.latency.commits.ROWS", 50)
    monkeypatch.setattr("bench.latency.commits.NODES", 10)
    monkeypatch.setattr("bench.latency.first.TURNS", 1)
    monkeypatch.setattr("bench.latency.questions.QUESTIONS", {"s": 10})
    monkeypatch.setattr("bench.latency.small.CHAIN", {"s": 5})
    monkeypatch.setattr("bench.latency.small.TENS", {"s": 5})
    path = tmp_path / "figures.json"
    assert main(["latency", "--size", "s", "--json", str(path)]) == 0
    written = json.loads(path.read_text())
    assert set(written["figures"]) == set(BARS["latency"])
    assert all(value > 0 for value in written["figures"].values())
    types = [each["types"] for each in written["detail"] if "types" in each]
    assert len(types) == 2
    assert all(sum(each.values()) > 1_000 for each in types)
