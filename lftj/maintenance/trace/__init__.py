"""Maintenance by trace: which rules keep one, at which granularity, and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.maintenance.trace.trace_state import TraceState

__all__ = ["TraceState"]

__getattr__ = exporting(
    __name__,
    {
        "trace_state": "TraceState",
    },
)
