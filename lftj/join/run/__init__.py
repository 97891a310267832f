# SPDX-License-Identifier: Apache-2.0
"""Runs of plans: assembling the arrays of the kernel, slices of work, threads."""

from __future__ import annotations

from lftj.join.run.assemble import Assembly
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.division import Division, leading_levels
from lftj.join.run.evaluate import Relations, chunks, plan_once, plan_rule
from lftj.join.run.ladder import asked_first
from lftj.join.run.parallel import may_divide
from lftj.join.run.prepared import PreparedPlan
from lftj.join.run.run import Run

__all__ = [
    "Assembly",
    "BodyQuery",
    "Division",
    "PreparedPlan",
    "Relations",
    "Run",
    "asked_first",
    "chunks",
    "leading_levels",
    "may_divide",
    "plan_once",
    "plan_rule",
]
