from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import bench.analytics
import bench.recursion.chain
import bench.recursion.chosen
import bench.recursion.edits
import bench.recursion.rules
import bench.recursion.shortest
import bench.registry
from bench.__main__ import main
from bench.analytics.again import first_of_a_process
from bench.analytics.loads import peak_over_rest
from bench.bars import BARS
from bench.cases import CASES
from bench.clock import once
from bench.engine import Engine
from bench.figure import Report, ResultsDiffer
from bench.recursion import NEEDS_DATA
from bench.recursion.peers import compare_analysis
from bench.registry import NAMES, UnknownBenchmark, run

DIFFERENCES = {"add_rule_ms"}  # of two times, which may come out below 0


def test_an_unknown_name_is_answered_with_the_names(tmp_path: Path) -> None:
    with pytest.raises(UnknownBenchmark, match="no benchmark 'speed'; there are storage, triejoin"):
        run("speed")


def test_results_that_differ_end_with_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def differ(name: str, size: str, data: Path | None, only: list[str]) -> Report:
        raise ResultsDiffer("count: we found 3, the peer 4")

    monkeypatch.setattr("bench.__main__.run", differ)
    assert main(["load", "--size", "s"]) == 2
    assert "bench load: results differ: count: we found 3, the peer 4" in capsys.readouterr().err


def test_a_missed_gate_ends_with_status_1_only_when_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(name: str, size: str, data: Path | None, only: list[str]) -> Report:
        report = Report(name, size, BARS[name])
        report.add("load_vs_pyarrow", 40.0)
        return report

    monkeypatch.setattr("bench.__main__.run", slow)
    assert main(["load"]) == 0
    assert main(["load", "--strict"]) == 1
    assert main(["load", "--strict", "--size", "s"]) == 0


def test_an_unknown_figure_is_answered_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", "--only", "speed"]) == 2
    assert "`load` has no figure 'speed'; there are load_vs_pyarrow" in capsys.readouterr().err


def test_all_runs_every_benchmark_or_those_that_have_the_figures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = []

    def report(name: str, size: str, data: Path | None, only: list[str]) -> Report:
        ran.append((name, only))
        return Report(name, size, BARS[name])

    monkeypatch.setattr("bench.__main__.run", report)
    assert main(["all", "--json", str(tmp_path / "all.json")]) == 0
    assert ran == [(name, []) for name in NAMES]
    assert {path.name for path in tmp_path.iterdir()} == {f"all-{name}.json" for name in NAMES}
    ran.clear()
    assert main(["all", "--only", "state_ratio", "--only", "edit10"]) == 0
    assert ran == [("recursion", ["state_ratio"]), ("maintenance", ["state_ratio", "edit10"])]
    assert main(["all", "--only", "speed"]) == 2


@pytest.fixture
def few_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each run once: repeating it makes figures steadier, and finds nothing else."""
    monkeypatch.setattr("bench.triejoin.best_of", lambda times, run: once(run))
    monkeypatch.setattr("bench.triejoin._ours", lambda edges, rule, times=1: _once(edges, rule))
    monkeypatch.setattr("bench.recursion.peers.REPEATS", 1)
    monkeypatch.setattr("bench.recursion.peers.TURNS", 1)
    monkeypatch.setitem(bench.recursion.chain.DEPTHS, "s", 2_000)
    monkeypatch.setitem(bench.recursion.rules.RULES, "s", 10)
    for part in (bench.recursion.edits, bench.recursion.chosen, bench.recursion.shortest):
        monkeypatch.setitem(part.COMMITS, "s", 4)


def _once(edges: Sequence[np.ndarray], rule: str) -> tuple[float, int]:
    loaded = Engine(edges)
    return once(lambda: loaded.count(rule))


@pytest.mark.usefixtures("few_turns")
@pytest.mark.parametrize(
    "name", ["storage", "triejoin", "everyday", "load", "analytics", "bodies", "recursion"]
)
def test_the_smallest_size_runs_and_fills_every_figure(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.storage.ROWS", {"s": 2_000})
    monkeypatch.setattr("bench.storage.COMMITS", 10)
    monkeypatch.setattr("bench.storage.DIFFS", 3)
    monkeypatch.setattr("bench.everyday.RULES", {"s": 20})
    monkeypatch.setattr("bench.optional.TURNS", 1)
    monkeypatch.setattr("bench.triejoin.SIZES", {"s": ((500, 7), (300, 6), 50)})
    monkeypatch.setattr("bench.load.ROWS", {"s": 500})
    monkeypatch.setattr("bench.bodies.BODIES", {"s": 5})
    monkeypatch.setattr("bench.analytics.loads.TURNS", 1)
    monkeypatch.setattr("bench.analytics.threads._SHORT", 0.0)  # else three times as many turns
    monkeypatch.setattr("bench.cliffs.TURNS", 1)
    monkeypatch.setattr("bench.cliffs.LAST", {"s": 1_300})
    monkeypatch.setattr("bench.analytics.loads._in_a_process", peak_over_rest)
    if name == "analytics":  # tables are made once, not for each query
        small = list(bench.analytics.shapes("s"))
        monkeypatch.setattr("bench.analytics.shapes", lambda size: iter(small))
    monkeypatch.setattr("bench.analytics.in_a_process", first_of_a_process)
    path = tmp_path / "figures.json"
    assert main([name, "--size", "s", "--json", str(path)]) == 0
    written = json.loads(path.read_text())
    assert written["name"] == name
    assert set(written["figures"]) == set(BARS[name]) - NEEDS_DATA
    assert all(value > 0 or figure in DIFFERENCES for figure, value in written["figures"].items())


@pytest.mark.usefixtures("few_turns")
def test_the_analysis_by_hand_finds_the_same_rows() -> None:
    case = next(case for case in CASES if case.name == "cspa_1k")
    report = Report("recursion", "s", BARS["recursion"])
    compare_analysis(report, "cspa10k_vs_duckdb", case.tables(Path(__file__).parents[2] / "data"))
    assert [figure.name for figure in report.figures] == ["cspa10k_vs_duckdb"]
    assert report.detail[0]["rows"] == sum(case.expected.values())


def test_extra_rules_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.startup._processes", lambda report: None)
    monkeypatch.setattr("bench.startup.EXTRA_RULES", {"s": 5})
    report = bench.registry.run("startup", "s")
    figures = {figure.name: figure.value for figure in report.figures}
    assert figures["compiled_functions_added"] == 0
    assert figures["ms_per_extra_rule"] > 0


def test_the_program_of_the_fresh_process_prints_what_is_expected() -> None:
    from bench.first_result import main as first_result
    from bench.startup import EXPECTED

    assert first_result() == EXPECTED
