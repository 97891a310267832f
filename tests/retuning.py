"""Other thresholds for an open workspace, and other constants for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest


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


@contextmanager
def constants(module: ModuleType | type, **values: Any) -> Iterator[None]:
    """Meanwhile these constants of a module, or attributes of a class, have other values."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(module, name, value, raising=isinstance(module, ModuleType))
        yield
