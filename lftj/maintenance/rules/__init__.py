# SPDX-License-Identifier: Apache-2.0
"""Rules evaluated in full, functors row by row, and checks of the rows that come out."""

from __future__ import annotations

from lftj.maintenance.rules.full_evaluation import head_picks
from lftj.maintenance.rules.row_checks import check_rows

__all__ = ["check_rows", "head_picks"]
