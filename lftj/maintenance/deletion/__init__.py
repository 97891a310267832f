# SPDX-License-Identifier: Apache-2.0
"""Rows that may have to go: over-deletion, and the ranks that confine it."""

from __future__ import annotations

from lftj.maintenance.deletion.over_delete import (
    keep_orders,
    over_deleting,
    taken_below,
    takes_and_adds,
)

__all__ = ["keep_orders", "over_deleting", "taken_below", "takes_and_adds"]
