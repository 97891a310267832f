"""Gain and cost of parts: on two threads of this process, and on Spark."""

from __future__ import annotations

import importlib
from pathlib import Path

from bench.figure import Report

# The module of this package that takes each group of figures.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "threads",
        (
            "threads2_triangle",
            "threads2_join",
            "threads2_groups",
            "threads2_cspa",
            "threads2_cspa_x8",
            "balance64",
        ),
    ),
    (
        "on_spark",
        ("spark_overhead", "spark_commit_s", "shipped_per_change", "untouched_parts_read"),
    ),
    ("payloads", ("payload_growth", "row_payload", "row_payload_growth")),
    ("small_commits", ("state_after_10000", "manifest_bytes_per_commit", "manifest_growth")),
    ("standalone", ("opened_again", "after_rest", "part_copies", "machine_memory")),
    ("named_edges", ("machine_memory_strings",)),
    ("overhead", ("cluster_overhead",)),
    ("from_empty_cache", ("first_answer_cpu_s",)),
    ("on_objects", ("objects_vs_folder",)),
    ("driver_memory", ("driver_memory_growth",)),
)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `partition`; parts none of whose figures is asked for do not run."""
    for module, figures in PARTS:
        if report.wants(*figures):
            importlib.import_module(f"bench.partition.{module}").measure(report, data)
