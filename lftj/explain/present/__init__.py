# SPDX-License-Identifier: Apache-2.0
"""Rows that are there: their smallest proofs, in the rules of users, and when base facts came."""

from __future__ import annotations

from lftj.explain.present.asked_row import asked_row
from lftj.explain.present.explain import explain, reads_of, relations_below

__all__ = ["asked_row", "explain", "reads_of", "relations_below"]
