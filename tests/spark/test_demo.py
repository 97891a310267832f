"""The demo on Spark has the rows of the demo in one process."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from lftj.demo import on_spark


def test_the_demo_on_spark_has_the_same_rows(spark: Any) -> None:
    console = Console(width=120, record=True)
    on_spark.run(console, days=2)
    printed = console.export_text()
    assert "All views have the same rows as in one process." in printed
    assert "2013-09-02" in printed
