# SPDX-License-Identifier: Apache-2.0
"""Figures of a workspace: rows, memory, and the work of commits."""

from __future__ import annotations

from lftj.explain.figures.memory import memory_report
from lftj.explain.figures.profile import Profile, last_commits, profile_report
from lftj.explain.figures.reasons import reason
from lftj.explain.figures.views import Overview, overview

__all__ = [
    "Overview",
    "Profile",
    "last_commits",
    "memory_report",
    "overview",
    "profile_report",
    "reason",
]
