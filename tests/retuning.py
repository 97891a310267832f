"""Other thresholds for an open workspace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any


@contextmanager
def retuned(workspace: Any, **fields: Any) -> Iterator[None]:
    """Meanwhile a workspace has these thresholds, and those that it had before beside them."""
    statistics = workspace._backend.statistics
    before = statistics.tuning
    statistics.tuning = replace(before, **fields)
    try:
        yield
    finally:
        statistics.tuning = before
