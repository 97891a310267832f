from __future__ import annotations

import json

import pytest

from bench.bars import BARS
from bench.figure import Bar, Figure, Report, ResultsDiffer, require_equal


@pytest.mark.parametrize(
    ("bar", "value", "met"),
    [
        (Bar("at most", 3), 3.0, True),
        (Bar("at most", 3), 3.01, False),
        (Bar("at least", 4), 4.0, True),
        (Bar("at least", 4), 3.99, False),
        (Bar("exactly", 0), 0, True),
        (Bar("exactly", 0), 1, False),
        (Bar("at least", None, "inform"), 0.0, True),
    ],
)
def test_a_bar_is_met_or_not(bar: Bar, value: float, met: bool) -> None:
    assert bar.met(value) is met


def test_bars_other_than_exact_ones_only_hold_at_full_size() -> None:
    slow = Figure("slow", 9.0, Bar("at most", 3))
    wrong = Figure("wrong", 1, Bar("exactly", 0))
    assert (slow.verdict(full_size=True), slow.verdict(full_size=False)) == ("missed", "")
    assert wrong.verdict(full_size=False) == "missed"


def test_only_gates_can_be_missed() -> None:
    report = Report("triejoin", "l", BARS["triejoin"])
    report.add("triangle_vs_duckdb", 1.0)
    report.add("skew_growth", 2.0)
    report.add("paths_vs_duckdb", 0.1)
    assert [figure.name for figure in report.missed()] == ["triangle_vs_duckdb"]


def test_json_has_name_figures_and_detail() -> None:
    report = Report("load", "s", BARS["load"])
    report.add("load_vs_pyarrow", 1.5)
    report.note(rows=10)
    assert json.loads(report.as_json()) == {
        "name": "load",
        "figures": {"load_vs_pyarrow": 1.5},
        "detail": [{"size": "s"}, {"rows": 10}],
    }


def test_a_figure_without_a_bar_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        Report("load", "s", BARS["load"]).add("no_such_figure", 1.0)


def test_different_results_stop_the_run() -> None:
    require_equal("count", 3, 3)
    with pytest.raises(ResultsDiffer, match="count: we found 3, the peer 4"):
        require_equal("count", 3, 4)
