# SPDX-License-Identifier: Apache-2.0
"""Plans: of a rule or query, what its levels cost, and how its view is maintained."""

from __future__ import annotations

from lftj.explain.plans.analysis import PlanAnalysis, duration
from lftj.explain.plans.explain_plan import explain_plan, written
from lftj.explain.plans.nodes import Node, Nodes
from lftj.explain.plans.plan_report import (
    PLACE_COLUMNS,
    PlanReport,
    plan_report,
    state_without_rows,
)
from lftj.explain.plans.program_plan import ProgramPlan, plans_report
from lftj.explain.plans.upkeep import all_memory_rows

__all__ = [
    "PLACE_COLUMNS",
    "Node",
    "Nodes",
    "PlanAnalysis",
    "PlanReport",
    "ProgramPlan",
    "all_memory_rows",
    "duration",
    "explain_plan",
    "plan_report",
    "plans_report",
    "state_without_rows",
    "written",
]
