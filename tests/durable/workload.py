"""The workload of the benchmark of faults, by the name that tests have for it."""

from __future__ import annotations

from bench.faults.workload import Rows, commit, committed, expected, pages_of, rows

__all__ = ["Rows", "commit", "committed", "expected", "pages_of", "rows"]
