"""Rows that may have to go: over-deletion, and the ranks that confine it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.maintenance.deletion.over_delete import (
        keep_orders,
        over_deleting,
        taken_below,
        takes_and_adds,
    )

__all__ = ["keep_orders", "over_deleting", "taken_below", "takes_and_adds"]

__getattr__ = exporting(
    __name__,
    {
        "over_delete": "keep_orders over_deleting taken_below takes_and_adds",
    },
)
