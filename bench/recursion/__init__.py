"""Fixpoints: against DuckDB, and what it costs to keep them true while facts and rules change."""

from __future__ import annotations

import importlib
from pathlib import Path

from bench.figure import Report

# The module of this package that takes each group of figures.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("peers", ("rand1k_vs_duckdb", "forest_vs_duckdb", "wikivote_vs_duckdb", "cspa10k_vs_duckdb")),
    ("edits", ("rmat1k_edit_ms",)),
    ("unlocked", ("unlocked_worst",)),
    ("chain", ("chain_us_per_round",)),
    ("chosen", ("choice_edit",)),
    ("shortest", ("shortest_edit",)),
    ("rules", ("add_rule_ms",)),
    ("lubm", ("lubm_add", "lubm_remove")),
    ("state", ("state_ratio",)),
    ("elastic", ("elastic_worst",)),
    ("rederivation", ("dred_vs_ours",)),
    ("galen", ("galen_s", "galen_gib", "galen_edit_ratio")),
)
NEEDS_DATA = frozenset(
    {
        "wikivote_vs_duckdb",
        "cspa10k_vs_duckdb",
        "lubm_add",
        "lubm_remove",
        "galen_s",
        "galen_gib",
        "galen_edit_ratio",
    }
)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `recursion`; parts none of whose figures is asked for do not run, nor
    those that need data without any.
    """
    for module, figures in PARTS:
        if report.wants(*figures) and (data is not None or not NEEDS_DATA.issuperset(figures)):
            importlib.import_module(f"bench.recursion.{module}").measure(report, data)
    if data is None:
        report.note(left_out=", ".join(sorted(NEEDS_DATA)), because="no --data")
