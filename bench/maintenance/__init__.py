"""Cost of a commit with maintained views, against evaluating them anew, DuckDB and Pathway."""

from __future__ import annotations

import importlib
from pathlib import Path

from bench.figure import Report

# The module of this package that takes each group of figures.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("edits", ("edit1_median", "edit1_p99", "edit10", "edit1000")),
    ("growth", ("growth",)),
    ("state", ("logging_overhead", "state_ratio")),
    ("by_hand", ("vs_duckdb_delta",)),
    ("bulk", ("bulk_ratio",)),
    ("assignments", ("work_per_assignment_spread",)),
    ("aggregates", ("aggregate_sum_us", "aggregate_minmax_steps")),
    ("bitcoin", ("bitcoin_speedup",)),
    ("flights", ("flights_speedup", "flights_speedup_orders_kept", "flights_week_speedup")),
    ("pathway", ("pathway_time", "pathway_memory")),
)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `maintenance`; parts none of whose figures is asked for do not run."""
    for module, figures in PARTS:
        if report.wants(*figures):
            importlib.import_module(f"bench.maintenance.{module}").measure(report, data)
