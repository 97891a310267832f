"""Workspaces at a path: what durability adds to a commit, what opening costs, what files take."""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path

from bench.figure import Report

PARTS = ("commits", "opening", "beyond", "many")
"""Modules, some of which also run as processes of their own, so none is imported here."""


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `durable`, each part in a folder of its own."""
    for name in PARTS:
        part = importlib.import_module(f"bench.durable.{name}")
        if report.wants(*part.FIGURES):
            with tempfile.TemporaryDirectory() as folder:
                part.measure(report, Path(folder))
