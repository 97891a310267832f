# SPDX-License-Identifier: Apache-2.0
"""Rows that a commit brought or took, and the base facts behind that."""

from __future__ import annotations

from lftj.explain.changes.why_changed import changed_row, explain_change

__all__ = ["changed_row", "explain_change"]
