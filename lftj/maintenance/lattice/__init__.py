"""Recursion with `min` or `max` in heads: one best value for each group, evaluated and followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint
    from lftj.maintenance.lattice.optimal_support import offering

__all__ = ["MonotoneFixpoint", "offering"]

__getattr__ = exporting(
    __name__,
    {
        "lattice_fixpoint": "MonotoneFixpoint",
        "optimal_support": "offering",
    },
)
