# SPDX-License-Identifier: Apache-2.0
"""Rows that are missing: how far rules come, and the smallest changes that bring them."""

from __future__ import annotations

from lftj.explain.missing.dry_run import writing
from lftj.explain.missing.why_not import why_not

__all__ = ["why_not", "writing"]
