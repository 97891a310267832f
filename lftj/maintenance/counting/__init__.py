"""Elastic counting: iteration and proof count of every row, bootstrapped and updated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.maintenance.counting.stratum_state import StratumState

__all__ = ["StratumState"]

__getattr__ = exporting(
    __name__,
    {
        "stratum_state": "StratumState",
    },
)
