# SPDX-License-Identifier: Apache-2.0
"""Delete and re-derive (DRed): recursive strata followed by their rows, without counts."""

from __future__ import annotations

from lftj.maintenance.dred.rederive import Found, Returning, distinct

__all__ = ["Found", "Returning", "distinct"]
