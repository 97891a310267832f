"""Bodies are measured beside what was expected of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.cost.calibration import prices
from bench.cost.forecast import Work
from bench.cost.measuring import Measured
from bench.cost.prices import WAITS, wait


def test_bodies_are_measured_beside_what_was_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.cost.bodies.ROWS", (2_000,))
    monkeypatch.setattr("bench.cost.cases.RANDOM", {"s": 12})
    monkeypatch.setattr("bench.cost.study.LEAST", 0.0)
    file, plot = tmp_path / "cost.json", tmp_path / "cost.svg"
    words = ["cost", "--size", "s", "--only", "random", "--json", str(file), "--plot", str(plot)]
    assert main(words) == 0
    found = json.loads(file.read_text())
    assert {"leapfrog triejoin", "star join"} <= {each["way"] for each in found}
    assert all(each["seconds"] > 0 for each in found)
    assert plot.stat().st_size
    assert "forecast of searches" in capsys.readouterr().out


def test_prices_are_found_again() -> None:
    def taken(steps: float, rows: float) -> Measured:
        seconds = 1e-9 * (400_000 + 30 * steps + 2 * rows)
        return Measured("leapfrog triejoin", Work(1, steps, rows=rows), 0, seconds, 0, 0)

    bodies = [taken(steps, rows) for steps in (1e4, 1e5, 1e6) for rows in (0, 1e5, 1e7)]
    counted = [
        Measured(each.way, each.expected, 0, each.seconds, 0, round(each.expected.counted))
        for each in bodies
    ]
    found = prices(counted)
    assert (found.start, found.steps, found.rows) == pytest.approx((400_000, 30, 2), rel=0.01)


def test_a_jump_waits_the_longer_the_larger_the_tree_and_not_at_all_in_a_small_one():
    sizes = [1, *(size for size, _ in WAITS), 1 << 40]
    waits = [wait(size) for size in sizes] + [wait(3 * size) for size in sizes]
    assert wait(WAITS[0][0]) == 0
    assert sorted(waits[: len(sizes)]) == waits[: len(sizes)]
    assert wait(1 << 40) == wait(WAITS[-1][0])
    assert wait(WAITS[1][0]) < wait(2 * WAITS[1][0]) < wait(WAITS[2][0])
