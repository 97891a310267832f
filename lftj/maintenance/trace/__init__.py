# SPDX-License-Identifier: Apache-2.0
"""Maintenance by trace: which rules keep one, at which granularity, and its state."""

from __future__ import annotations

from lftj.maintenance.trace.trace_state import TraceState

__all__ = ["TraceState"]
