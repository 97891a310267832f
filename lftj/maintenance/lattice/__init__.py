# SPDX-License-Identifier: Apache-2.0
"""Recursion with `min` or `max` in heads: one best value for each group, evaluated and followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint
    from lftj.maintenance.lattice.optimal_support import offering

__all__ = ["MonotoneFixpoint", "offering"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lftj.maintenance.lattice import lattice_fixpoint, optimal_support  # not for a start

    return getattr(lattice_fixpoint if name == "MonotoneFixpoint" else optimal_support, name)
