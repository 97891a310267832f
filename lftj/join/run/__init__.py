"""Runs of plans: assembling the arrays of the kernel, slices of work, threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
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

__getattr__ = exporting(
    __name__,
    {
        "assemble": "Assembly",
        "body_query": "BodyQuery",
        "division": "Division leading_levels",
        "evaluate": "Relations chunks plan_once plan_rule",
        "ladder": "asked_first",
        "parallel": "may_divide",
        "prepared": "PreparedPlan",
        "run": "Run",
    },
)
