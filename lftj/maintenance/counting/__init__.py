# SPDX-License-Identifier: Apache-2.0
"""Elastic counting: iteration and proof count of every row, bootstrapped and updated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lftj.maintenance.counting.stratum_state import StratumState

__all__ = ["StratumState"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lftj.maintenance.counting import stratum_state  # a start has no use for all it runs

    return getattr(stratum_state, name)
