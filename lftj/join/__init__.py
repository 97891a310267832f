# SPDX-License-Identifier: Apache-2.0
"""Leapfrog triejoin: variable orders, plans, and the one kernel that runs them, in `kernels`."""

from __future__ import annotations

from lftj.join.budget import AllowanceSpentError, Budget, timed_out, worked_out
from lftj.join.context import Context
from lftj.join.rent_or_buy import Rent
from lftj.join.resources import Buffer, Resources

__all__ = [
    "AllowanceSpentError",
    "Budget",
    "Buffer",
    "Context",
    "Rent",
    "Resources",
    "timed_out",
    "worked_out",
]
