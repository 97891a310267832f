"""Two checkouts in turns: folders with a package `bench` that writes figures which are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.paired import RunFailed, checkout, figures_of

WRITES = """
import json, pathlib, sys
runs = pathlib.Path("runs")
runs.write_text(runs.read_text() + "+" if runs.exists() else "+")
figures = {figures}
found = {{name: f(len(runs.read_text())) for name, f in figures.items()}}
report = {{"name": sys.argv[1], "figures": found}}
with open("../order", "a") as order:
    order.write(pathlib.Path.cwd().name + " ")
pathlib.Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps(report))
"""


ONLY_LOAD = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("name", choices=["load"])
parser.parse_known_args()
"""


def laid_out(root: Path, figures: str) -> Path:
    (root / "bench").mkdir(parents=True)
    (root / "bench" / "__init__.py").touch()
    (root / "bench" / "__main__.py").write_text(WRITES.format(figures=figures))
    return root


def test_ratios_are_medians_over_turns_that_alternate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = "{'load_vs_pyarrow': lambda run: 2.0, 'gone': lambda run: 1}"
    new = "{'load_vs_pyarrow': lambda run: 2.0 * [1.5, 3, 1.2][run - 1], 'come': lambda run: 1}"
    laid_out(tmp_path / "old", old)
    monkeypatch.setattr("bench.__main__.__file__", laid_out(tmp_path / "new", new) / "bench/x.py")
    written = tmp_path / "ratios.json"
    words = ["load", "--paired", str(tmp_path / "old"), "--size", "s", "--json", str(written)]
    assert main(words) == 0
    assert (tmp_path / "order").read_text().split() == ["old", "new", "new", "old", "old", "new"]
    (only,) = json.loads(written.read_text())
    assert only["figure"] == "load_vs_pyarrow"
    assert only["ratio"] == pytest.approx(1.5)
    assert (only["old"], only["new"]) == (2.0, 3.0)
    shown = capsys.readouterr().out
    assert "worse" in shown
    assert "1 figures, 1 worse by more than 5%" in shown
    assert main([*words, "--strict", "--turns", "1"]) == 2  # its fourth run has no figure


@pytest.mark.parametrize(
    ("old", "new", "figure", "verdict"),
    [
        (2.0, 2.09, "load_vs_pyarrow", ""),
        (2.0, 1.8, "load_vs_pyarrow", "better"),
        (2.0, 1.8, "triangle_vs_duckdb", "worse"),
        (2.0, 2.2, "triangle_vs_duckdb", "better"),
        (0.0, 1.0, "compiled_functions_added", "differs"),
        (0.0, 0.0, "compiled_functions_added", ""),
    ],
)
def test_a_verdict_knows_which_way_is_better(
    old: float, new: float, figure: str, verdict: str
) -> None:
    from bench.paired import _ratio

    names = {"load_vs_pyarrow": "load", "triangle_vs_duckdb": "triejoin"}
    assert _ratio(names.get(figure, "startup"), figure, [(old, new)]).verdict() == verdict


def test_a_revision_is_laid_out() -> None:
    with checkout("HEAD") as root:
        assert (root / "bench" / "paired.py").exists() or (root / "bench").is_dir()
    assert not root.exists()
    with (
        pytest.raises(RunFailed, match="'nowhere' is no folder, and no revision"),
        checkout("nowhere"),
    ):
        pass


def test_a_benchmark_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    laid_out(tmp_path, "1/0")
    with pytest.raises(RunFailed, match=r"(?s)load in .*ZeroDivisionError"):
        figures_of(tmp_path, "load", [])


def test_a_benchmark_that_one_checkout_lacks_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = "{'load_vs_pyarrow': lambda run: 2.0}"
    old = laid_out(tmp_path / "old", known) / "bench" / "__main__.py"
    old.write_text(ONLY_LOAD + old.read_text())
    monkeypatch.setattr("bench.__main__.__file__", laid_out(tmp_path / "new", known) / "bench/x.py")
    assert main(["all", "--paired", str(tmp_path / "old"), "--turns", "1", "--size", "s"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "latency: not compared" in shown
    assert "has no benchmark 'latency'" in shown
    assert "1 figures, 0 worse" in shown
