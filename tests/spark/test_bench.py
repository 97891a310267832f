"""The benchmark of parts runs on Spark, and compares before it records."""

from __future__ import annotations

from typing import Any

from bench.registry import run


def test_spark_is_measured_on_equal_results(spark: Any) -> None:
    report = run(
        "partition", "s", only=["spark_commit_s", "shipped_per_change", "untouched_parts_read"]
    )
    figures = {figure.name: figure.value for figure in report.figures}
    assert figures["untouched_parts_read"] == 0
    assert 0 < figures["shipped_per_change"] <= 2000
    assert figures["spark_commit_s"] > 0
    sliced = next(entry for entry in report.detail if entry["figure"] == "untouched_parts_read")
    assert sliced["read"] == sliced["commits"]  # one part for each edge
