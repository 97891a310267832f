"""Explanations: rows of a large analysis, long chains, large groups, missing rows; what commits pay
for them; and the page about a large workspace.
"""

from __future__ import annotations

from pathlib import Path

from bench.explain.pages import measure_pages
from bench.explain.rows import (
    measure_aggregates,
    measure_analysis,
    measure_chain,
    measure_commits,
    measure_missing,
)
from bench.figure import Report

NEEDS_DATA = frozenset({"explain_ms", "explain_p99_ms", "explain_share"})
NEEDS_BROWSER = frozenset({"page_opens_s"})


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `explain`. Figures of an analysis need `--data`, that of a browser one."""
    if data is not None and report.wants(*NEEDS_DATA):
        measure_analysis(report, data)
    for figures, part in (
        (("explain_chain_s",), measure_chain),
        (("explain_aggregate_ms",), measure_aggregates),
        (("why_not_s",), measure_missing),
        (("commit_overhead",), measure_commits),
        (("page_mb", "page_opens_s"), measure_pages),
    ):
        if report.wants(*figures):
            part(report)
