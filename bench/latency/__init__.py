"""Latency: of very many one-row commits, of first changes, of questions with a parameter, of a
chain of views, of commits of ten rows. Python's collector runs as Python sets it.
"""

from __future__ import annotations

from pathlib import Path

from bench.figure import Report
from bench.latency.commits import measure_commits
from bench.latency.first import measure_first
from bench.latency.questions import measure_questions
from bench.latency.small import measure_chain, measure_rows


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `latency`."""
    for figures, part in (
        (("p999_vs_p50", "worst_ms"), measure_commits),
        (("first_vs_tenth",), measure_first),
        (("bound_query_ms", "bound_query_p99_ms"), measure_questions),
        (("per_view_ms",), measure_chain),
        (("rows_per_s",), measure_rows),
    ):
        if report.wants(*figures):
            part(report)
