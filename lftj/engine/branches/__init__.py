# SPDX-License-Identifier: Apache-2.0
"""Branches of a workspace: their engines, and merging one into another."""

from __future__ import annotations

from lftj.engine.branches.branches import Branches, branches_of, difference
from lftj.engine.branches.merging import merge

__all__ = ["Branches", "branches_of", "difference", "merge"]
