"""The benchmark of explanations at its smallest, without data and browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.bars import BARS
from bench.explain import NEEDS_BROWSER, NEEDS_DATA


def test_the_smallest_size_fills_every_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.explain.rows.CHAIN", {"s": 50})
    monkeypatch.setattr("bench.explain.rows.GROUP", {"s": 500})
    monkeypatch.setattr("bench.explain.rows.COMMITS", {"s": 4})
    monkeypatch.setattr("bench.explain.pages.RULES", {"s": 5})
    monkeypatch.setattr("bench.explain.pages.COMMITS", {"s": 5})
    monkeypatch.setattr("bench.explain.pages.shutil.which", lambda name: None)
    path = tmp_path / "figures.json"
    assert main(["explain", "--size", "s", "--json", str(path)]) == 0
    figures = json.loads(path.read_text())["figures"]
    assert set(figures) == set(BARS["explain"]) - NEEDS_DATA - NEEDS_BROWSER
    assert all(value > 0 for value in figures.values())
